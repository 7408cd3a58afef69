"""Prints what numpy and SciPy answer for seeded samples; stats_test compares ours with it.

A case is four lines: "sample" x..., "quantiles" p q p q ..., "spread" median mad, and
"interval" with the lowest and highest value that a right answer with 2000 resamples can have for
the low end, then for the high end: the bootstrap distribution's quantiles at the tail
probability -+ 0.012, which is 3.4 standard errors of a tail of 2.5 %.
"""
import numpy as np
from scipy import stats

PROBABILITIES = [0, 0.01, 0.025, 0.1, 0.25, 0.5, 0.6180339, 0.9, 0.95, 0.975, 0.99, 1]
SLACK = 0.012


def samples():
    generator = np.random.default_rng(7)
    for n in (2, 3, 4, 5, 10, 31, 100, 501):
        yield generator.normal(100, 15, n)
        yield generator.lognormal(0, 1, n)
        yield generator.integers(0, 6, n).astype(float)  # ties


def row(name, values):
    print(name, *(repr(float(value)) for value in values))


for sample in samples():
    row("sample", sample)
    row("quantiles", np.column_stack([PROBABILITIES, np.quantile(sample, PROBABILITIES)]).ravel())
    row("spread", [np.median(sample), stats.median_abs_deviation(sample)])
    answer = stats.bootstrap((sample,), np.median, method="percentile", n_resamples=20000,
                             rng=np.random.default_rng(11))
    tails = [0.025 - SLACK, 0.025 + SLACK, 0.975 - SLACK, 0.975 + SLACK]
    row("interval", np.quantile(answer.bootstrap_distribution, tails))
