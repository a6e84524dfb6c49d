"""Normal numbers in single precision: the quantile of words, instruction by instruction.

A word of 32 bits is a sign and a probability `p` below 1/2, whose quantile is `x f(w)`: `x = 1 - 2p`, `w =
-log(4 p (1 - p))`, and `f` a polynomial, within 4e-6. It is a scalar form of additions, multiplications and
the parts of a floating number, none of which is fused, so vector code and NumPy give the same bits. NumPy's
own normal numbers take four times as long: each is compared with a table, and drawn again now and then.

Source: Giles, Approximating the erfinv function (GPU Computing Gems, 2011), for `w`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log
from typing import Any, Final

import numpy as np

from operad.first_use import import_module
from operad.operator import ScalarForm
from operad_sdk import Array
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.primitives import PRIMITIVES

LEAST: Final = 1 << 12
"""Numbers from which they are made of words; a call with fewer would take longer."""
_BLOCK: Final = 1 << 13
"""Numbers that NumPy computes at a time."""
_LARGEST: Final = 21.48756259747472
"""The largest `w`, of the least probability, 2^-33."""
_QUANTILE: Final = (
    4.40076642, 2.33042536, -0.564061261, 0.264356632, -0.127742888, 0.0286754473, -0.0459493154,
    0.0781956911, 0.129742533, -0.26527911, 0.0459352785, 0.105961283, -0.0430457847,
)  # fmt: skip
"""`f`, of `2 w / _LARGEST - 1`: minimax, relative to the quantile."""
_LOGARITHM: Final = (
    1.00000325, -0.500019651, 0.33303298, -0.248813409, 0.206046786, -0.189019688, 0.118274471,
)  # fmt: skip
"""`log(1 + r) / r` for `1 + r` from sqrt(1/2) to sqrt(2): minimax, within 2e-7."""


def has_words(out: Array) -> bool:
    """Return whether `fill_from_words` fills an array, by its type and size alone."""
    return type(out) is np.ndarray and out.ndim == 1 and out.dtype == np.float32 and out.size >= LEAST


def fill_from_words(generator: Any, out: Array, loc: float, scale: float) -> None:
    """Fill an array of one axis with `loc + scale z`, of independent normal numbers `z`.

    They follow from the generator and from how many there are, on every machine.
    """
    words = generator.integers(1 << 64, size=-(-out.size // 2), dtype=np.uint64).view(np.int32)
    numbers = [np.full(1, number, np.float32) for number in (loc, scale)]
    machine = import_module("operad_sdk.vector")
    if machine.reason_against() is None:
        machine.compiled(_form(), out.dtype)([words[: out.size], *numbers], [out])
        return
    for first in range(0, out.size, _BLOCK):
        part = out[first : first + _BLOCK]
        part[...] = by_numpy([words[first : first + len(part)], *numbers])


def by_numpy(arrays: Sequence[Array]) -> Array:
    """The numbers of words, `loc` and `scale`, as NumPy computes them."""
    values: list[Any] = list(arrays)
    for step in _form().instructions[len(values) :]:
        dtype = np.dtype(np.float32 if step.kind == "real" else step.kind)
        args = [values[i] for i in step.args]
        if step.op == "constant":
            values.append(dtype.type(step.value))
        elif step.op == "cast":
            values.append(args[0].astype(dtype))
        else:
            values.append(PRIMITIVES[step.op].evaluate(*args))
    found: Array = values[_form().result]
    return found


@cache
def _form() -> ScalarForm:
    code = Builder("normal", ["word", "loc", "scale"], ["int32", "real", "real"])
    apply, number = code.apply, code.constant

    def polynomial(x: int, factors: Sequence[float]) -> int:
        found = number(factors[-1])
        for factor in reversed(factors[:-1]):
            found = apply("add", apply("multiply", found, x), number(factor))
        return found

    def halves(whole: int) -> int:
        return apply("add", code.cast(whole, "real"), number(0.5))

    is_below = apply("less", 0, number(0, "int32"))
    low = code.select(is_below, apply("subtract", number(-1, "int32"), 0), 0)  # 31 bits
    x = apply("multiply", halves(apply("subtract", number(2**31 - 1, "int32"), low)), number(2.0**-31))
    p = apply("multiply", halves(low), number(2.0**-30))  # 4 p
    y = apply("multiply", p, apply("subtract", number(1), apply("multiply", p, number(0.25))))
    r = apply("subtract", apply("mantissa", y), number(1))
    scale = -2 / _LARGEST
    of_exponent = apply("multiply", apply("exponent", y), number(scale * log(2)))
    of_mantissa = apply("multiply", apply("multiply", r, number(scale)), polynomial(r, _LOGARITHM))
    t = apply("add", apply("add", of_exponent, number(-1)), of_mantissa)
    z = apply("multiply", x, polynomial(t, _QUANTILE))
    z = code.select(is_below, apply("negative", z), z)
    return code.finish(apply("add", apply("multiply", z, 2), 1))
