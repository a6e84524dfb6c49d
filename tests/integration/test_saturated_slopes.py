"""Values and slopes of operators of elements in single precision, beside double precision, in all ranges.

What is computed from an output loses its digits where that saturates, though the argument has them all:
`y + 1` of `expm1` from -16 on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd
from operad.operator import OperatorProperty
from tests.integration.element_operators import of_elements

RELATIVE = 2e-5
"""Of values: roundings of an argument, which exponentials magnify by its size, 100 at most."""
READ_THE_OUTPUT = {
    "tanh": "1 - y^2, so that the argument need not be kept",
    "sigmoid": "y (1 - y), so that the argument need not be kept",
    "Activation": "as tanh and sigmoid",
}
"""Slopes whose error is that of 1, 2^-23, and not of the slope: see decision 15."""


def arguments() -> Any:
    sizes = [np.logspace(-37, 37, 200), np.linspace(0.01, 12, 120), np.linspace(12, 120, 60)]
    near_one = [1 + np.logspace(-6, -0.5, 20), 1 - np.logspace(-6, -0.5, 20)]
    positive = np.concatenate([*sizes, *near_one])
    return np.concatenate([positive, -positive, [0.0]]).astype("float32")


def results(prop: OperatorProperty, x: Any, dtype: str) -> list[Any]:
    array = od.nd.array(x[:, None], dtype=dtype)
    array.attach_grad()
    with autograd.record():
        made = od.nd.invoke(prop.name, [array], prop.get_params())
    made = made[0] if isinstance(made, list) else made
    made.backward()
    return [made.asnumpy().ravel(), array.grad.asnumpy().ravel()]


def test_single_precision_keeps_what_the_argument_knows() -> None:
    compared, failures, x = 0, [], arguments()
    with np.errstate(all="ignore"):
        for label, prop in of_elements():
            if len(prop.list_arguments()) != 1 or prop.name.startswith(("_", "Cast")):
                continue
            pairs = zip(results(prop, x, "float32"), results(prop, x, "float64"), strict=True)
            for what, (found, exact) in zip(("value", "slope"), pairs, strict=True):
                # beyond the range there is nothing to keep, and subnormal numbers have few digits
                counts = np.isfinite(exact) & (np.abs(exact) < 3e38)
                absolute = 2.0**-23 if what == "slope" and prop.name in READ_THE_OUTPUT else 1e-37
                if prop.name in (
                    "gamma",
                    "gammaln",
                    "hard_sigmoid",
                ):  # which have zeros, where all digits cancel
                    absolute = 1e-6
                error = np.abs(found.astype("float64") - exact)
                wrong = counts & ~(error <= RELATIVE * np.abs(exact) + absolute)
                failures += [
                    f"{label}: {what} at {x[k]} is {found[k]}, expected {exact[k]}"
                    for k in np.flatnonzero(wrong)[:3]
                ]
                compared += int(counts.sum())
    assert not failures, "\n".join(failures)
    assert compared > 40_000


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 40_000])  # by NumPy, and in vector code
@pytest.mark.parametrize("function", ["sigmoid", "Activation", "LogisticRegressionOutput"])
def test_the_logistic_function_goes_through_subnormal_numbers_to_0(
    function: str, size: int, dtype: str
) -> None:
    beyond = {"float16": 17.5, "float32": 104.5, "float64": 746.0}[dtype]
    x = np.concatenate([-np.linspace(0, 1.02 * beyond, 400), np.linspace(0, 50, 50)]).astype(dtype)
    data = od.nd.array(np.tile(x, -(-size // len(x))), dtype=dtype)
    if function == "sigmoid":
        found = od.nd.sigmoid(data)
    elif function == "Activation":
        found = od.nd.Activation(data, act_type="sigmoid")
    else:
        found = od.nd.LogisticRegressionOutput(data, data)
    wide = x.astype(np.longdouble)
    exact = np.exp(np.minimum(wide, 0)) / (1 + np.exp(-np.abs(wide)))
    error = np.abs(found.asnumpy()[: len(x)].astype(np.longdouble) - exact)
    spacing = np.maximum(np.spacing(exact.astype(dtype)), np.finfo(dtype).smallest_subnormal)
    assert (error <= 4 * spacing).all()
    assert (found.asnumpy()[: len(x)] == 0).sum() < 20
