"""The measuring half of bench/peers: pairing, ratios, and refusing sides that differ.

peers_test.py FOLDER: the folder that holds fuseline_bench.
"""
import random
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "side_by_side"))
import arguments  # noqa: E402
import chain_cpu  # noqa: E402
import mask_cpu  # noqa: E402
import measure  # noqa: E402
import numpy as np  # noqa: E402
import ours  # noqa: E402
import pictures  # noqa: E402

PROGRAMS = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None


class Written:
    """Stands for our side: dumps arrays that the test chose."""

    def __init__(self, **arrays):
        self.arrays = arrays

    def run(self, count):
        return [1] * count

    def dump(self, folder):
        for name, array in self.arrays.items():
            array.tofile(Path(folder) / f"{name}.raw")


class Arguments(unittest.TestCase):
    def test_threads_reach_every_library_and_no_blas_kernel_is_forced(self):
        options = arguments.parse(["mask-cpu", "--threads", "3"])
        environment = arguments.environment(options, {"OPENBLAS_CORETYPE": "Haswell", "HOME": "/h"})
        self.assertEqual(environment, {"HOME": "/h", "OMP_NUM_THREADS": "3",
                                       "FUSELINE_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"})

    def test_help_lists_the_names_and_a_wrong_name_is_a_usage_error(self):
        peers = ROOT / "bench" / "peers"
        done = subprocess.run([sys.executable, peers], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0)
        for name in arguments.BENCHMARKS:
            self.assertIn(name, done.stdout)
        done = subprocess.run([sys.executable, peers, "nothing"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)


class Measuring(unittest.TestCase):
    def test_a_side_that_takes_three_times_as_long_has_ratio_three(self):
        options = arguments.parse(["mask-cpu", "--seconds", "0"])
        noise = random.Random(5)
        sides = {name: lambda count, ns=ns: [ns * noise.uniform(0.99, 1.01) for _ in range(count)]
                 for name, ns in (("ours", 2e6), ("peer", 6e6))}
        result = measure.compare(PROGRAMS, measure.interleave(sides, options))
        self.assertAlmostEqual(result["ratio"], 3, delta=0.03)
        self.assertLess(result["low"], result["ratio"])
        self.assertGreater(result["high"], result["ratio"])
        self.assertAlmostEqual(result["ours"], 2, delta=0.02)
        self.assertAlmostEqual(result["peer"], 6, delta=0.06)
        self.assertEqual(result["n"], measure.LEAST_BLOCKS)

    def test_the_first_run_of_a_block_does_not_count(self):
        options = arguments.parse(["mask-cpu", "--seconds", "0"])
        blocks = measure.interleave({"ours": lambda count: [9e9] + [1e6] * (count - 1)}, options)
        self.assertEqual(set(blocks["ours"]), {1e6})

    def test_times_are_wall_times_of_each_run(self):
        times = measure.timed(lambda: time.sleep(0.002))(4)
        self.assertEqual(len(times), 4)
        self.assertGreaterEqual(min(times), 2e6)

    def test_sides_never_run_at_once_and_blocks_are_paired(self):
        options = arguments.parse(["mask-cpu", "--seconds", "0"])
        order = []
        sides = {name: lambda count, name=name: order.append(name) or [1e6] * count
                 for name in ("ours", "peer")}
        blocks = measure.interleave(sides, options, single=("ours", "peer"))
        self.assertEqual(len(blocks["ours"]), len(blocks["peer"]))
        pairs = {tuple(order[i:i + 2]) for i in range(0, len(order), 2)}
        self.assertEqual(pairs, {("ours", "peer"), ("peer", "ours")})


class Comparing(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def test_mask_of_the_frame(self):
        frame = np.random.default_rng(3).integers(0, 256, (61, 83, 3), np.uint8)
        peer = mask_cpu.OpenCv(frame, 1)
        peer.run()
        mask, area = peer.mask.copy(), np.array([peer.area], np.int64)
        mask_cpu.check_equal(Written(mask=mask, area=area), peer, self.folder)
        with self.assertRaisesRegex(measure.Mismatch, "the area is"):
            mask_cpu.check_equal(Written(mask=mask, area=area + 1), peer, self.folder)
        mask[7, 5] ^= 255
        with self.assertRaisesRegex(measure.Mismatch, "1 mask pixels, first at x 5, y 7"):
            mask_cpu.check_equal(Written(mask=mask, area=area), peer, self.folder)

    def test_chain_is_the_formula_and_a_wrong_element_is_found(self):
        x = np.linspace(-6, 6, 64 * 64, dtype=np.float32).reshape(64, 64)
        peer = chain_cpu.OnnxRuntime(x, 1)
        wide = x.astype(np.float64)
        y = np.log(1 + np.exp(np.tanh((wide - chain_cpu.A) / chain_cpu.B)) * chain_cpu.C)
        y = y.astype(np.float32)
        chain_cpu.check_equal(Written(y=y), peer, self.folder)
        for wrong in (y[3, 9] * 1.0001, np.nan):
            bad = y.copy()
            bad[3, 9] = wrong
            with self.assertRaisesRegex(measure.Mismatch, r"at \(3, 9\)"):
                chain_cpu.check_equal(Written(y=bad), peer, self.folder)


class Decoding(unittest.TestCase):
    def test_libjpeg_turbo_gives_the_pixels_that_opencv_gives(self):
        import cv2
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file, _ = pictures.jpeg_file(folder.name)
        with ours.Case(PROGRAMS, "jpeg", file) as case:
            self.assertEqual(len(case.run(3)), 3)
            case.dump(folder.name)
        rgb = np.fromfile(Path(folder.name) / "rgb.raw", np.uint8)
        there = cv2.cvtColor(cv2.imread(str(file)), cv2.COLOR_BGR2RGB)
        self.assertLessEqual(int(np.abs(rgb.reshape(there.shape).astype(int) - there).max()), 3)


if __name__ == "__main__":
    unittest.main()
