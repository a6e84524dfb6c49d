"""Functions of two arrays and broadcasts as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from math import log, pi
from typing import Any, Final

Rule = str | Callable[[Any], Any]

_SAME: Final = {
    "broadcast_add": "Add", "broadcast_sub": "Sub", "broadcast_mul": "Mul", "broadcast_div": "Div",
    "broadcast_power": "Pow", "broadcast_maximum": "Max", "broadcast_minimum": "Min",
}  # fmt: skip
_COMPARED: Final = {
    "equal": "Equal", "greater": "Greater", "lesser": "Less", "greater_equal": "GreaterOrEqual",
    "lesser_equal": "LessOrEqual",
}  # fmt: skip
_SCALARS: Final = {
    "Add": ("_plus_scalar", "_plus_scalar"), "Sub": ("_minus_scalar", "_rminus_scalar"),
    "Mul": ("_mul_scalar", "_mul_scalar"), "Div": ("_div_scalar", "_rdiv_scalar"),
    "Pow": ("_power_scalar", "_rpower_scalar"),
}  # fmt: skip
"""The operators that take one number for the second input, or for the first."""


def _compared(kind: str, *, negate: bool = False) -> Callable[[Any], Any]:
    return lambda node: node.compare(kind, *node.inputs, negate=negate)


def _logical(kind: str) -> Callable[[Any], Any]:
    return lambda node: node.logical(kind, *node.inputs)


def _to(node: Any) -> Any:
    """Expand to the output's shape, lengths of the data itself as 1."""
    lengths = node.out_shapes[0]
    if 0 in lengths:
        node.refuse("it has no elements")
    if None in lengths and len(lengths) == len(node.shapes[0]):
        lengths = tuple(1 if length is None else length for length in lengths)
        return node.add("Expand", node.inputs[0], node.ints(*lengths))
    return node.add("Expand", node.inputs[0], node.out_shape())


def _sign_bit(node: Any, value: str) -> Any:
    """True for negative numbers and -0.0, whose reciprocal is negative."""
    zero = node.const(0)
    seen = node.add("Where", node.add("Equal", value, zero), node.add("Reciprocal", value), value)
    return node.add("Less", seen, zero)


def _angle(node: Any) -> Any:
    """The arc tangent of the quotient, half a turn away where the second number is negative.

    Of two infinities the quotient is taken of ones, and of two zeros of 0 and 1, each with its sign.
    """
    y, x = node.inputs
    zero, one = node.const(0), node.const(1)
    both = node.add("And", *(node.add("Equal", node.add("Abs", v), node.const(float("inf"))) for v in (y, x)))
    origin = node.add("And", node.add("Equal", y, zero), node.add("Equal", x, zero))
    above = node.add("Where", both, node.add("Sign", y), y)
    below = node.add("Where", both, node.add("Sign", x), node.add("Where", origin, one, x))
    found = node.add("Atan", node.add("Div", above, below))
    half = node.add("Where", _sign_bit(node, y), node.const(-pi), node.const(pi))
    beyond = node.add("Add", node.add("Where", origin, zero, found), half)
    is_right = node.add("And", node.add("Equal", x, zero), node.add("Not", origin))
    turned = node.add("And", _sign_bit(node, x), node.add("Not", is_right))
    quarter = node.add("Mul", half, node.const(0.5))
    return node.add("Where", is_right, quarter, node.add("Where", turned, beyond, found))


def _with_sign(node: Any) -> Any:
    size = node.add("Abs", node.inputs[0])
    return node.add("Where", _sign_bit(node, node.inputs[1]), node.add("Neg", size), size)


def _log_of_sum(node: Any) -> Any:
    """`max + ln(1 + e^-|a - b|)`; two infinities of one sign have no difference."""
    one, other = node.inputs
    apart = node.add("Abs", node.add("Sub", one, other))
    rest = node.add("Log", node.add("Add", node.add("Exp", node.add("Neg", apart)), node.const(1)))
    rest = node.add("Where", node.add("Equal", one, other), node.const(log(2)), rest)
    return node.add("Add", node.add("Max", one, other), rest)


def _bits(word: str) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        if node.dtypes[0].kind == "b":
            return node.add(word, *node.inputs)
        if node.opset < 18:
            node.refuse("ONNX has bits of integers from opset 18 on")
        return node.add(f"Bitwise{word}", *node.inputs)

    return rule


def _shifted(direction: str) -> Callable[[Any], Any]:
    """ONNX shifts unsigned numbers, by less than they have bits: of a negative one the complement."""

    def rule(node: Any) -> Any:
        dtype = node.dtypes[0]
        bits, unsigned = dtype.itemsize * 8, f"uint{dtype.itemsize * 8}"
        data, by = node.inputs
        is_signed_right = dtype.kind == "i" and direction == "RIGHT"
        is_below = node.add("Less", data, node.const(0)) if is_signed_right else ""
        if is_signed_right:
            data = node.add("Where", is_below, node.add("Sub", node.const(-1), data), data)
        is_far = node.add("GreaterOrEqual", by, node.const(bits))
        near = node.cast(node.add("Where", is_far, node.const(0), by), unsigned)
        made = node.cast(node.add("BitShift", node.cast(data, unsigned), near, direction=direction), dtype)
        made = node.add("Where", is_far, node.const(0), made)
        if is_signed_right:
            made = node.add("Where", is_below, node.add("Sub", node.const(-1), made), made)
        return made

    return rule


EXPORTS: Final[Mapping[str, Rule]] = {
    **_SAME,
    **{f"broadcast_{name}": _compared(kind) for name, kind in _COMPARED.items()},
    "broadcast_not_equal": _compared("Equal", negate=True),
    **{f"broadcast_logical_{kind.lower()}": _logical(kind) for kind in ("And", "Or", "Xor")},
    "broadcast_mod": lambda node: node.floor_mod(*node.inputs),
    "broadcast_hypot": lambda node: node.hypot(*node.inputs),
    "arctan2": _angle,
    "copysign": _with_sign,
    "logaddexp": _log_of_sum,
    "fmod": lambda node: node.add("Mod", *node.inputs, fmod=1),
    **{f"bitwise_{word.lower()}": _bits(word) for word in ("And", "Or", "Xor")},
    "left_shift": _shifted("LEFT"),
    "right_shift": _shifted("RIGHT"),
    "broadcast_to": _to,
    "broadcast_axis": _to,
    "broadcast_like": lambda node: node.add("Expand", node.inputs[0], node.out_shape()),
}


def _number(node: Any, index: int) -> Any:
    """An input that is one number, which does not add axes to the other; None where it is not."""
    if not node.is_const(index) or node.value(index).size != 1 or node.dtype().kind not in "fi":
        return None
    other = 1 - index
    return node.scalar(index) if node.rank(index) <= node.rank(other) and not node.is_const(other) else None


def _arithmetic(operator: str, kind: str) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        for index, name in zip((1, 0), _SCALARS[kind], strict=True):
            number = _number(node, index)
            if number is not None and node.dtype(1 - index).kind == "f":
                return node.call(name, node.sym(1 - index), scalar=number)
        return node.call(operator, node.sym(0), node.cast(_placed(node), node.dtype(0)))

    return rule


def _placed(node: Any) -> Any:
    """The second input; before version 7 its axes may stand from `axis` on."""
    if node.opset >= 7 or node.attr("axis") is None:
        return node.sym(1)
    behind = node.rank() - node.axis(0) - node.rank(1)
    return node.reshape(node.sym(1), (*node.shape(1), *(1,) * behind)) if behind > 0 else node.sym(1)


def _divided(node: Any) -> Any:
    """A quotient, of integers toward zero."""
    if node.dtype().kind == "f":
        return _arithmetic("broadcast_div", "Div")(node)
    if node.opset < 7 or node.dtype().kind == "u":
        return node.call("broadcast_div", node.sym(0), node.sym(1))
    one, other = (node.cast(node.sym(index), "float64") for index in (0, 1))
    return node.cast(node.call("trunc", node.call("broadcast_div", one, other)), node.dtype())


def _remainder(node: Any) -> Any:
    """With the sign of the divisor, or with `fmod` that of the dividend."""
    one, other = node.sym(0), node.sym(1)
    if not node.attr("fmod", 0):
        made = node.call("broadcast_mod", one, other)
        if node.dtype().kind != "f" or (node.is_const(1) and node.value(1).all()):
            return made
        return node.call(
            "broadcast_add", made, node.call("_rdiv_scalar", other, scalar=0)
        )  # NaN of 0, here 0
    sizes = node.call("broadcast_mod", node.call("abs", one), node.call("abs", other))
    return node.call("broadcast_mul", sizes, node.call("sign", one))


def _predicate(operator: str) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        return node.cast(node.call(operator, node.sym(0), node.sym(1)), "bool")

    return rule


def _folded(operator: str) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        symbols = node.syms()
        if len(symbols) == 1:
            return node.call("identity", symbols[0])
        return reduce(lambda one, other: node.call(operator, one, other), symbols)

    return rule


def _mean(node: Any) -> Any:
    return node.call("_div_scalar", _folded("broadcast_add")(node), scalar=float(len(node.syms())))


def _expanded(node: Any) -> Any:
    """Expand broadcasts both ways: the shape may have 1 where the data has more."""
    shape, lengths = node.ints("shape", 1), node.lengths()
    rank = max(len(shape), len(lengths))
    new = (1,) * (rank - len(shape)) + tuple(shape)
    old = (1,) * (rank - len(lengths)) + tuple(lengths)
    data = node.sym()
    if len(old) > len(lengths):
        for _ in range(len(old) - len(lengths)):
            data = node.call("expand_dims", data, axis=0)
    wanted = tuple(0 if length in (1, own) else length for length, own in zip(new, old, strict=True))
    return node.call("broadcast_to", data, shape=wanted)


IMPORTS: Final[Mapping[str, Rule]] = {
    **{kind: _arithmetic(name, kind) for name, kind in _SAME.items() if kind in _SCALARS},
    "Div": _divided,
    "Mod": _remainder,
    "Max": _folded("broadcast_maximum"),
    "Min": _folded("broadcast_minimum"),
    "Sum": _folded("broadcast_add"),
    "Mean": _mean,
    **{kind: _predicate(f"broadcast_{name}") for name, kind in _COMPARED.items()},
    **{kind: _predicate(f"broadcast_logical_{kind.lower()}") for kind in ("And", "Or", "Xor")},
    "Expand": _expanded,
    "BitShift": lambda node: node.call(f"{node.attr('direction').lower()}_shift", node.sym(0), node.sym(1)),
    **{f"Bitwise{word}": f"bitwise_{word.lower()}" for word in ("And", "Or", "Xor")},
}
