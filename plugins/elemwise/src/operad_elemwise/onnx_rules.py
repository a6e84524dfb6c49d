"""Functions of elements as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, pi
from typing import Any, Final

Rule = str | Callable[[Any], Any]

_SAME: Final = {
    "abs": "Abs", "arccos": "Acos", "arccosh": "Acosh", "arcsin": "Asin", "arcsinh": "Asinh",
    "arctan": "Atan", "arctanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf",
    "exp": "Exp", "floor": "Floor", "_copy": "Identity", "log": "Log", "negative": "Neg",
    "reciprocal": "Reciprocal", "relu": "Relu", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin",
    "sinh": "Sinh", "softsign": "Softsign", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
}  # fmt: skip
"""Functions that ONNX has, too."""

_ARITHMETIC: Final = {
    "plus": "Add", "minus": "Sub", "mul": "Mul", "div": "Div", "power": "Pow", "maximum": "Max",
    "minimum": "Min",
}  # fmt: skip
_COMPARED: Final = {
    "equal": "Equal", "greater": "Greater", "lesser": "Less", "greater_equal": "GreaterOrEqual",
    "lesser_equal": "LessOrEqual",
}  # fmt: skip


def _first(node: Any) -> Any:
    return node.add("Identity", node.inputs[0])


def _scaled(factor: float) -> Callable[[Any], Any]:
    return lambda node: node.add("Mul", node.inputs[0], node.const(factor))


def _log(base: float) -> Callable[[Any], Any]:
    return lambda node: node.add("Mul", node.add("Log", node.inputs[0]), node.const(1 / log(base)))


def _root(node: Any) -> Any:
    """Cube root: of the absolute value, with the sign."""
    root = node.add("Pow", node.add("Abs", node.inputs[0]), node.const(1 / 3))
    return node.add("Mul", node.add("Sign", node.inputs[0]), root)


def _toward_zero(node: Any) -> Any:
    whole = node.add("Floor", node.add("Abs", node.inputs[0]))
    return node.add("Mul", node.add("Sign", node.inputs[0]), whole)


def _half_away(node: Any) -> Any:
    """Halves away from zero: ONNX's Round takes them to even numbers."""
    whole = node.add("Floor", node.add("Add", node.add("Abs", node.inputs[0]), node.const(0.5)))
    return node.add("Mul", node.add("Sign", node.inputs[0]), whole)


def _half_down(node: Any) -> Any:
    """Halves to the smaller number."""
    return node.add("Ceil", node.add("Sub", node.inputs[0], node.const(0.5)))


def _full(value: float) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        return node.add("Expand", node.const(value, node.out_dtypes[0]), node.add("Shape", node.inputs[0]))

    return rule


def _multicast(node: Any) -> Any:
    pairs = zip(node.inputs, node.out_dtypes, strict=True)
    return [node.cast(value, dtype) for value, dtype in pairs]


def _clip(node: Any) -> Any:
    if node.op.a_min > node.op.a_max:
        node.refuse("a smallest element above the largest one means something else in ONNX")
    return node.add("Clip", node.inputs[0], node.const(node.op.a_min), node.const(node.op.a_max))


def _scalar(node: Any) -> tuple[str, str]:
    """Data and scalar, in the output's element type."""
    dtype = node.out_dtypes[0]
    data = node.inputs[0] if node.dtypes[0] == dtype else node.cast(node.inputs[0], dtype)
    return data, node.const(node.op.scalar, dtype)


def _with_scalar(kind: str, *, is_reversed: bool = False) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        pair = _scalar(node)
        return node.add(kind, *(pair[::-1] if is_reversed else pair))

    return rule


def _compared(kind: str, *, negate: bool = False, scalar: bool = False) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        pair = (node.inputs[0], node.const(node.op.scalar)) if scalar else node.inputs
        return node.compare(kind, *pair, negate=negate)

    return rule


def _logical(kind: str, *, scalar: bool = False) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        pair = (node.inputs[0], node.const(node.op.scalar)) if scalar else node.inputs
        return node.logical(kind, *pair)

    return rule


def _size(node: Any) -> Any:
    """The absolute value, of integers as float32."""
    value = node.inputs[0]
    return node.add("Abs", value if node.dtypes[0].kind == "f" else node.cast(value, "float32"))


def _limit(node: Any) -> Any:
    return node.const(float("inf"), node.dtypes[0] if node.dtypes[0].kind == "f" else "float32")


def _complement(node: Any) -> Any:
    if node.dtypes[0].kind == "b":
        return node.add("Not", node.inputs[0])
    if node.dtypes[0].kind == "u" and node.opset < 18:
        node.refuse("ONNX has bits of integers from opset 18 on")
    if node.dtypes[0].kind == "u":
        return node.add("BitwiseNot", node.inputs[0])
    return node.add("Sub", node.const(-1), node.inputs[0])


EXPORTS: Final[Mapping[str, Rule]] = {
    **_SAME,
    "exp2": lambda node: node.add("Exp", node.add("Mul", node.inputs[0], node.const(log(2)))),
    "erfc": lambda node: node.add("Sub", node.const(1.0), node.add("Erf", node.inputs[0])),
    "mish": lambda node: node.add(
        "Mul", node.inputs[0], node.add("Tanh", node.add("Softplus", node.inputs[0]))
    ),
    "hard_swish": lambda node: node.add("HardSwish", node.inputs[0]),
    **dict.fromkeys(
        ("BlockGrad", "make_loss", "_identity_with_attr_like_rhs", "_contrib_gradientmultiplier"), _first
    ),
    **dict.fromkeys(("Cast", "amp_cast"), lambda node: node.cast(node.inputs[0], node.out_dtypes[0])),
    **dict.fromkeys(("fix", "trunc"), _toward_zero),
    "_amp_scale_gradient": _first,
    "amp_multicast": _multicast,
    "clip": _clip,
    "cbrt": _root,
    "rcbrt": lambda node: node.add("Reciprocal", _root(node)),
    "rsqrt": lambda node: node.add("Reciprocal", node.add("Sqrt", node.inputs[0])),
    "square": lambda node: node.add("Mul", node.inputs[0], node.inputs[0]),
    "expm1": lambda node: node.add("Sub", node.add("Exp", node.inputs[0]), node.const(1)),
    "log1p": lambda node: node.add("Log", node.add("Add", node.inputs[0], node.const(1))),
    "log2": _log(2),
    "log10": _log(10),
    "degrees": _scaled(180 / pi),
    "radians": _scaled(pi / 180),
    "rint": _half_down,
    "round": _half_away,
    "_contrib_round_ste": _half_away,
    "_contrib_sign_ste": "Sign",
    "hard_sigmoid": lambda node: node.add(
        "HardSigmoid", node.inputs[0], alpha=node.op.alpha, beta=node.op.beta
    ),
    "logical_not": lambda node: node.logical("Not", node.inputs[0]),
    "isnan": lambda node: node.add("Not", node.add("Equal", (size := _size(node)), size)),
    "isinf": lambda node: node.add("Equal", _size(node), _limit(node)),
    "isfinite": lambda node: node.add("Less", _size(node), _limit(node)),
    "bitwise_not": _complement,
    "ones_like": _full(1),
    "zeros_like": _full(0),
    "shape_array": "Shape",
    "size_array": lambda node: node.unsqueeze(node.add("Size", node.inputs[0]), 0),
    "add_n": "Sum",
    "elemwise_add": "Add",
    "elemwise_sub": "Sub",
    "elemwise_mul": "Mul",
    "elemwise_div": "Div",
    "_grad_add": "Add",
    "_power": "Pow",
    "_maximum": "Max",
    "_minimum": "Min",
    "_mod": lambda node: node.floor_mod(*node.inputs),
    "_mod_scalar": lambda node: node.floor_mod(*_scalar(node)),
    "_rmod_scalar": lambda node: node.floor_mod(*_scalar(node)[::-1]),
    "_hypot": lambda node: node.hypot(*node.inputs),
    "_hypot_scalar": lambda node: node.hypot(*_scalar(node)),
    **{f"_{name}_scalar": _with_scalar(kind) for name, kind in _ARITHMETIC.items()},
    **{
        f"_r{name}_scalar": _with_scalar(_ARITHMETIC[name], is_reversed=True)
        for name in ("minus", "div", "power")
    },
    **{f"_{name}_scalar": _compared(kind, scalar=True) for name, kind in _COMPARED.items()},
    "_not_equal_scalar": _compared("Equal", negate=True, scalar=True),
    **{f"_{name}": _compared(kind) for name, kind in _COMPARED.items()},
    "_not_equal": _compared("Equal", negate=True),
    **{f"_logical_{kind.lower()}_scalar": _logical(kind, scalar=True) for kind in ("And", "Or", "Xor")},
    **{f"_logical_{kind.lower()}": _logical(kind) for kind in ("And", "Or", "Xor")},
}

ABSENT: Final[Mapping[str, str]] = dict.fromkeys(("gamma", "gammaln"), "ONNX has no such function")


def _clipped(node: Any) -> Any:
    """Clip, whose bounds are attributes before version 11 and may be left out."""
    dtype, data = node.dtype(), node.sym()
    low = node.attr("min", node.scalar(1)) if node.opset < 11 else node.scalar(1)
    high = node.attr("max", node.scalar(2)) if node.opset < 11 else node.scalar(2)
    if dtype.kind == "f" and low is not None and high is not None and low <= high:
        return node.call("clip", data, a_min=low, a_max=high)
    if low is not None:
        data = node.call("_maximum_scalar", data, scalar=low)
    if high is not None:
        data = node.call("_minimum_scalar", data, scalar=high)
    return data if low is not None or high is not None else node.call("identity", data)


def _typed(node: Any) -> Any:
    """Cast: numbers of ONNX's types are those of the protocol."""
    return node.call("Cast", node.sym(), dtype=node.dtype_named(node.attr("to")).name)


def _half_even(node: Any) -> Any:
    """Halves to even numbers: of `y = floor(x + 1/2)` 1 is taken where y is odd and x a half."""
    up = node.call("floor", node.call("_plus_scalar", node.sym(), scalar=0.5))
    is_half = node.call("_equal_scalar", node.call("elemwise_sub", up, node.sym()), scalar=0.5)
    odd = node.call("_mod_scalar", up, scalar=2)
    return node.call("elemwise_sub", up, node.call("elemwise_mul", is_half, odd))


def _shrunk(node: Any) -> Any:
    """`x - bias` above lambd, `x + bias` below `-lambd`, 0 between."""
    data, bias, edge = node.sym(), node.attr("bias", 0.0), node.attr("lambd", 0.5)
    above = node.call("_greater_scalar", data, scalar=edge)
    below = node.call("_lesser_scalar", data, scalar=-edge)
    one = node.call("elemwise_mul", above, node.call("_minus_scalar", data, scalar=bias))
    other = node.call("elemwise_mul", below, node.call("_plus_scalar", data, scalar=bias))
    return node.call("elemwise_add", one, other)


def _above(node: Any) -> Any:
    """ThresholdedRelu: the data above alpha, 0 elsewhere."""
    data = node.sym()
    above = node.call("_greater_scalar", data, scalar=node.attr("alpha", 1.0))
    return node.call("elemwise_mul", data, above)


def _hard_swish(node: Any) -> Any:
    gate = node.call("hard_sigmoid", node.sym(), alpha=1 / 6, beta=0.5)
    return node.call("elemwise_mul", node.sym(), gate)


def _is_inf(node: Any) -> Any:
    data = node.sym()
    signs = [sign for sign, key in ((1, "detect_positive"), (-1, "detect_negative")) if node.attr(key, 1)]
    if not signs:
        return node.cast(node.call("zeros_like", data), "bool")
    data = data if len(signs) == 1 else node.call("abs", data)
    return node.cast(node.call("_equal_scalar", data, scalar=float("inf") * (signs[0])), "bool")


IMPORTS: Final[Mapping[str, Rule]] = {
    **{kind: name for name, kind in _SAME.items() if name != "_copy"},
    "Identity": "identity",
    "Round": _half_even,
    "Clip": _clipped,
    "Cast": _typed,
    "CastLike": lambda node: node.call("Cast", node.sym(), dtype=node.dtype(1).name),
    "Not": lambda node: node.cast(node.call("logical_not", node.sym()), "bool"),
    "HardSigmoid": lambda node: node.call(
        "hard_sigmoid", node.sym(), alpha=node.attr("alpha", 0.2), beta=node.attr("beta", 0.5)
    ),
    "HardSwish": _hard_swish,
    "Shrink": _shrunk,
    "ThresholdedRelu": _above,
    "IsNaN": lambda node: node.cast(node.call("_not_equal", node.sym(), node.sym()), "bool"),
    "IsInf": _is_inf,
    "BitwiseNot": "bitwise_not",
}
