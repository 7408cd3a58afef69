#!/usr/bin/env python3
"""Writes the fuzzer's corpus: for each operator the smallest case of the ONNX project that uses it,
and the smallest case with a function body. Usage: make_corpus.py FOLDER"""
import pathlib
import sys

import onnx.backend.test.case.node as node_cases

LARGEST = 1500  # bytes of a model


def smallest_by_operator():
    """{operator: (bytes, model)} over all cases."""
    best = {}
    for case in node_cases.collect_testcases():
        data = case.model.SerializeToString()
        names = {node.op_type for node in case.model.graph.node}
        if case.model.functions:
            names.add("function")
        for name in names:
            if len(data) <= LARGEST and (name not in best or len(data) < len(best[name])):
                best[name] = data
    return best


def main():
    folder = pathlib.Path(sys.argv[1])
    seen = set()
    for name, data in sorted(smallest_by_operator().items()):
        if data in seen:
            continue
        seen.add(data)
        (folder / f"{name}.onnx").write_bytes(data)
    print(f"{len(seen)} models, {sum(map(len, seen))} bytes")


if __name__ == "__main__":
    main()
