"""launch-cuda: recordings of n tiny kernels beside CUDA's own graphs of n empty ones."""
import cuda_bench
import ours

COST = "Queue::replay / graph of empty kernels"


def measure(options):
    result = cuda_bench.run(ours.build(options, "cuda_bench"), "launch", options)
    costs = [entry for entry in result["ratios"]
             if entry["name"].endswith(COST) and "value" in entry]
    if not costs:
        raise ours.Missing("no row of a recording was measured")
    worst = max(costs, key=lambda entry: entry["value"])
    return {**cuda_bench.headline(result, worst["name"], ours_is_numerator=True),
            **cuda_bench.details(result)}
