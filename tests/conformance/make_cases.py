"""The ONNX project's own operator cases in one file.

make_cases.py FOLDER: writes FOLDER/cases.bin (for each case: name, operator, model, tolerances, data
sets of tensors as protobufs) and FOLDER/left_out.txt (how many cases are out, and why).

The denominator: cases whose inputs and outputs are tensors of numbers, of the domain ai.onnx,
without random numbers, training and element types below 8 bits.
"""
import collections
import pathlib
import struct
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

SMALL = {TensorProto.UINT4, TensorProto.INT4, TensorProto.FLOAT4E2M1, TensorProto.UINT2,
         TensorProto.INT2, TensorProto.FLOAT6E2M3, TensorProto.FLOAT6E3M2}
RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli",
          "Multinomial"}


def left_out(case):
    """Why a case is not in the denominator, or None."""
    if case.model is None:
        return "no model"
    graph = case.model.graph
    values = list(graph.input) + list(graph.output)
    if any(not v.type.HasField("tensor_type") for v in values):
        return "sequences, optionals and maps"
    types = {v.type.tensor_type.elem_type for v in values}
    if types & SMALL:
        return "element types below 8 bits"
    if TensorProto.STRING in types:
        return "strings"
    operators = {node.op_type for node in graph.node}
    if any("training" in node.domain for node in graph.node):
        return "training"
    if any(node.domain not in ("", "ai.onnx") for node in graph.node):
        return "other domains"
    if operators & RANDOM or drops(case):
        return "random numbers"
    return None


def drops(case):
    """Dropout in training mode draws random numbers, unless it drops nothing."""
    node = case.model.graph.node[0]
    if node.op_type != "Dropout" or len(node.input) < 3:
        return False
    _, *rest = case.data_sets[0][0]
    ratio = rest[0] if node.input[1] else 0.5
    return bool(rest[-1]) and float(ratio) != 0


def tensor(value, info):
    if isinstance(value, TensorProto):
        return value
    array = np.asarray(value)
    proto = numpy_helper.from_array(array)
    proto.data_type = proto.data_type or info.type.tensor_type.elem_type
    return proto


def block(data):
    return struct.pack("<I", len(data)) + data


def record(case, operator):
    parts = [block(case.name.encode()), block(operator.encode()),
             block(case.model.SerializeToString()), struct.pack("<dd", case.rtol, case.atol),
             struct.pack("<I", len(case.data_sets))]
    graph = case.model.graph
    for inputs, outputs in case.data_sets:
        for values, infos in ((inputs, graph.input), (outputs, graph.output)):
            parts.append(struct.pack("<I", len(values)))
            for value, info in zip(values, infos):
                parts.append(block(tensor(value, info).SerializeToString()))
    return b"".join(parts)


def operator_names(cases):
    """The operator of each case; of an expanded one that of the case that it expands."""
    own = {c.name: c.model.graph.node[0].op_type for c in cases
           if c.model and len(c.model.graph.node) == 1}
    names = {}
    for case in cases:
        base = case.name.split("_expanded")[0]
        names[case.name] = own.get(case.name) or own.get(base) or "several"
    return names


def main(folder):
    cases = collect_testcases()
    names = operator_names(cases)
    out = collections.Counter()
    with open(folder / "cases.bin", "wb") as file:
        for case in cases:
            reason = left_out(case)
            if reason:
                out[reason] += 1
            else:
                file.write(record(case, names[case.name]))
    lines = [f"{count} {reason}\n" for reason, count in sorted(out.items())]
    (folder / "left_out.txt").write_text("".join(lines))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(pathlib.Path(sys.argv[1]))
