"""chain-cuda: clip((x - a) / b * c + d) from f32 to half on a CUDA device: 16.8M elements beside
copies of the same bytes, and 1M from submit to done beside PyTorch."""
import tempfile
from pathlib import Path

import cuda_bench
import ours
from measure import interleave, timed

HEADLINE = "16.8M: share of the memory's speed"
ELEMENTS = 1 << 20
GOAL_US = 15
HALF_STEP = 2.0 ** -10  # between neighbouring halves, relative
BLOCK_RUNS = 200


def torch_sides(x):
    """{name: callable}, each from submit to done, {name: why it is not there}, and the expected y."""
    import torch

    device_x = torch.from_numpy(x).cuda()
    stream = torch.cuda.current_stream()

    def chain(value):  # the numbers of bench/cuda/benchmarks.hpp
        return torch.clamp((value - 0.25) / 1.5 * 0.75 + 0.125, -1, 1).half()

    def called(function):
        def run():
            function(device_x)
            stream.synchronize()
        return run

    def captured(function):
        side = torch.cuda.Stream()
        side.wait_stream(stream)
        with torch.cuda.stream(side):
            for _ in range(3):
                function(device_x)
        stream.wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            function(device_x)

        def run():
            graph.replay()
            stream.synchronize()
        return run

    torch.set_grad_enabled(False)
    compiled = torch.compile(chain, dynamic=False)
    makers = {"torch, eager": lambda: called(chain),
              "torch.compile, called": lambda: called(compiled),
              "torch.compile in a CUDA graph": lambda: captured(compiled)}
    sides, reasons = {}, {}
    for name, make in makers.items():
        try:
            sides[name] = make()
            for _ in range(20):
                sides[name]()
        except Exception as error:  # a compiler or a device that is missing has many types
            sides.pop(name, None)
            reasons[name] = str(error).strip().splitlines()[:1]
    return sides, reasons, chain(device_x).cpu().numpy()


def check_equal(case, wanted, folder):
    import numpy as np

    case.run(3)
    case.dump(folder)
    y = np.fromfile(Path(folder) / "y.raw", np.float16).astype(np.float64)
    wide = wanted.astype(np.float64)
    error = np.abs(y - wide) / np.maximum(np.abs(wide), 2.0 ** -14)
    if not np.all(error <= HALF_STEP):
        at = int(np.argmax(np.nan_to_num(error, nan=np.inf)))
        raise ours.Mismatch(f"element {at}: {y[at]} here, {wide[at]} from torch")


def submit_to_done(programs, options):
    """Microseconds of one call with 1M elements on the device, ours and PyTorch's, interleaved."""
    try:
        import numpy as np
        import torch
    except ImportError as error:
        return {"unavailable": str(error)}
    x = np.random.default_rng(16).normal(0, 1, ELEMENTS).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.raw"
        x.tofile(file)
        sides, reasons, wanted = torch_sides(x)
        with ours.Case(programs, "serve-chain", file, ELEMENTS, program="cuda_bench") as case:
            check_equal(case, wanted, folder)
            blocks = interleave({"ours": case.run, **{name: timed(run) for name, run in
                                                      sides.items()}},
                                options, most_runs=BLOCK_RUNS)
    result = {"torch": torch.__version__, "goal_us": GOAL_US, "elements": ELEMENTS}
    for name, sample in blocks.items():
        estimate = ours.median_of(programs, sample)
        result[name] = {key: round(estimate[key] / 1e3, 3) for key in ("value", "low", "high")}
        if name != "ours":
            ratio = ours.ratio_of(programs, sample, blocks["ours"])
            result[name]["over ours"] = [round(ratio[key], 3) for key in ("value", "low", "high")]
    result.update({name: {"unavailable": reason} for name, reason in reasons.items()})
    return result


def measure(options):
    programs = ours.build(options, "cuda_bench")
    result = cuda_bench.run(programs, "chain", options)
    return {**cuda_bench.headline(result, HEADLINE),
            "submit_to_done_us": submit_to_done(programs, options),
            **cuda_bench.details(result)}
