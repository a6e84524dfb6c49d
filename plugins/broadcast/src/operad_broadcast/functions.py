"""NumPy's functions of two arrays that broadcast: angles, logarithms of sums, remainders, signs and bits.

Functions of real numbers give float64 of integers and bool, as NumPy does of those of 32 bits and more.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from operad_sdk import BROADCAST, Contract, Integers, OperatorProperty, Real, define
from operad_sdk.contract import REAL_RESULTS
from operad_sdk.element_types import real_of
from operad_sdk.quotients import slope_of_angle


def _declared(
    name: str, ufunc: Any, gradient: Any, summary: str, rhs: str, output: str, reference: Any, **options: Any
) -> type[OperatorProperty]:
    """Declare one operator; its example is of the column 1, 2 and the row `rhs`."""
    contract = Contract(
        reference=reference, inputs=options.pop("inputs", {}), result_types=options.pop("types", ())
    )
    return define(
        name, BROADCAST, ufunc, gradient, summary=summary, example=("[[1], [2]]", rhs, output),
        contract=contract, inplace="lhs, rhs", **options,
    )  # fmt: skip


def _real(*declared: Any, **options: Any) -> type[OperatorProperty]:
    shared: dict[str, Any] = {"promote": real_of, "types": REAL_RESULTS, "compute_dtype": "float32"}
    return _declared(*declared, **shared | options)


arctan2 = _real(
    "arctan2", np.arctan2,
    {"lhs": lambda output_grad, lhs, rhs: slope_of_angle(output_grad, rhs, lhs),
     "rhs": lambda output_grad, lhs, rhs: -slope_of_angle(output_grad, lhs, rhs)},
    "Angle of the point `(rhs, lhs)`; `d/dlhs = rhs / r^2`, `d/drhs = -lhs / r^2`, 0 at the origin.",
    "[0, 1]", "[[1.5708, 0.7854],\n       [1.5708, 1.1071]]", lambda lhs, rhs: np.angle(rhs + 1j * lhs),
)  # fmt: skip
logaddexp = _real(
    "logaddexp", np.logaddexp,
    {"lhs": lambda output_grad, lhs, rhs: output_grad / (1 + np.exp(rhs - lhs)),
     "rhs": lambda output_grad, lhs, rhs: output_grad / (1 + np.exp(lhs - rhs))},
    "`y = ln(e^lhs + e^rhs)`, without overflow; `d/dlhs = 1 / (1 + e^(rhs - lhs))`, `d/drhs = 1 - d/dlhs`.",
    "[0, 1]", "[[1.3133, 1.6931],\n       [2.1269, 2.3133]]",
    lambda lhs, rhs: np.maximum(lhs, rhs) + np.log1p(np.exp(-np.abs(lhs - rhs))), element_cost=8,
)  # fmt: skip
copysign = _real(
    "copysign", np.copysign,
    # mutant: becomes ((output_grad * np.sign(lhs)) / (: equivalent, because the divisor is 1 or -1
    {"lhs": lambda output_grad, lhs, rhs: output_grad * np.sign(lhs) * np.copysign(np.ones_like(rhs), rhs)},
    "The magnitude of `lhs` with the sign of `rhs`; `d/dlhs` is 1 where the signs are equal and -1 "
    "elsewhere, 0 at 0.", "[0, -1]", "[[ 1., -1.],\n       [ 2., -2.]]",
    lambda lhs, rhs: np.abs(lhs) * (1 - 2.0 * np.signbit(rhs)),
)  # fmt: skip
fmod = _declared(
    "fmod", np.fmod,
    {"lhs": lambda output_grad: output_grad,
     "rhs": lambda output_grad, lhs, rhs: -output_grad * np.trunc(lhs / rhs)},
    "Remainder with the sign of `lhs`, of integers 0 where `rhs` is; `d/drhs = -trunc(lhs / rhs)`.",
    "[-3, 2]", "[[1., 1.],\n       [2., 0.]]", np.vectorize(math.fmod, otypes=[float]),
    inputs={"rhs": Real(nonzero=True)}, accepts="number", compute_dtype="float32", element_cost=15,
    is_flat_for_integers=True,
)  # fmt: skip


_WITH_BOOL: Final = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _bits(
    name: str, ufunc: Any, summary: str, row: str, output: str, accepts: Any = _WITH_BOOL, **inputs: Any
) -> type[OperatorProperty]:
    """A function of bits, which has no gradient; its example is of the column 5, 6 and `row`."""
    return define(
        name, BROADCAST, ufunc, summary=summary,
        example=("[[5], [6]], dtype='int32'", f"{row}, dtype='int32'", f"array({output}, dtype=int32)"),
        accepts=accepts, inplace="lhs, rhs",
        contract=Contract(
            reference=lambda lhs, rhs: ufunc(lhs.astype(np.int64), rhs.astype(np.int64)), inputs=inputs
        ),
    )  # fmt: skip


bitwise_and, bitwise_or, bitwise_xor = (
    _bits(f"bitwise_{word}", ufunc, f"Bits that {held} in `lhs` and `rhs`; of bool, logic.", "[3, 4]", output)
    for word, ufunc, held, output in (
        ("and", np.bitwise_and, "are both set", "[[1, 4],\n       [2, 4]]"),
        ("or", np.bitwise_or, "are not both clear", "[[7, 5],\n       [7, 6]]"),
        ("xor", np.bitwise_xor, "differ", "[[6, 1],\n       [5, 2]]"),
    )
)
left_shift, right_shift = (
    _bits(
        name, ufunc, f"The bits of `lhs` moved to the {way} by `rhs`; {beyond}.", "[0, 1]", output, "integer",
        lhs=Integers(0, 9), rhs=Integers(0, 4),
    )
    for name, ufunc, way, beyond, output in (
        ("left_shift", np.left_shift, "left", "by all of them or more, 0", "[[ 5, 10],\n       [ 6, 12]]"),
        ("right_shift", np.right_shift, "right", "by all of them or more, 0 or -1, the sign",
         "[[5, 2],\n       [6, 3]]"),
    )
)  # fmt: skip
