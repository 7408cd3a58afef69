"""Whole models on the CPU, against ONNX Runtime's CPU provider.

The models have the shapes of well-known networks and random weights; the script that writes them
lies beside the project, in ../shared/models.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

import ours
from measure import Mismatch, compare, interleave, timed

SCRIPT = ours.ROOT.parent / "shared" / "models" / "make_models.py"
CASES = {"yolov8n-cpu": ("yolov8n", (1, 3, 640, 640)),
         "deoldify-small-cpu": ("deoldify-small", (1, 3, 256, 256)),
         "model-chain-cpu": ("chain", (1, 3, 512, 512))}
TOLERANCE = 1e-3  # absolute and relative


class OnnxRuntime:
    """A session with input and output bound to buffers that are made once."""

    def __init__(self, path, x, threads):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.inter_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(path), settings,
                                                    providers=["CPUExecutionProvider"])
        given, made = self.session.get_inputs()[0].name, self.session.get_outputs()[0].name
        self.x, self.y = x, self.session.run([made], {given: x})[0]
        self.binding = self.session.io_binding()
        for bind, name, array in ((self.binding.bind_input, given, self.x),
                                  (self.binding.bind_output, made, self.y)):
            bind(name, "cpu", 0, np.float32, array.shape, array.ctypes.data)

    def run(self):
        self.session.run_with_iobinding(self.binding)


def check_equal(case, peer, folder):
    case.run(1)
    case.dump(folder)
    peer.run()
    y = np.fromfile(Path(folder) / "y.raw", np.float32).reshape(peer.y.shape)
    error = np.abs(y.astype(np.float64) - peer.y)
    if not np.all(error <= TOLERANCE * (1 + np.abs(peer.y))):
        raise Mismatch(f"a difference of {np.nanmax(error):.3g}")
    return float(error.max())


def measure(options):
    if not SCRIPT.exists():
        raise ours.Missing(f"{SCRIPT} is needed: it writes the models")
    programs = ours.build(options)
    name, shape = CASES[options.name]
    x = np.random.default_rng(640).random(shape, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, SCRIPT, folder, name], check=True, stdout=subprocess.DEVNULL)
        model, file = Path(folder) / f"{name}.onnx", Path(folder) / "x.raw"
        x.tofile(file)
        peer = OnnxRuntime(model, x, options.threads)
        with ours.Case(programs, "model", model, file, "x".join(map(str, shape))) as case:
            error = check_equal(case, peer, folder)
            blocks = interleave({"ours": case.run, "peer": timed(peer.run)}, options)
    return {**compare(programs, blocks),
            "peer_name": f"ONNX Runtime {onnxruntime.__version__} CPU",
            "input": "x".join(map(str, shape)), "largest_difference": error}
