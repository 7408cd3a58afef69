"""Runs one benchmark inside the project's Python environment and prints its result."""
import importlib
import json
import os
import subprocess
import sys
import time

import arguments
from ours import Mismatch, Missing

FIELDS = ("name", "unit", "ours", "peer", "peer_name", "ratio", "low", "high", "n")
TABLES = ("rows", "ratios", "candidates", "notes")  # cuda_bench has printed them

MODULES = dict.fromkeys(("yolov8n-cpu", "deoldify-small-cpu", "model-chain-cpu"), "model_cpu")


def cpu_name():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def busy_share(seconds=0.5):
    """The share of all processors that other programs use just now."""
    def counters():
        with open("/proc/stat", encoding="ascii") as lines:
            words = [int(word) for word in lines.readline().split()[1:9]]
        return sum(words), words[3] + words[4]  # all, idle and waiting for a disk

    all_before, idle_before = counters()
    time.sleep(seconds)
    all_after, idle_after = counters()
    return round(1 - (idle_after - idle_before) / max(1, all_after - all_before), 3)


def human(result):
    unit = result["unit"]
    return (f"{result['name']}: Fuseline {result['ours']:.3f} {unit}, "
            f"{result['peer_name']} {result['peer']:.3f} {unit}: "
            f"{result['ratio']:.2f}x [{result['low']:.2f}, {result['high']:.2f}], "
            f"{result['n']} block pairs, {result['threads']} thread(s), "
            f"{result.get('device', result['cpu'])}")


def main():
    options = arguments.parse(sys.argv[1:])
    busy = busy_share()
    benchmark = importlib.import_module(MODULES.get(options.name, options.name.replace("-", "_")))
    try:
        result = {"name": options.name, **benchmark.measure(options)}
    except Mismatch as error:
        sys.exit(f"bench/peers {options.name}: outputs differ: {error}")
    except (Missing, subprocess.CalledProcessError) as error:
        print(f"bench/peers {options.name}: {error}", file=sys.stderr)
        sys.exit(3)
    result |= {"threads": options.threads, "cpu": cpu_name(), "cores": os.cpu_count(), "busy": busy}
    ordered = {field: result.pop(field) for field in FIELDS if field in result} | result
    if options.json:
        print(json.dumps(ordered, indent=2))
        return
    # A benchmark without a ratio tells its result itself.
    own = getattr(benchmark, "human", None)
    print((own or human)(ordered))
    if busy > 0.1:
        print(f"  warning: other programs kept {busy:.0%} of the processors busy; judge only figures "
              "of a quiet machine")
    for key, value in result.items() if own is None else ():
        if key not in ("threads", "cpu", "cores", "busy", *TABLES):
            print(f"  {key}: {json.dumps(value) if isinstance(value, dict) else value}")


if __name__ == "__main__":
    main()
