"""diagnose-cuda: a kernel that becomes 6.6 times faster in a frame that becomes 1.25 times faster.

The frames of `cuda_bench frames` decode packed rows on the host before the mask kernels. Here the
number of rows is chosen so that fusing the kernels, which makes them several times faster, makes
the frame 1.25 times faster. `fuseline diagnose` must name the decoder, give the ceiling by
arithmetic and without kernels, and predict what fusing gains; `fuseline bench` measures it. Then
the same is asked of `fuseline mask` on a PNG, whose decoder is slower than all else by far.
"""
import json
import os
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import ours

FRAME_GAIN = 1.25
FRAMES = 200
WIDTH, HEIGHT = 3840, 2160


class Tools:
    """`fuseline` and `cuda_bench frames` of a build or a bundle."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.environment = {**ours.environment(programs),
                            "FUSELINE_CACHE_DIR": os.environ.get("FUSELINE_CACHE_DIR",
                                                                 str(Path(folder) / "cache"))}

    def frames(self, kernels, rows):
        return [str(self.programs / "cuda_bench"), "frames", kernels, "--rows", str(rows),
                "--frames", str(FRAMES)]

    def fuseline(self, *words):
        done = subprocess.run([self.programs / "fuseline", *map(str, words)], text=True,
                              env=self.environment, capture_output=True)
        if done.returncode:
            raise ours.Missing(f"fuseline {' '.join(map(str, words))} ended with "
                               f"{done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def rows_of(self, kernels, rows):
        """The medians of the rows of a frame, in milliseconds."""
        result = self.fuseline("bench", "--json", "--no-store", "--per", "frame", "--runs", 5, "--",
                               *self.frames(kernels, rows))
        return {row["name"]: row["median"] for row in result["sides"][0]["rows"]}


def words(command):
    return " ".join(f"'{word}'" for word in command)


def rows_for_the_shape(tools):
    """How many decoded rows make the frame gain FRAME_GAIN by fusing the kernels."""
    probe = 200
    before, after = tools.rows_of("unfused", probe), tools.rows_of("fused", probe)
    rest = (before["kernels"] - FRAME_GAIN * after["kernels"]) / (FRAME_GAIN - 1)
    others = sum(time for name, time in before.items() if name not in ("decode", "kernels"))
    decode = rest - others
    if decode <= 0:
        raise ours.Missing(f"the kernels gain too little here: {before['kernels']:.4f} -> "
                           f"{after['kernels']:.4f} ms beside {others:.4f} ms of other stages")
    return max(1, round(probe * decode / before["decode"]))


def overlap(a, b):
    return a["low"] <= b["high"] and b["low"] <= a["high"]


def explained(tools, rows, seconds):
    """What bench measures of fusing, and what diagnose says of the frame before it."""
    before, after = tools.frames("unfused", rows), tools.frames("fused", rows)
    gain = tools.fuseline("bench", "--json", "--no-store", "--per", "frame", "--seconds", seconds,
                          "--before", words(before), "--after", words(after))
    kernels, frame = gain["account"]["kernel_speedup"], gain["account"]["end_to_end_speedup"]
    diagnosis = tools.fuseline(
        "diagnose", "--json", "--per", "frame", "--seconds", seconds,
        "--null", words(tools.frames("null-unfused", rows)),
        "--no-kernels", words(tools.frames("none", rows)),
        "--what-if", f"kernels={kernels['value']:.4f}x", "--", *before)
    null, first = diagnosis["null_kernels"], diagnosis["findings"][0]
    predicted = diagnosis["what_if"][0]["speedup"]
    return {
        "rows": rows, "kernel_speedup": kernels, "frame_speedup": frame,
        "named": {"bound": first["bound"], "rows": first["rows"]},
        "ceiling_by_arithmetic": null["arithmetic_ceiling"],
        "ceiling_null_kernels": null["measured_ceiling"],
        "ceiling_no_kernels": null["no_kernels_ceiling"],
        "agree": null["agree"], "predicted": predicted,
        "held": {"names decode": first["bound"] == "input-bound" and first["rows"] == ["decode"],
                 "ceilings agree": null["agree"],
                 "the gain is below the ceiling":
                     frame["low"] <= null["no_kernels_ceiling"]["high"],
                 "the gain was predicted": overlap(predicted, frame)}}


def png_file(folder):
    """A 4K RGB picture whose rows are told apart; written without any library."""
    rows = bytearray()
    for y in range(HEIGHT):
        rows.append(0)
        rows += bytes((x * 7 + y * 13 + (x * y >> 5)) & 255 for x in range(3 * WIDTH))

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))

    file = Path(folder) / "frame.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" +
                     chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(bytes(rows), 6)) + chunk(b"IEND", b""))
    return file


def mask_command(tools, folder, seconds):
    """`fuseline diagnose --sweep -- mask`, taken apart on the device."""
    diagnosis = tools.fuseline("diagnose", "--json", "--sweep", "--seconds", seconds, "--", "mask",
                               png_file(folder), "--device", "cuda", "-o",
                               Path(folder) / "mask.png")
    null, timed = diagnosis["null_kernels"], diagnosis["timed_recording"]
    stages = {row["name"]: row["ms"]["value"] for row in diagnosis["account"]}
    slowest = max((name for name in stages if name != "unexplained"), key=stages.get)
    return {"stages_ms": stages, "slowest_stage": slowest, "null_kernels": null,
            "timed_recording": timed, "gain_of_fusion": diagnosis["gain_of_fusion"],
            "copies": diagnosis["copies"], "shapes": diagnosis["shapes"],
            "findings": diagnosis["findings"],
            "held": {"ceilings agree": null.get("agree", False),
                     "the recording was timed": "ratio" in timed,
                     "the taken shapes are the best": all(
                         one["taken_is_best"] for one in diagnosis["shapes"])
                     if isinstance(diagnosis["shapes"], list) else False}}


def measure(options):
    programs = ours.build(options, "cuda_bench")
    if not (programs / "fuseline").exists():
        raise ours.Missing(f"{programs / 'fuseline'} was not built")
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(programs, folder)
        shape = explained(tools, rows_for_the_shape(tools), options.seconds)
        return {"unit": "x", "frames": shape, "mask": mask_command(tools, folder, options.seconds)}


def _times(estimate):
    return f"{estimate['value']:.3f}x [{estimate['low']:.3f}, {estimate['high']:.3f}]"


def human(result):
    frames, mask = result["frames"], result["mask"]
    held = {**{f"frames: {name}": value for name, value in frames["held"].items()},
            **{f"mask: {name}": value for name, value in mask["held"].items()}}
    timed, null = mask["timed_recording"], mask["null_kernels"]
    lines = [f"diagnose-cuda: {'holds' if all(held.values()) else 'DOES NOT HOLD'}",
             f"  kernels {_times(frames['kernel_speedup'])}, frame "
             f"{_times(frames['frame_speedup'])} with {frames['rows']} decoded rows",
             f"  named: {frames['named']['bound']}, {', '.join(frames['named']['rows'])}",
             f"  ceiling by arithmetic {_times(frames['ceiling_by_arithmetic'])}, null kernels "
             f"{_times(frames['ceiling_null_kernels'])}, no kernels "
             f"{_times(frames['ceiling_no_kernels'])}: "
             f"{'they agree' if frames['agree'] else 'they do NOT agree'}",
             f"  predicted before fusing: {_times(frames['predicted'])}"]
    if "measured_ceiling" in null:
        lines.append(f"  mask of a PNG: slowest stage {mask['slowest_stage']}; ceiling null kernels "
                     f"{_times(null['measured_ceiling'])}, arithmetic "
                     f"{_times(null['arithmetic_ceiling'])}")
    if "ratio" in timed:
        lines.append(f"  its recording with points of time against the plain one: "
                     f"{_times(timed['ratio'])}")
    lines += [f"  {'ok    ' if value else 'FAILED'}  {name}" for name, value in held.items()]
    return "\n".join(lines)
