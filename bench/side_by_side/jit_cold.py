"""jit-cold: from the mask graph to callable machine code in a process that has compiled nothing,
against writing the same loop to a file, g++ -O3 -march=native -shared, and dlopen."""
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import nvrtc
import ours
from measure import Mismatch, compare, interleave, milliseconds, timed

THRESHOLD = 127
LOOP = r"""
#include <cstdint>
extern "C" std::int64_t mask(const std::uint8_t* rgb, std::uint8_t* out, std::int64_t pixels,
                             int threshold) {
  std::int64_t area = 0;
  for (std::int64_t i = 0; i < pixels; ++i) {
    unsigned gray = (9798u * rgb[3 * i] + 19235u * rgb[3 * i + 1] + 3735u * rgb[3 * i + 2] + 16384u)
                    >> 15;
    bool above = gray > static_cast<unsigned>(threshold);
    out[i] = above ? 255 : 0;
    area += above;
  }
  return area;
}
"""


class Gxx:
    """What people without a run-time compiler do. run() compiles and opens the library."""

    def __init__(self, folder):
        if not shutil.which("g++"):
            raise ours.Missing("g++ was not found; install Debian's g++")
        self.folder = Path(folder)
        self.count = 0
        self.function = None

    def run(self):
        self.count += 1  # dlopen gives the old library for a name that it knows
        source, library = self.folder / "loop.cpp", self.folder / f"loop{self.count}.so"
        source.write_text(LOOP, encoding="ascii")
        subprocess.run(["g++", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library],
                       check=True)
        self.function = ctypes.CDLL(str(library)).mask

    def mask(self, rgb):
        out = np.zeros(rgb.shape[:2], np.uint8)
        self.function.restype = ctypes.c_int64
        area = self.function(ctypes.c_void_p(rgb.ctypes.data), ctypes.c_void_p(out.ctypes.data),
                             ctypes.c_int64(out.size), THRESHOLD)
        return out, area


class Compiler:
    """fuseline_bench compile: one process a sample, with a cache folder that is empty or warm."""

    def __init__(self, programs, folder):
        self.program = programs / "fuseline_bench"
        self.folder = Path(folder)
        self.count = 0
        self.open_ns = []

    def _times(self, cache, state):
        environment = {**os.environ, "FUSELINE_CACHE_DIR": str(cache), "FUSELINE_CACHE": "on"}
        done = subprocess.run([self.program, "compile", str(THRESHOLD), self.folder, state],
                              check=True, env=environment, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    def _sample(self, cache, state):
        answer = self._times(cache, state)
        if answer["cache_hit"] != (state == "warm"):
            raise ours.Missing(f"the kernel came {'from' if answer['cache_hit'] else 'not from'} "
                               "the cache, which is not what this sample is about")
        return answer

    def cold(self, count):
        times = []
        for _ in range(count):
            self.count += 1
            cache = self.folder / f"cache{self.count}"
            answer = self._sample(cache, "cold")
            times.append(answer["total_ns"])
            self.open_ns.append(answer["open_ns"])
            shutil.rmtree(cache)
        return times

    def warm(self, count):
        cache = self.folder / "warm"
        if not cache.exists():
            self._times(cache, "cold")
        return [self._sample(cache, "warm")["total_ns"] for _ in range(count)]


def check_equal(programs, peer, folder):
    """The compiled loop and our Region give the same mask and area of seeded noise."""
    rgb = np.random.default_rng(1).integers(0, 256, (211, 307, 3), np.uint8)
    file = Path(folder) / "noise.raw"
    rgb.tofile(file)
    peer.run()
    mask, area = peer.mask(rgb)
    with ours.Case(programs, "mask", file, *rgb.shape[:2], THRESHOLD) as case:
        case.run(1)
        case.dump(folder)
    here = np.fromfile(Path(folder) / "mask.raw", np.uint8).reshape(mask.shape)
    if np.any(here != mask) or int(np.fromfile(Path(folder) / "area.raw", np.int64)[0]) != area:
        raise Mismatch("mask or area of the compiled loop and of the Region")


def measure(options):
    programs = ours.build(options)
    with tempfile.TemporaryDirectory() as folder:
        peer, compiler = Gxx(folder), Compiler(programs, folder)
        check_equal(programs, peer, folder)
        sides = {"ours": compiler.cold, "cache": compiler.warm, "peer": timed(peer.run)}
        blocks = interleave(sides, options, single=sides)
        gpu = nvrtc.times_ms(Path(folder) / "kernel.cu")
    return {**compare(programs, blocks),
            "peer_name": "g++ -O3 -march=native -shared + dlopen of the same loop",
            "from_cache_ms": milliseconds(programs, blocks["cache"])["value"],
            "open_ms": milliseconds(programs, compiler.open_ns)["value"], **gpu}
