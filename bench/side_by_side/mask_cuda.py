"""mask-cuda: 4K RGB to mask and count on a CUDA device, beside copies of the same bytes,
hand-written kernels, one kernel an operation, and NPP."""
import cuda_bench
import ours

HEADLINE = "mask + count: share of the memory's speed"


def measure(options):
    result = cuda_bench.run(ours.build(options, "cuda_bench"), "mask", options)
    return {**cuda_bench.headline(result, HEADLINE), **cuda_bench.details(result)}
