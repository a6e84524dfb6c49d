"""Kernels keep the sign of -0.0."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk.differentiate import FORM, Node, Traced, form_of
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

SINGLE = np.dtype(np.float32)


def test_constants_below_zero_keep_the_sign_of_nothing():
    def make(builder):
        return builder.select(
            builder.apply("greater", 0, builder.constant(0.0, "real")), 0, builder.constant(-0.0, "real")
        )

    builder, found = Builder("form", ["x"], ["real"]), np.empty(40, np.float32)
    CompiledForm(builder.finish(make(builder)), SINGLE)([-np.ones(40, np.float32)], [found])
    assert np.signbit(found).all()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(7, 16), (300, 77), (5, 1000)])
def test_a_picked_element_keeps_its_sign(shape, axis):
    """Which a sum with 0.0 in the place of others would lose."""
    x, labels = np.full(shape, -0.0, np.float32), np.arange(shape[1 - axis]) % shape[axis]
    x[::2] = [[1.5]]

    def pick(x, labels):
        return x[np.arange(len(labels)), labels] if axis else x[labels, np.arange(len(labels))]

    cells = [Traced(Node(FORM, array, is_input=True)) for array in (x, labels)]
    inputs = [(name, Traced(cell.node)) for name, cell in zip("xl", cells, strict=True)]
    form, _ = form_of("pick", inputs, [("y", pick(*cells))])
    found = np.empty(len(labels), np.float32)
    CompiledForm(form, SINGLE)([x, labels], [found])
    assert found.tobytes() == pick(x, labels).tobytes()
