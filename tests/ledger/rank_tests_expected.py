"""Prints what SciPy answers for rank tests of seeded samples; rank_tests_test compares ours with it.

A case is four lines: "a" x..., "b" x..., "mannwhitney" u p, and "wilcoxon" p of the paired
differences a - b.
"""
import numpy as np
from scipy import stats


def pairs():
    generator = np.random.default_rng(23)
    for n in (9, 12, 30, 50, 51, 200):
        yield generator.normal(100, 5, n), generator.normal(103, 5, n)
        yield generator.lognormal(0, 1, n), generator.lognormal(0, 1, n)
        yield (generator.integers(0, 9, n).astype(float),  # ties, and zeros among the differences
               generator.integers(1, 10, n).astype(float))


def row(name, values):
    print(name, *(repr(float(value)) for value in values))


for a, b in pairs():
    row("a", a)
    row("b", b)
    test = stats.mannwhitneyu(a, b, method="asymptotic")
    row("mannwhitney", [test.statistic, test.pvalue])
    d = a - b
    exact = len(d) <= 50 and np.all(d != 0) and len(np.unique(np.abs(d))) == len(d)
    row("wilcoxon", [stats.wilcoxon(d, method="exact" if exact else "asymptotic",
                                    correction=False).pvalue])
