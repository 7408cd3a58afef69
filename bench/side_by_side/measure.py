"""Interleaved measuring: blocks of each side in random order, never two sides at once."""
import gc
import random
import statistics
import time

from ours import Mismatch, median_of, ratio_of  # noqa: F401  (Mismatch is used by others)

BLOCK_NS = 30e6
LEAST_BLOCKS = 12


def timed(work):
    """A side from a Python callable: run(count) gives its times in nanoseconds."""
    def run(count):
        times = []
        for _ in range(count):
            begin = time.perf_counter_ns()
            work()
            times.append(time.perf_counter_ns() - begin)
        return times
    return run


def _runs_in_a_block(run, most):
    run(1)
    return max(2, min(most, round(BLOCK_NS / statistics.median(run(3)))))


def interleave(sides, options, single=(), most_runs=50):
    """Block medians in nanoseconds of each side, {name: [...]}, paired by position.

    A block lasts about 30 ms, and its first run is not counted, because it meets the caches that
    the other side left behind. The sides named in `single` are whole processes or file work: there
    a block is one run and that run counts.
    """
    counts = {name: 1 if name in single else 1 + _runs_in_a_block(run, most_runs)
              for name, run in sides.items()}
    # Threads of a pool spin for a while after their work; they must not disturb the other side.
    settle = 0.02 if options.threads > 1 else 0
    order = list(sides)
    shuffle = random.Random(2160).shuffle
    blocks = {name: [] for name in sides}
    gc.collect()
    gc.disable()
    deadline = time.monotonic() + options.seconds
    while time.monotonic() < deadline or len(blocks[order[0]]) < LEAST_BLOCKS:
        shuffle(order)
        for name in order:
            time.sleep(settle)
            times = sides[name](counts[name])
            blocks[name].append(statistics.median(times[1:] if len(times) > 1 else times))
    gc.enable()
    return blocks


def milliseconds(programs, sample):
    """The median of nanoseconds with its interval, in milliseconds."""
    estimate = median_of(programs, sample)
    return {key: estimate[key] / 1e6 for key in ("value", "low", "high")}


def compare(programs, blocks):
    """The fields that every result has, from the blocks of "ours" and "peer"."""
    ratio = ratio_of(programs, blocks["peer"], blocks["ours"])
    return {"unit": "ms", "ours": milliseconds(programs, blocks["ours"])["value"],
            "peer": milliseconds(programs, blocks["peer"])["value"],
            "ratio": ratio["value"], "low": ratio["low"], "high": ratio["high"], "n": ratio["n"]}
