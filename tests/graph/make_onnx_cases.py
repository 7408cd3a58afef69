"""The ONNX project's own single-node cases as graph texts with raw inputs and outputs.

make_onnx_cases.py FOLDER: writes FOLDER/<case>.txt (a graph) and FOLDER/<case>.bin (its inputs, then
its outputs, dense, in their order), FOLDER/cases.txt (the names) and FOLDER/left_out.txt.
"""
import collections
import math
import pathlib
import sys
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

DTYPES = {
    "bool": "bool", "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32",
    "int32": "i32", "uint64": "u64", "int64": "i64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64",
}


class LeftOut(Exception):
    """Why a case is not ours."""


def dtype_of(array):
    name = DTYPES.get(str(array.dtype))
    if name is None:
        raise LeftOut(f"element type {array.dtype}")
    return name


def is_float(dtype):
    return dtype in ("f16", "bf16", "f32", "f64")


class Val:
    def __init__(self, number, dtype, shape):
        self.number, self.dtype, self.shape = number, dtype, tuple(shape)


class Text:
    """A graph text while it is written."""

    def __init__(self):
        self.lines = ["fuseline-graph 1"]
        self.count = 0

    def line(self, text, dtype, shape):
        sizes = ", ".join(map(str, shape))
        self.lines.append(f"%{self.count} = {text} : {dtype}[{sizes}]")
        self.count += 1
        return Val(self.count - 1, dtype, shape)

    def input(self, name, array):
        return self.line(f"input {name}", dtype_of(array), array.shape)

    def scalar(self, dtype, number):
        text = float(number).hex() if is_float(dtype) else str(int(number))
        if is_float(dtype) and math.isinf(number):
            text = "inf" if number > 0 else "-inf"
        return self.line(f"constant {text}", dtype, ())

    def op(self, name, operands, dtype, shape, **attributes):
        text = name + "".join(f" %{v.number}" for v in operands)
        if attributes:
            text += " {" + ", ".join(f"{k}={v}" for k, v in attributes.items()) + "}"
        return self.line(text, dtype, shape)

    def elementwise(self, name, *operands, dtype=None):
        shape = np.broadcast_shapes(*(v.shape for v in operands))
        return self.op(name, operands, dtype or operands[-1].dtype, shape)

    def reshape(self, v, shape):
        return self.op("reshape", [v], v.dtype, shape, dims=dims(shape))

    def cast(self, v, dtype):
        return self.op("cast", [v], dtype, v.shape, to=dtype, rounding='"trunc"', saturate=0)

    def reduce(self, name, v, axes, keep, dtype=None):
        axes = sorted(a % max(len(v.shape), 1) for a in axes)
        reduced = axes or range(len(v.shape))
        shape = [1 if i in reduced else n for i, n in enumerate(v.shape) if keep or i not in reduced]
        return self.op(name, [v], dtype or v.dtype, shape, axes=ints(axes), keepdims=int(keep))


def dims(numbers):
    return "(" + ", ".join(str(int(n)) for n in numbers) + ")"


def ints(numbers):
    return "[" + ", ".join(str(int(n)) for n in numbers) + "]"


class Case:
    """One node with its arrays; `ins` are arrays or None."""

    def __init__(self, node, ins, outs):
        self.node, self.ins, self.outs = node, ins, outs
        self.attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.text = Text()
        self.used = []

    def arg(self, i):
        """Operand i as an input of the graph."""
        if self.ins[i] is None:
            raise LeftOut("an omitted operand")
        self.used.append(self.ins[i])
        return self.text.input(f"x{i}", self.ins[i])

    def has(self, i):
        return i < len(self.ins) and self.ins[i] is not None

    def attr(self, name, default):
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value


UNARY = dict(Abs="abs", Neg="neg", Sign="sign", Floor="floor", Ceil="ceil", Round="round",
             Sqrt="sqrt", Reciprocal="reciprocal", Exp="exp", Log="log", Sin="sin", Cos="cos",
             Tan="tan", Asin="asin", Acos="acos", Atan="atan", Sinh="sinh", Cosh="cosh",
             Tanh="tanh", Asinh="asinh", Acosh="acosh", Atanh="atanh", Erf="erf", Relu="relu",
             Sigmoid="sigmoid", HardSwish="hard_swish", Softplus="softplus", Softsign="softsign",
             Mish="mish", Not="logical_not", BitwiseNot="logical_not", IsNaN="is_nan")
BINARY = dict(Add="add", Sub="sub", Mul="mul", Div="div", Pow="pow", And="logical_and",
              Or="logical_or", Xor="logical_xor", BitwiseAnd="logical_and",
              BitwiseOr="logical_or", BitwiseXor="logical_xor", PRelu="leaky_relu")
COMPARE = dict(Equal="equal", Less="less", LessOrEqual="less_equal", Greater="greater",
               GreaterOrEqual="greater_equal")
VARIADIC = dict(Min="minimum", Max="maximum", Sum="add")
WITH_CONSTANTS = dict(LeakyRelu=("leaky_relu", [("alpha", 0.01)]),
                      HardSigmoid=("hard_sigmoid", [("alpha", 0.2), ("beta", 0.5)]),
                      Elu=("elu", [("alpha", 1.0)]), Celu=("celu", [("alpha", 1.0)]),
                      Selu=("selu", [("alpha", 1.67326319217681884765625),
                                     ("gamma", 1.05070102214813232421875)]),
                      ThresholdedRelu=("thresholded_relu", [("alpha", 1.0)]),
                      Shrink=("shrink", [("lambd", 0.5), ("bias", 0.0)]))
REDUCE = dict(ReduceSum="reduce_sum", ReduceProd="reduce_prod", ReduceMin="reduce_min",
              ReduceMax="reduce_max", ReduceMean="reduce_sum")


def build_elementwise(c, op):
    t = c.text
    if op in UNARY:
        return t.elementwise(UNARY[op], c.arg(0), dtype="bool" if op == "IsNaN" else None)
    if op in BINARY or op in COMPARE:
        a, b = c.arg(0), c.arg(1)
        if a.dtype != b.dtype or op == "Pow" and not is_float(a.dtype):
            raise LeftOut(f"{op} of {a.dtype} and {b.dtype}")
        return t.elementwise((BINARY | COMPARE)[op], a, b, dtype="bool" if op in COMPARE else None)
    if op in VARIADIC:
        value = c.arg(0)
        for i in range(1, len(c.ins)):
            value = t.elementwise(VARIADIC[op], value, c.arg(i))
        return value
    if op in WITH_CONSTANTS:
        name, constants = WITH_CONSTANTS[op]
        x = c.arg(0)
        if not is_float(x.dtype):
            raise LeftOut(f"{op} of {x.dtype}")
        return t.elementwise(name, x, *(t.scalar(x.dtype, c.attr(k, d)) for k, d in constants))
    return None


def build_special(c, op):
    t = c.text
    if op == "Mod":
        a, b = c.arg(0), c.arg(1)
        return t.elementwise("rem" if c.attr("fmod", 0) else "mod", a, b)
    if op == "BitShift":
        return t.elementwise("shift_" + c.attr("direction", "").lower(), c.arg(0), c.arg(1))
    if op == "Where":
        return t.elementwise("where", c.arg(0), c.arg(1), c.arg(2))
    if op == "IsInf":
        if "detect_positive" in c.attributes or "detect_negative" in c.attributes:
            raise LeftOut("IsInf of one sign")
        return t.elementwise("is_inf", c.arg(0), dtype="bool")
    if op == "Gelu":
        tanh = c.attr("approximate", "none") == "tanh"
        return t.elementwise("gelu_tanh" if tanh else "gelu", c.arg(0))
    if op == "Swish":
        if c.attr("alpha", 1.0) != 1.0:
            raise LeftOut("Swish with another alpha")
        return t.elementwise("silu", c.arg(0))
    if op == "Clip":
        x = c.arg(0)
        kind = c.ins[0].dtype
        limits = (ml_dtypes.finfo if is_float(x.dtype) else np.iinfo)(kind)
        ends = [-math.inf, math.inf] if is_float(x.dtype) else [limits.min, limits.max]
        pair = [c.arg(i) if c.has(i) else t.scalar(x.dtype, ends[i - 1]) for i in (1, 2)]
        return t.elementwise("clip", x, *pair)
    if op == "Cast":
        return t.cast(c.arg(0), dtype_of(c.outs[0]))
    return None


def build_index_map(c, op):
    t, out = c.text, c.outs[0]
    if op in ("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"):
        return t.reshape(c.arg(0), out.shape)
    if op == "Expand":
        v = c.arg(0)
        return t.op("broadcast_to", [v], v.dtype, out.shape, dims=dims(out.shape))
    if op == "Transpose":
        v = c.arg(0)
        perm = c.attr("perm", list(range(len(v.shape)))[::-1])
        return t.op("transpose", [v], v.dtype, out.shape, perm=ints(perm))
    if op == "Concat":
        parts = [c.arg(i) for i in range(len(c.ins))]
        axis = c.attr("axis", 0) % len(out.shape)
        return t.op("concat", parts, parts[0].dtype, out.shape, axis=axis)
    if op == "Gather":
        x, i = c.arg(0), c.arg(1)
        axis = c.attr("axis", 0) % len(x.shape)
        return t.op("gather", [x, i], x.dtype, out.shape, axis=axis)
    if op == "Slice":
        return build_slice(c)
    if op == "Pad":
        return build_pad(c)
    return None


def build_slice(c):
    v, out = c.arg(0), c.outs[0]
    rank = len(v.shape)
    starts, steps = [0] * rank, [1] * rank
    axes = c.ins[3] if c.has(3) else range(len(c.ins[1]))
    by = c.ins[4] if c.has(4) else [1] * len(c.ins[1])
    for axis, start, end, step in zip(axes, c.ins[1], c.ins[2], by):
        axis, step, extent = int(axis) % rank, int(step), v.shape[int(axis) % rank]
        limits = (0, extent) if step > 0 else (0, extent - 1)
        start = int(start) + extent if start < 0 else int(start)
        starts[axis], steps[axis] = min(max(start, limits[0]), limits[1]), step
    return c.text.op("slice", [v], v.dtype, out.shape, starts=dims(starts), dims=dims(out.shape),
                     steps=ints(steps))


def build_pad(c):
    v, out = c.arg(0), c.outs[0]
    rank = len(v.shape)
    axes = [int(a) % rank for a in c.ins[3]] if c.has(3) else list(range(rank))
    before, after = [0] * rank, [0] * rank
    for k, axis in enumerate(axes):
        before[axis], after[axis] = c.ins[1][k], c.ins[1][k + len(axes)]
    number = c.ins[2].item() if c.has(2) else 0
    mode = c.attr("mode", "constant")
    return c.text.op("pad", [v, c.text.scalar(v.dtype, number)], v.dtype, out.shape,
                     before=dims(before), after=dims(after), mode=f'"{mode}"')


def build_reduction(c, op):
    t = c.text
    keep = bool(c.attr("keepdims", 1))
    if op in ("ArgMax", "ArgMin"):
        if c.attr("select_last_index", 0):
            raise LeftOut("the last of equals")
        x = c.arg(0)
        name = "arg_max" if op == "ArgMax" else "arg_min"
        return t.reduce(name, x, [c.attr("axis", 0)], keep, "i64")
    if op not in REDUCE:
        return None
    x = c.arg(0)
    if x.dtype == "bool":
        raise LeftOut(f"{op} of bool")
    axes = c.ins[1].tolist() if c.has(1) else c.attr("axes", [])
    if not axes and c.attr("noop_with_empty_axes", 0):
        return t.reshape(x, x.shape)
    result = t.reduce(REDUCE[op], x, axes, keep)
    if op == "ReduceMean":
        count = math.prod(x.shape) // max(math.prod(result.shape), 1)
        return t.elementwise("div", result, t.scalar(x.dtype, count))
    return result


def build_resize(c, op):
    if op != "Resize":
        return None
    x, out = c.ins[0], c.outs[0]
    mode = c.attr("mode", "nearest")
    coordinates = c.attr("coordinate_transformation_mode", "half_pixel")
    nearest = c.attr("nearest_mode", "round_prefer_floor")
    wanted = (mode in ("nearest", "linear") and nearest in ("floor", "round_prefer_floor") and
              coordinates in ("half_pixel", "asymmetric", "align_corners"))
    if not wanted or c.attr("antialias", 0) or c.attr("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise LeftOut("Resize with other attributes")
    if x.ndim != 4 or x.shape[:2] != (1, 1) or out.shape[:2] != (1, 1):
        raise LeftOut("Resize of other axes than height and width")
    if c.has(2) and len(c.ins[2]):
        exact = [n * s for n, s in zip(x.shape[-len(c.ins[2]):], c.ins[2])]
        if any(abs(e - round(e)) > 1e-5 for e in exact):
            raise LeftOut("Resize by a scale that the sizes do not tell")
    t = c.text
    flat = t.reshape(c.arg(0), x.shape[2:])
    small = t.op("resize", [flat], flat.dtype, out.shape[2:], dims=dims(out.shape[2:]),
                 mode=f'"{mode}"', coordinates=f'"{coordinates}"', nearest=f'"{nearest}"')
    return t.reshape(small, out.shape)


def write(folder, name, model, data):
    node = model.graph.node[0]
    ins = iter(data[0])
    case = Case(node, [next(ins) if i else None for i in node.input], list(data[1]))
    op = node.op_type
    builders = (build_elementwise, build_special, build_index_map, build_reduction, build_resize)
    value = None
    for build in builders:
        value = value or build(case, op)
    if value is None:
        raise LeftOut(f"operator {op}")
    text = "\n".join(case.text.lines + [f"output y %{value.number}", ""])
    arrays = case.used + case.outs
    (folder / f"{name}.txt").write_text(text)
    (folder / f"{name}.bin").write_bytes(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays))


def as_array(value):
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        raise LeftOut("a sequence or an optional")
    return np.asarray(value)


def main(folder):
    written, left_out = [], collections.Counter()
    for case in collect_testcases():
        try:
            if case.model is None or len(case.model.graph.node) != 1:
                raise LeftOut("more than one node")
            node = case.model.graph.node[0]
            if node.domain not in ("", "ai.onnx") or len(node.output) != 1:
                raise LeftOut(f"operator {node.op_type}")
            for ins, outs in case.data_sets:
                data = [as_array(v) for v in ins], [as_array(v) for v in outs]
                for array in data[0] + data[1]:
                    dtype_of(array)
                write(folder, case.name, case.model, data)
            written.append(f"{case.name} {node.op_type}")
        except LeftOut as reason:
            left_out[str(reason)] += 1
    (folder / "cases.txt").write_text("".join(f"{line}\n" for line in written))
    (folder / "left_out.txt").write_text(
        "".join(f"{count} {reason}\n" for reason, count in left_out.most_common()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(pathlib.Path(sys.argv[1]))
