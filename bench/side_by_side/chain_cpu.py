"""chain-cpu: one elementwise chain with exp, tanh and log, against ONNX Runtime's CPU provider."""
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import ours
from measure import Mismatch, compare, interleave, timed

A, B, C = 0.25, 1.5, 0.75
SIDES = {"1M": 1024, "16M": 4096}
TOLERANCE = 1e-5


def chain_model(shape):
    """y = log(1 + exp(tanh((x - a) / b)) * c), one ONNX node an operation."""
    steps = [("Sub", ["x", "a"]), ("Div", ["d0", "b"]), ("Tanh", ["d1"]), ("Exp", ["d2"]),
             ("Mul", ["d3", "c"]), ("Add", ["d4", "one"]), ("Log", ["d5"])]
    nodes = [helper.make_node(kind, inputs, ["y" if i == len(steps) - 1 else f"d{i}"])
             for i, (kind, inputs) in enumerate(steps)]
    constants = [helper.make_tensor(name, TensorProto.FLOAT, [], [value])
                 for name, value in (("a", A), ("b", B), ("c", C), ("one", 1.0))]
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


class OnnxRuntime:
    """A session with input and output bound to buffers that are made once."""

    def __init__(self, x, threads):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.inter_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(chain_model(x.shape), settings,
                                                    providers=["CPUExecutionProvider"])
        self.x = x
        self.y = np.zeros_like(x)
        self.binding = self.session.io_binding()
        for bind, name, array in ((self.binding.bind_input, "x", self.x),
                                  (self.binding.bind_output, "y", self.y)):
            bind(name, "cpu", 0, np.float32, array.shape, array.ctypes.data)

    def run(self):
        self.session.run_with_iobinding(self.binding)


def check_equal(case, peer, folder):
    case.run(1)
    case.dump(folder)
    peer.run()
    y = np.fromfile(Path(folder) / "y.raw", np.float32).reshape(peer.y.shape)
    error = np.abs(y.astype(np.float64) - peer.y) / np.abs(peer.y)
    if not np.all(error <= TOLERANCE):
        at = np.unravel_index(np.argmax(np.nan_to_num(error, nan=np.inf)), error.shape)
        raise Mismatch(f"relative error {error[at]:.3g} at {tuple(map(int, at))}: x {peer.x[at]}, "
                       f"{y[at]} here, {peer.y[at]} from ONNX Runtime")
    return float(error.max())


def measure(options):
    programs = ours.build(options)
    side = SIDES[options.size]
    x = np.random.default_rng(4096).normal(0, 2, (side, side)).astype(np.float32)
    peer = OnnxRuntime(x, options.threads)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.raw"
        x.tofile(file)
        with ours.Case(programs, "chain", file, side, A, B, C) as case:
            error = check_equal(case, peer, folder)
            blocks = interleave({"ours": case.run, "peer": timed(peer.run)}, options)
    return {**compare(programs, blocks),
            "peer_name": f"ONNX Runtime {onnxruntime.__version__} CPU",
            "elements": x.size, "largest_relative_difference": error}
