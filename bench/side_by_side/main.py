"""Runs one benchmark inside the project's Python environment and prints its result."""
import importlib
import json
import os
import subprocess
import sys

import arguments
from ours import Missing
from measure import Mismatch

FIELDS = ("name", "unit", "ours", "peer", "peer_name", "ratio", "low", "high", "n")


def cpu_name():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def human(result):
    unit = result["unit"]
    return (f"{result['name']}: Fuseline {result['ours']:.3f} {unit}, "
            f"{result['peer_name']} {result['peer']:.3f} {unit}: "
            f"{result['ratio']:.2f}x [{result['low']:.2f}, {result['high']:.2f}], "
            f"{result['n']} block pairs, {result['threads']} thread(s), {result['cpu']}")


def main():
    options = arguments.parse(sys.argv[1:])
    benchmark = importlib.import_module(options.name.replace("-", "_"))
    try:
        result = {"name": options.name, **benchmark.measure(options)}
    except Mismatch as error:
        sys.exit(f"bench/peers {options.name}: outputs differ: {error}")
    except (Missing, subprocess.CalledProcessError) as error:
        print(f"bench/peers {options.name}: {error}", file=sys.stderr)
        sys.exit(3)
    result |= {"threads": options.threads, "cpu": cpu_name(), "cores": os.cpu_count()}
    ordered = {field: result.pop(field) for field in FIELDS} | result
    if options.json:
        print(json.dumps(ordered, indent=2))
        return
    print(human(ordered))
    for key, value in result.items():
        if key not in ("threads", "cpu", "cores"):
            print(f"  {key}: {json.dumps(value) if isinstance(value, dict) else value}")


if __name__ == "__main__":
    main()
