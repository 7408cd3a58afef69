"""The measuring half of bench/peers: pairing, ratios, refusing sides that differ, and bundles.

peers_test.py FOLDER: the folder that holds fuseline_bench and cuda_bench.
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
import cuda_bench  # noqa: E402
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


CUDA_RESULT = {
    "device": "a device", "driver": 13000, "rounds": 50, "candidates": {}, "notes": {},
    "rows": [{"name": "ours", "us": 10.0}, {"name": "memcpy", "us": 9.0},
             {"name": "graph", "us": 8.0}, {"name": "gone", "unavailable": "why"}],
    "ratios": [{"name": "share", "numerator": "memcpy", "denominator": "ours", "value": 0.9,
                "low": 0.89, "high": 0.91, "n": 50},
               {"name": "cost", "numerator": "ours", "denominator": "graph", "value": 1.25,
                "low": 1.2, "high": 1.3, "n": 50},
               {"name": "missing", "unavailable": "gone was not measured"}]}


class Cuda(unittest.TestCase):
    """A bundle whose cuda_bench is a script that writes the result above, or fails."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.bundle = Path(temporary.name).resolve()
        for folder in ("bin", "lib"):
            (self.bundle / folder).mkdir()

    def program(self, text):
        file = self.bundle / "bin" / "cuda_bench"
        file.write_text(f"#!{sys.executable}\nimport json, os, sys\n{text}\n", encoding="utf-8")
        file.chmod(0o755)

    def options(self, *words):
        return arguments.parse(["mask-cuda", "--json", "--build", str(self.bundle), *words])

    def test_a_bundle_is_used_as_it_is_with_its_libraries(self):
        self.program(f"result = {CUDA_RESULT!r}\n"
                     "result['notes'] = {'words': sys.argv[1:], 'path': os.environ['LD_LIBRARY_PATH']}\n"
                     "json.dump(result, open(sys.argv[3], 'w'))")
        options = self.options("--rounds", "7", "--only", "fuseline")
        programs = ours.build(options, "cuda_bench")
        self.assertEqual(programs, self.bundle / "bin")
        notes = cuda_bench.run(programs, "mask", options)["notes"]
        self.assertEqual(notes["words"][0:2], ["mask", "--json"])
        self.assertEqual(notes["words"][3:], ["--rounds", "7", "--only", "fuseline"])
        self.assertEqual(notes["path"].split(":")[0], str(self.bundle / "lib"))

    def test_its_exit_codes_are_told_apart(self):
        options = self.options()
        self.program("sys.exit('no CUDA device: none')")  # 1 with its message
        with self.assertRaisesRegex(ours.Mismatch, "no CUDA device: none"):
            cuda_bench.run(self.bundle / "bin", "mask", options)
        self.program("print('no CUDA device: none', file=sys.stderr); sys.exit(3)")
        with self.assertRaisesRegex(ours.Missing, "no CUDA device: none"):
            cuda_bench.run(self.bundle / "bin", "mask", options)

    def test_headlines_are_peer_over_ours(self):
        share = cuda_bench.headline(CUDA_RESULT, "share")
        self.assertEqual((share["ours"], share["peer"], share["peer_name"]), (10.0, 9.0, "memcpy"))
        self.assertEqual((share["ratio"], share["low"]), (0.9, 0.89))
        cost = cuda_bench.headline(CUDA_RESULT, "cost", ours_is_numerator=True)
        self.assertEqual((cost["ours"], cost["peer"]), (10.0, 8.0))
        self.assertAlmostEqual(cost["ratio"], 0.8)
        self.assertAlmostEqual(cost["low"], 1 / 1.3)
        with self.assertRaisesRegex(ours.Missing, "gone was not measured"):
            cuda_bench.headline(CUDA_RESULT, "missing")

    def test_the_program_says_what_is_wrong(self):
        def run(*words):
            done = subprocess.run([PROGRAMS / "cuda_bench", *words], text=True, capture_output=True)
            return done.returncode, done.stderr
        for words, reason in ((["nothing"], "'nothing' is no benchmark"),
                              (["mask", "--rounds", "0"], "--rounds 0: 1 to 10000 are possible"),
                              (["mask", "--only"], "--only needs a value"),
                              (["chain", "--fast", "1"], "'--fast' is not known")):
            code, text = run(*words)
            self.assertEqual(code, 2, text)
            self.assertIn(reason, text)
        code, text = run("mask", "--rounds", "1", "--only", "no row has this name")
        if code == 3:
            self.assertIn("no CUDA device: ", text)
        else:
            self.assertEqual(code, 2, text)
            self.assertIn("no row's name holds", text)


if __name__ == "__main__":
    unittest.main()
