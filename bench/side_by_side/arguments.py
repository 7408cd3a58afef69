"""The command line of bench/peers and the environment of its processes. Standard library only."""
import argparse
import textwrap

BENCHMARKS = {
    "mask-cpu": "3840x2160 RGB to mask and count, against OpenCV's three calls",
    "chain-cpu": "log(1 + exp(tanh((x - a) / b)) * c) on f32, against ONNX Runtime",
    "yolov8n-cpu": "a model of YOLOv8n's shape at 640x640, against ONNX Runtime",
    "deoldify-small-cpu": "a model of DeOldify's shape at 256x256, against ONNX Runtime",
    "model-chain-cpu": "small operations between two convolutions, against ONNX Runtime",
    "jit-cold": "one Region from graph to machine code, against g++ -shared and dlopen",
    "mask-cuda": "4K frames on a CUDA device, beside copies, atomics, unfused kernels and NPP",
    "chain-cuda": "clip((x - a) / b * c + d) to half on CUDA, beside copies and PyTorch",
    "launch-cuda": "recordings of n tiny kernels, beside CUDA graphs of n empty ones",
    "diagnose-cuda": "what fuseline diagnose says of a frame whose slow decoder is built in",
    "cli-mask": "fuseline mask on a 4K JPEG, start to exit, against OpenCV in a running process",
    "ledger-truth": "what fuseline bench says of stages and slowdowns whose truth is known",
}


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def parse(words):
    names = "\n".join(f"  {name:<18} {what}" for name, what in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="bench/peers", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures Fuseline and a peer in interleaved blocks, after comparing their "
                    "outputs.\n\nbenchmarks:\n" + names,
        epilog=textwrap.dedent("""\
            ratio = peer time / our time, above 1 Fuseline is faster; the interval is the 95 %
            bootstrap interval over paired blocks. Exit codes: 1 outputs differ, 2 usage,
            3 something is missing."""))
    parser.add_argument("name", nargs="?", choices=BENCHMARKS, metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--threads", type=positive, default=1, help="on both sides (1)")
    parser.add_argument("--seconds", type=float, default=15, help="measuring time (15)")
    parser.add_argument("--size", choices=["1M", "16M"], default="16M",
                        help="elements of chain-cpu (16M: 4096 x 4096)")
    parser.add_argument("--picture", metavar="FILE", help="another JPEG for cli-mask")
    parser.add_argument("--rounds", type=positive, help="samples of each row on a CUDA device, or "
                        "comparisons of processes in ledger-truth (5)")
    parser.add_argument("--only", metavar="TEXT", help="rows on a CUDA device with it in their name")
    parser.add_argument("--build", metavar="FOLDER", help="build folder (build/dev), or a bundle")
    options = parser.parse_args(words)
    if options.name is None:
        parser.print_help()
        parser.exit()
    return options


def environment(options, inherited):
    """Thread counts must stand before a library loads; a forced BLAS kernel would be unfair."""
    changed = {key: value for key, value in inherited.items() if key != "OPENBLAS_CORETYPE"}
    for name in ("OMP_NUM_THREADS", "FUSELINE_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        changed[name] = str(options.threads)
    return changed
