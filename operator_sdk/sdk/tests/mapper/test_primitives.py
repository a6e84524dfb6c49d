from __future__ import annotations

import numpy as np
import pytest

from operad.operator import Instruction, Result, ScalarForm
from operad_sdk.mapper import mapper
from operad_sdk.mapper.primitives import _MACHINE, PRIMITIVES

NAMED = [name for name in PRIMITIVES if name not in {one.name for one in _MACHINE}]
"""Primitives that a mapper's function may come to; the others are made where a function is expanded."""
VALUES = np.array([-1.5, -0.5, 0.0, 0.5, 1.0, 2.5, np.inf, -np.inf, np.nan], np.float32)


@pytest.mark.walk
@pytest.mark.parametrize("name", NAMED)
def test_a_form_with_a_primitive_is_what_the_primitive_computes(name):
    primitive = PRIMITIVES[name]
    kinds = ["bool" if primitive.takes == "bool" else "real"] * primitive.arity
    if name == "select":
        kinds[0] = "bool"
    columns = [VALUES, VALUES[::-1].copy(), np.roll(VALUES, 3)][: primitive.arity]
    arrays = [each > 0 if kind == "bool" else each for each, kind in zip(columns, kinds, strict=True)]
    loads = [Instruction("input", (), kind, f"x{i}") for i, kind in enumerate(kinds)]
    step = Instruction(name, tuple(range(len(kinds))), primitive.gives)
    form = ScalarForm("f", tuple(f"x{i}" for i in range(len(kinds))), (*loads, step), (Result(len(kinds)),))

    (found,) = form.evaluate(arrays, VALUES.shape)

    with np.errstate(all="ignore"):
        np.testing.assert_array_max_ulp(
            found.astype(np.float32), np.asarray(primitive.evaluate(*arrays), np.float32), 2
        )


@mapper
def limited(x, low):
    return max(min(x, 1.0), low)


def test_pythons_max_and_min_keep_the_first_argument_unless_the_second_compares_better():
    (found,) = limited.form.evaluate([VALUES, np.float32(-1.0)], VALUES.shape)

    expected = [max(min(float(x), 1.0), -1.0) for x in VALUES]
    np.testing.assert_array_equal(found, np.array(expected, np.float32))
