"""cli-mask: `fuseline mask` on a 4K JPEG from process start to exit, against OpenCV in a Python
process that already runs. Each variant also gives its time above libjpeg-turbo's own decoding."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import cv2
import numpy as np

import ours
import pictures
from measure import Mismatch, compare, interleave, milliseconds, timed

THRESHOLD = 127
VARIANTS = {  # words of the command line, and how OpenCV writes the same kind of file
    "area-only": (["--area-only"], None),
    "bits-1": (["--bits", "1"], [cv2.IMWRITE_PNG_BILEVEL, 1]),
    "png8": ([], [cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE,
                  cv2.IMWRITE_PNG_COMPRESSION, 1]),
}


class Command:
    """`fuseline mask` with one variant's options; run() is one whole process."""

    def __init__(self, programs, variant, picture, folder):
        self.words = [str(programs / "fuseline"), "mask", str(picture), "--device", "cpu",
                      "--json", *VARIANTS[variant][0]]
        self.mask = None
        if VARIANTS[variant][1]:
            self.mask = Path(folder) / f"ours-{variant}.png"
            self.words += ["-o", str(self.mask)]
        self.environment = {**os.environ, "FUSELINE_CACHE_DIR": str(Path(folder) / "cache")}

    def answer(self):
        """The area; also warms the cache of generated code."""
        done = subprocess.run(self.words, env=self.environment, text=True, capture_output=True)
        if done.returncode:
            raise ours.Missing(f"{' '.join(self.words)} ended with {done.returncode}: "
                               f"{done.stderr.strip()}")
        return json.loads(done.stdout)["images"][0]["area"]

    def run(self):
        quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
        process = os.posix_spawn(self.words[0], self.words, self.environment, file_actions=quiet)
        _, status = os.waitpid(process, 0)
        if status:
            raise ours.Missing(f"{' '.join(self.words)} ended with status {status}")


class OpenCv:
    """imread, cvtColor, threshold, countNonZero and imwrite, without any process start."""

    def __init__(self, variant, picture, folder):
        self.picture = str(picture)
        self.settings = VARIANTS[variant][1]
        self.mask = Path(folder) / f"peer-{variant}.png"
        self.area = 0

    def run(self):
        picture = cv2.imread(self.picture, cv2.IMREAD_COLOR)
        gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        _, mask = cv2.threshold(gray, THRESHOLD, 255, cv2.THRESH_BINARY)
        self.area = cv2.countNonZero(mask)
        if self.settings and not cv2.imwrite(str(self.mask), mask, self.settings):
            raise ours.Missing(f"OpenCV could not write {self.mask}")


def check_equal(variant, command, peer):
    area = command.answer()
    peer.run()
    if area != peer.area:
        raise Mismatch(f"{variant}: the area is {area} here, {peer.area} from OpenCV")
    if command.mask:
        here, there = (cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
                       for file in (command.mask, peer.mask))
        if here is None or here.shape != there.shape or np.any(here != there):
            raise Mismatch(f"{variant}: the written masks differ")


def measure_in(programs, options, folder):
    picture, source = pictures.jpeg_file(folder)
    if options.picture:
        picture, source = Path(options.picture), options.picture
    cv2.setNumThreads(options.threads)
    sides = {}
    for variant in VARIANTS:
        command, peer = Command(programs, variant, picture, folder), OpenCv(variant, picture, folder)
        check_equal(variant, command, peer)
        sides[f"ours {variant}"], sides[f"peer {variant}"] = timed(command.run), timed(peer.run)
    with ours.Case(programs, "jpeg", picture) as decode:
        blocks = interleave({**sides, "decode": decode.run}, options, single=sides)
    return blocks, source


def variant_result(programs, variant, blocks):
    our_blocks = blocks[f"ours {variant}"]
    above = [whole - decode for whole, decode in zip(our_blocks, blocks["decode"], strict=True)]
    result = compare(programs, {"ours": our_blocks, "peer": blocks[f"peer {variant}"]})
    return {**result, "above_decode": milliseconds(programs, above)}


def measure(options):
    programs = ours.build(options)
    if not (programs / "fuseline").exists():
        raise ours.Missing(f"{programs / 'fuseline'} was not built")
    with tempfile.TemporaryDirectory() as folder:
        blocks, source = measure_in(programs, options, folder)
    results = {variant: variant_result(programs, variant, blocks) for variant in VARIANTS}
    weakest = min(results, key=lambda variant: results[variant]["low"])
    extra = {variant: {key: value for key, value in result.items() if key not in ("unit", "n")}
             for variant, result in results.items()}
    return {**{key: value for key, value in results[weakest].items() if key != "above_decode"},
            "peer_name": f"OpenCV {cv2.__version__} in a running process",
            "headline": f"{weakest}, the variant with the lowest ratio", "picture": source,
            "decode_ms": milliseconds(programs, blocks["decode"])["value"], "variants": extra}
