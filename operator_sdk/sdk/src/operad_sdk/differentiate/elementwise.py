"""Derivatives of functions of elements: `g` is the gradient of the result, `y` the result."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from operad_sdk.differentiate.dispatch import FLAT, FUNCTIONS, UFUNCS
from operad_sdk.differentiate.tracing import FORM, Primitive, Traced, plain, value_alone

_UNARY: Final[dict[np.ufunc, Any]] = {
    np.negative: lambda g, y, x: -g,
    np.positive: lambda g, y, x: g,
    np.conjugate: lambda g, y, x: g,
    np.absolute: lambda g, y, x: g * np.sign(x),
    np.fabs: lambda g, y, x: g * np.sign(x),
    np.square: lambda g, y, x: g * x * 2,
    np.sqrt: lambda g, y, x: g / y * 0.5,
    np.cbrt: lambda g, y, x: g / y / y / 3,
    np.reciprocal: lambda g, y, x: -g * y * y,
    np.exp: lambda g, y, x: g * y,
    np.exp2: lambda g, y, x: g * y * math.log(2),
    np.expm1: lambda g, y, x: g * np.exp(x),
    np.log: lambda g, y, x: g / x,
    np.log2: lambda g, y, x: g * (1 / math.log(2)) / x,
    np.log10: lambda g, y, x: g * (1 / math.log(10)) / x,
    np.log1p: lambda g, y, x: g / (x + 1),
    np.sin: lambda g, y, x: g * np.cos(x),
    np.cos: lambda g, y, x: -g * np.sin(x),
    np.tan: lambda g, y, x: g * (y * y + 1),
    np.arcsin: lambda g, y, x: g / np.sqrt((1 - x) * (1 + x)),
    np.arccos: lambda g, y, x: -g / np.sqrt((1 - x) * (1 + x)),
    np.arctan: lambda g, y, x: g / (x * x + 1),
    np.sinh: lambda g, y, x: g * np.cosh(x),
    np.cosh: lambda g, y, x: g * np.sinh(x),
    np.tanh: lambda g, y, x: g * (1 - y * y),
    np.arcsinh: lambda g, y, x: g / np.hypot(x, 1),
    np.arccosh: lambda g, y, x: g / (np.sqrt(x - 1) * np.sqrt(x + 1)),
    np.arctanh: lambda g, y, x: g / ((1 - x) * (1 + x)),
    np.degrees: lambda g, y, x: g * (180 / math.pi),
    np.rad2deg: lambda g, y, x: g * (180 / math.pi),
    np.radians: lambda g, y, x: g * (math.pi / 180),
    np.deg2rad: lambda g, y, x: g * (math.pi / 180),
}


def _of_base(g: Any, a: Any, b: Any) -> Any:
    """`b a^(b - 1)`, 0 at 0^0; of a small base and exponent `(b / a) a^b`, as `a^(b - 1)` may overflow.

    A guard wherever `b` is 0 would hide that the slope of this along `b` is `1 / a` there.
    """
    is_small = np.logical_and(np.abs(b) < 2**-10, np.logical_and(a != 0, np.abs(a) < 1))
    is_flat = np.logical_and(a == 0, b == 0)
    power = np.power(a, np.where(np.logical_or(is_small, is_flat), b, b - 1))
    return g * (b / np.where(is_small, a, 1) * power)


def _length(y: Any) -> Any:
    """Divisor of slopes of a length, which at 0 are 0 and do not change."""
    return np.where(y == 0, y.dtype.type(np.inf), y)


_BINARY: Final[dict[np.ufunc, tuple[Any, Any]]] = {
    np.add: (lambda g, y, a, b: g, lambda g, y, a, b: g),
    np.subtract: (lambda g, y, a, b: g, lambda g, y, a, b: -g),
    np.multiply: (lambda g, y, a, b: g * b, lambda g, y, a, b: g * a),
    np.divide: (lambda g, y, a, b: g / b, lambda g, y, a, b: -g * (y / b)),
    np.power: (
        lambda g, y, a, b: _of_base(g, a, b),
        lambda g, y, a, b: g * (np.where(a == 0, 0, y) * np.log(np.where(a == 0, 1, a))),
    ),
    np.remainder: (lambda g, y, a, b: g, lambda g, y, a, b: -g * np.floor(a / b)),
    np.fmod: (lambda g, y, a, b: g, lambda g, y, a, b: -g * np.trunc(a / b)),
    np.hypot: (lambda g, y, a, b: g * (a / _length(y)), lambda g, y, a, b: g * (b / _length(y))),
    np.arctan2: (
        lambda g, y, a, b: g * (b / np.hypot(a, b)) / np.hypot(a, b),
        lambda g, y, a, b: -g * (a / np.hypot(a, b)) / np.hypot(a, b),
    ),
    np.maximum: (lambda g, y, a, b: g * (a >= b), lambda g, y, a, b: g * (a < b)),
    np.minimum: (lambda g, y, a, b: g * (a <= b), lambda g, y, a, b: g * (a > b)),
    np.fmax: (lambda g, y, a, b: g * (a >= b), lambda g, y, a, b: g * (a < b)),
    np.fmin: (lambda g, y, a, b: g * (a <= b), lambda g, y, a, b: g * (a > b)),
    np.copysign: (lambda g, y, a, b: g * np.sign(a) * np.sign(b), None),
    np.logaddexp: (lambda g, y, a, b: g * np.exp(a - y), lambda g, y, a, b: g * np.exp(b - y)),
}
_BINARY[np.float_power] = _BINARY[np.power]

UFUNCS.update({ufunc: Primitive(ufunc, pull, fits=True) for ufunc, pull in _UNARY.items()})
UFUNCS.update({ufunc: Primitive(ufunc, *pulls, fits=True) for ufunc, pulls in _BINARY.items()})

FLAT.update((
    np.sign, np.floor, np.ceil, np.trunc, np.rint, np.heaviside, np.floor_divide, np.isnan, np.isinf,
    np.isfinite, np.signbit, np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.logical_and, np.logical_or, np.logical_xor,
    np.logical_not, np.round, np.argmax, np.argmin, np.argsort, np.argpartition, np.searchsorted,
    np.allclose, np.array_equal, np.isclose,
    np.nonzero, np.flatnonzero, np.isneginf, np.isposinf,
))  # fmt: skip
if hasattr(np, "fix"):  # deprecated in NumPy 2.5, so a later release of the range may lack it
    FLAT.add(np.fix)

_where = Primitive(
    np.where,
    None,
    lambda g, y, condition, a, b: np.where(condition, g, 0),
    lambda g, y, condition, a, b: np.where(condition, 0, g),
    fits=True,
    form="where",
)
_converted = Primitive(
    lambda x, dtype: x.astype(dtype), lambda g, y, x, dtype: g.astype(plain(x).dtype), form="cast"
)


def astype(x: Any, dtype: Any, *args: Any, **options: Any) -> Any:
    """`x` as another type; as one that is not floating, without a derivative."""
    if np.dtype(dtype).kind != "f":
        value = value_alone(x)
        return _converted(value, dtype) if isinstance(value, Traced) else value.astype(dtype)
    return x if x.dtype == dtype and options.get("copy") is False else _converted(x, dtype)


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    a_min, a_max = min if a_min is None else a_min, max if a_max is None else a_max
    if isinstance(x, Traced) and x.level <= FORM and a_min is not None and a_max is not None:
        # Of equal numbers forms take the second, and a zero between zeros keeps its sign as in NumPy.
        return np.minimum(a_max, np.maximum(a_min, x))
    x = x if a_min is None else np.maximum(x, a_min)
    return x if a_max is None else np.minimum(x, a_max)


def _nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    largest, value = np.finfo(x.dtype).max.item(), value_alone(x)
    above = largest if posinf is None else posinf
    below = -largest if neginf is None else neginf
    replaced = np.where(np.isnan(value), nan, np.where(value > 0, above, below)).astype(x.dtype)
    return np.where(np.isfinite(value), x, replaced)


FUNCTIONS.update({
    np.where: _where, np.clip: _clip, np.nan_to_num: _nan_to_num,
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: np.size(plain(a), axis),
})  # fmt: skip
