"""ledger-truth: what the ledger says of programs and streams whose truth is known."""
import json
import random
import subprocess
import tempfile
import time
from pathlib import Path

import ours

ALLOWED = 0.02  # of a stage's length
SLOWER = 1.03
TRIALS = 100
SIGMA = 0.02
VERDICTS = ("FASTER", "SLOWER", "SAME", "INCONCLUSIVE")


def compiled(folder):
    program = Path(folder) / "stages"
    source = Path(__file__).with_name("stages.c")
    done = subprocess.run(["cc", "-O2", "-std=c99", "-I", ours.ROOT / "include", source, "-o", program],
                          text=True, capture_output=True)
    if done.returncode:
        raise ours.Missing(f"cc could not build {source.name}:\n{done.stderr}")
    return program


def bench(programs, *words):
    done = subprocess.run([programs / "fuseline", "bench", "--json", "--no-store", *map(str, words)],
                          text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def secret_stages(seed):
    """Stages of lengths that no one chose, in milliseconds, and how they pass."""
    draw = random.Random(seed)
    return [(draw.choice(("sleep", "spin")), f"stage{i}", round(draw.uniform(12, 60), 3))
            for i in range(draw.randint(3, 5))]


def lengths(programs, program, seed):
    """Relative errors of secret stages, and of what an unmarked stretch adds to unexplained.

    Other programs lengthen stages and never shorten them, so the shortest of the runs is what is
    judged; the error of the median tells how quiet the machine was.
    """
    stages = secret_stages(seed)
    hidden = round(random.Random(seed + 1).uniform(20, 40), 3)
    marked = [f"{kind}:{name}:{ms}" for kind, name, ms in stages]
    result = bench(programs, "--runs", 20, "--before", "", "--after", f"sleep::{hidden}", "--",
                   program, *marked)
    before, after = ({row["name"]: row for row in side["rows"]} for side in result["sides"])

    def largest_error(which):
        return round(max(abs(after[name][which] / ms - 1) for _, name, ms in stages), 4)

    added = after["unexplained"]["min"] - before["unexplained"]["min"]
    return {"stages": len(stages), "largest_error": largest_error("min"),
            "largest_error_of_medians": largest_error("median"),
            "unexplained_error": round(abs(added / hidden - 1), 4)}


def stream_verdicts(programs, ratio, seed):
    done = subprocess.run([programs / "fuseline_bench", "verdicts", str(ratio), str(SIGMA), str(seed),
                           str(TRIALS)], text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def steps_of(program, milliseconds):
    """Loop steps that take about so long here."""
    steps = 1_000_000
    best = min(_timed([program, f"work::{steps}"]) for _ in range(5))
    start = min(_timed([program]) for _ in range(5))
    return int(steps * milliseconds / 1000 / max(best - start, 1e-6))


def _timed(words):
    begin = time.perf_counter()
    subprocess.run(words, check=True)
    return time.perf_counter() - begin


def process_verdicts(programs, program, before, after, comparisons, seconds):
    counts = dict.fromkeys(VERDICTS, 0)
    longest = 0
    for _ in range(comparisons):
        begin = time.monotonic()
        result = bench(programs, "--seconds", seconds, "--before", f"work:work:{before}",
                       "--after", f"work:work:{after}", "--", program)
        longest = max(longest, time.monotonic() - begin)
        counts[result["verdict"]] += 1
    return {**counts, "longest_s": round(longest, 1)}


def measure(options):
    programs = ours.build(options)
    comparisons = options.rounds or 5
    seed = int(time.time())
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        result = {"unit": "of 100", "seed": seed,
                  "lengths": [lengths(programs, program, seed + 10 * i) for i in range(3)],
                  "stream": {"equal": stream_verdicts(programs, 1, seed),
                             "slower": stream_verdicts(programs, SLOWER, seed + 1000),
                             "faster": stream_verdicts(programs, 1 / SLOWER, seed + 2000)}}
        steps = steps_of(program, 20)
        slow = round(steps * SLOWER)
        seconds = min(60, 4 * options.seconds)
        result["processes"] = {
            "comparisons": comparisons,
            "equal": process_verdicts(programs, program, steps, steps, comparisons, seconds),
            "slower": process_verdicts(programs, program, steps, slow, comparisons, seconds),
            "faster": process_verdicts(programs, program, slow, steps, comparisons, seconds)}
    result["held"] = {
        "lengths": all(max(one["largest_error"], one["unexplained_error"]) <= ALLOWED
                       for one in result["lengths"]),
        "same": result["stream"]["equal"]["SAME"] >= 95,
        "slower": result["stream"]["slower"]["SLOWER"] >= 90,
        "faster": result["stream"]["faster"]["FASTER"] >= 90}
    return result


def human(result):
    stream, held = result["stream"], result["held"]
    worst = max(max(one["largest_error"], one["unexplained_error"]) for one in result["lengths"])
    medians = max(one["largest_error_of_medians"] for one in result["lengths"])
    lines = [f"ledger-truth: {'holds' if all(held.values()) else 'DOES NOT HOLD'} (seed "
             f"{result['seed']})",
             f"  secret stages and an unmarked stretch recovered within {worst:.2%} (goal 2 "
             f"%; medians {medians:.2%})",
             f"  synthetic stream, {TRIALS} each: equal sides SAME {stream['equal']['SAME']} (goal "
             f"95), 3 % slower SLOWER {stream['slower']['SLOWER']}, faster FASTER "
             f"{stream['faster']['FASTER']} (goal 90)"]
    counts = result["processes"]
    for name in ("equal", "slower", "faster"):
        told = ", ".join(f"{verdict} {counts[name][verdict]}" for verdict in VERDICTS
                         if counts[name][verdict])
        lines.append(f"  processes, {name}: {told} of {counts['comparisons']}, at most "
                     f"{counts[name]['longest_s']} s a comparison")
    return "\n".join(lines)
