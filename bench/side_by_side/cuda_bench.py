"""Runs one command of cuda_bench and reads its result. Standard library only."""
import json
import subprocess
import tempfile
from pathlib import Path

import ours


def run(programs, command, options):
    """The result of `cuda_bench command`; its tables go to stdout, unless JSON was asked for."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        words = [programs / "cuda_bench", command, "--json", file]
        for name, value in (("--rounds", options.rounds), ("--only", options.only)):
            if value is not None:
                words += [name, str(value)]
        done = subprocess.run(words, env=ours.environment(programs), stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL if options.json else None, text=True)
        if done.returncode == ours.EXIT_DIFFERS:
            raise ours.Mismatch(done.stderr.strip())
        if done.returncode:
            raise ours.Missing(done.stderr.strip() or f"cuda_bench ended with {done.returncode}")
        return json.loads(file.read_text(encoding="utf-8"))


def row_us(result, name):
    return next((row.get("us") for row in result["rows"] if row["name"] == name), None)


def headline(result, ratio_name, ours_is_numerator=False):
    """The fields that every result of bench/peers has, from one ratio of cuda_bench."""
    ratio = next(entry for entry in result["ratios"] if entry["name"] == ratio_name)
    if "unavailable" in ratio:
        raise ours.Missing(f"{ratio_name}: {ratio['unavailable']}")
    names = ratio["numerator"], ratio["denominator"]
    our_name, peer_name = names if ours_is_numerator else reversed(names)
    value, low, high = ratio["value"], ratio["low"], ratio["high"]
    if ours_is_numerator:  # a cost; bench/peers gives peer / ours
        value, low, high = 1 / value, 1 / high, 1 / low
    return {"unit": "us", "ours": row_us(result, our_name), "peer": row_us(result, peer_name),
            "peer_name": peer_name, "ratio": value, "low": low, "high": high, "n": ratio["n"],
            "headline": ratio_name, "device": result["device"]}


def details(result):
    return {key: result[key] for key in ("driver", "rounds", "rows", "ratios", "candidates",
                                         "notes")}
