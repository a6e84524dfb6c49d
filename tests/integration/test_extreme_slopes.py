"""Slopes of operators of elements at both ends of single precision's range, beside double precision's.

A gradient is `g s`, with a slope `s` of an argument. Where `s` and `g s` are ordinary numbers nothing that is
computed on the way to them may overflow, vanish, or be `0 * inf`. For a length `y`, `g * (a / y)` is right;
`g * a / y` is infinite for `g = a = y = 1e30`. `b a^(b - 1)` is 0, and not NaN, for an exponent of 0, however
small the base is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd
from operad.operator import OperatorProperty
from tests.integration.element_operators import of_elements

LIMITS = np.finfo("float32")
SMALL = [1e-45, 1e-41, 1.2e-38, 1e-30, 1e-19, 1e-12]
LARGE = [0.5, 1.0, 1.5, 2.0, 3.0, 1e12, 3e18, 3e19, 1e30, 1.7e38, 3.4e38]
HEADS = (1.0, 1e-30, -1e30)
RELATIVE = 1e-4
SCALARS = tuple(map(float, np.array([1e-41, -1e-30, 1e-12, -3e18, 1e30], "float32")))
"""For operators of an array and a number, beside the default."""
EXEMPT: dict[str, Callable[..., Any]] = {
    # the remainder jumps where the quotient is whole, or rounded to 0
    **dict.fromkeys(("_mod", "broadcast_mod"), lambda lhs, rhs: jumps(lhs / rhs)),
    "_rmod_scalar": lambda data, scalar: jumps(scalar / data),
    # such an exponent less 1 is itself, and so even
    **dict.fromkeys(("_power", "broadcast_power"), lambda lhs, rhs: (lhs < 0) & (np.abs(rhs) > 2**24)),
    "_power_scalar": lambda data, scalar: (data < 0) & (np.abs(scalar) > 2**24),
    # a probability less a label cancels where they are near
    "bce_with_logits": lambda data, label: np.abs(1 / (1 + np.exp(-data)) - label) < 0.01,
    # the slope of the logarithm, 1 / lam - x, is infinite, or cancels
    "_random_pdf_exponential": lambda x, lam: (
        (x < 0) | (np.abs(lam) < 4 * LIMITS.tiny) | (np.abs(lam * x - 1) < 0.01)
    ),
}


def jumps(quotient: Any) -> Any:
    return (quotient == np.rint(quotient)) | (np.abs(quotient) < LIMITS.tiny)


def properties() -> Iterator[tuple[str, OperatorProperty]]:
    for label, prop in of_elements():
        yield label, prop
        if "scalar" in prop.get_params():
            for scalar in SCALARS:
                changed = type(prop)(**{**prop.get_params(), "scalar": str(scalar)})
                yield f"{label} scalar={scalar}", changed


def gradients(prop: OperatorProperty, points: Any, heads: Any, dtype: str) -> list[Any]:
    """The values, and the gradients for each argument."""
    xs = [od.nd.array(x[:, None], dtype=dtype) for x in points]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        made = od.nd.invoke(prop.name, xs, prop.get_params())
    made = made[0] if isinstance(made, list) else made
    made.backward(od.nd.array(heads.reshape(made.shape), dtype=dtype))
    return [x.asnumpy().astype("float64").ravel() for x in (made, *(x.grad for x in xs))]


def arguments(count: int, size: int) -> tuple[Any, Any]:
    """Points, and head gradients at them: each point with each head."""
    one = np.array([0.0, *SMALL, *LARGE], "float32")
    one = np.concatenate([one, -one[1:]])
    rows = np.array(list(product(*[one] * count, np.array(HEADS, "float32"))), "float32").T
    *points, heads = np.tile(rows, (1, -(-size // rows.shape[1])))
    return np.array(points), heads


@pytest.mark.parametrize(
    "size", [1, pytest.param(20_000, marks=pytest.mark.more)], ids=["by NumPy", "in vector code"]
)
def test_an_ordinary_slope_times_an_ordinary_gradient_is_their_product(size: int) -> None:
    compared, failures = 0, []
    with np.errstate(all="ignore"):
        for label, prop in properties():
            if prop.name.startswith("Cast"):
                continue
            points, heads = arguments(len(prop.list_arguments()), size)
            value, *slopes = gradients(prop, points, np.ones_like(heads), "float64")
            held = is_ordinary(value) & ~exempt(prop, points)  # slopes may be read from the value
            _, *found = gradients(prop, points, heads, "float32")
            for place, (slope, made) in enumerate(zip(slopes, found, strict=True)):
                exact = slope * heads
                counts = held & is_ordinary(slope) & is_ordinary(exact)
                wrong = counts & ~(np.abs(made - exact) <= RELATIVE * np.abs(exact))
                failures += [
                    f"{label}: d{place} at {points[:, k]} times {heads[k]} is {made[k]}, expected {exact[k]}"
                    for k in np.flatnonzero(wrong)[:3]
                ]
                compared += int(counts.sum())
    assert not failures, "\n".join(failures)
    assert compared > 40_000


def is_ordinary(x: Any) -> Any:
    return (x == 0) | ((np.abs(x) > 2 * LIMITS.tiny) & (np.abs(x) < LIMITS.max / 2))


def exempt(prop: OperatorProperty, points: Any) -> Any:
    if prop.name not in EXEMPT:
        return np.zeros(points.shape[1], bool)
    numbers = [float(prop.get_params()["scalar"])] if "scalar" in prop.get_params() else []
    return EXEMPT[prop.name](*points, *numbers)
