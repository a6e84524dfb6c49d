"""Derivatives of operators of elements where their gradients branch.

A gradient that guards a point, by `where(b == 0, ...)`, say, is differentiated as it is written: the guard's
branch, and not the function. So derivatives are compared with differences at the numbers with which scalar
forms compare, which tracing finds, at 0, at 1, and at pairs of them for two arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd
from operad.errors import OperadError
from operad.operator import OperatorProperty, ScalarForm
from tests.integration.element_operators import of_elements
from tools.scalar_forms import SHAPE

ORDINARY = (-1.7, -1.0, -0.5, 0.0, 0.5, 0.7, 1.0, 1.3, 2.0, 2.5)
COMPARISONS = (
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "larger",
    "smaller",
)  # fmt: skip
STEP = 1e-3
NOT_THE_DERIVATIVE = {
    "_mod": "by 0 it is 0, and its gradient MXNet's",
    "broadcast_mod": "by 0 it is 0, and its gradient MXNet's",
    "_rmod_scalar": "by 0 it is 0, and its gradient MXNet's",
    "clip": "between bounds that are equal the slope is 1",
}


def turning_points(prop: OperatorProperty) -> set[float]:
    """Numbers that the forms of an operator compare with."""
    count = len(prop.list_arguments())
    found = set(ORDINARY)
    for part in prop.list_parts():
        form = prop.scalar_form(part, [SHAPE] * count, [np.dtype("float64")] * count)
        assert isinstance(form, ScalarForm)
        steps = form.instructions
        compared = [steps[i] for step in steps if step.op in COMPARISONS for i in step.args]
        found |= {float(step.value) for step in compared if step.op == "constant" and np.isfinite(step.value)}
    return found


def derivatives(prop: OperatorProperty, points: Sequence[Any], second: bool) -> tuple[Any, Any, Any]:
    """Values, first derivatives, and, where there are, second ones, `[i][j]`, at each point."""
    xs = [od.nd.array(array, dtype="float64") for array in points]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        made = od.nd.invoke(prop.name, xs, prop.get_params())
        made = made[0] if isinstance(made, list) else made
        first = autograd.grad(made, xs, create_graph=second)
        again = [autograd.grad(each, xs, retain_graph=True) for each in first] if second else []
    return (
        made.asnumpy(),
        [each.asnumpy() for each in first],
        [[each.asnumpy() for each in row] for row in again],
    )


def slopes(function: Any, points: Sequence[Any], place: int) -> tuple[Any, Any]:
    """Derivatives of some arrays along one argument, by differences, and where they have one."""

    def one_sided(step: float) -> Any:
        at = [function([x + k * step * (i == place) for i, x in enumerate(points)]) for k in range(4)]
        return [(-11 * a + 18 * b - 9 * c + 2 * d) / (6 * step) for a, b, c, d in zip(*at, strict=True)]

    found = [np.array(one_sided(step)) for step in (STEP, -STEP, STEP / 2, -STEP / 2)]
    is_smooth = np.isfinite(found).all(0) & (np.ptp(found, 0) <= 2e-4 * (1 + np.abs(found[0])))
    return found[0], is_smooth


@pytest.mark.slow
def test_first_and_second_derivatives_are_right_where_gradients_branch() -> None:
    compared, failures = 0, []
    with np.errstate(all="ignore"):
        for label, prop in of_elements():
            count = len(prop.list_arguments())
            grid = np.array(list(product(sorted(turning_points(prop)), repeat=count))).T
            try:
                _, first, second = derivatives(prop, grid, second=True)
            except OperadError:
                continue  # it says so; tests/conformance has the list
            for j in range(count):
                found, is_smooth = slopes(lambda x, p=prop: [derivatives(p, x, False)[0]], grid, j)
                if prop.name not in NOT_THE_DERIVATIVE:
                    failures += misses(f"{label}: d{j}", first[j], found[0], is_smooth[0], grid)
                found, is_smooth = slopes(lambda x, p=prop: derivatives(p, x, False)[1], grid, j)
                for i in range(count):
                    held = is_smooth[i] & np.isfinite(first[i])
                    failures += misses(f"{label}: d{i}{j}", second[i][j], found[i], held, grid)
                    compared += int(held.sum())
    assert not failures, "\n".join(failures)
    assert compared > 3000


def misses(what: str, found: Any, expected: Any, is_smooth: Any, points: Any) -> list[str]:
    wrong = is_smooth & ~(np.abs(found - expected) <= 1e-3 * (1 + np.abs(expected)))
    return [
        f"{what} at {points[:, k]} is {found[k]}, expected {expected[k]}" for k in np.flatnonzero(wrong)[:3]
    ]
