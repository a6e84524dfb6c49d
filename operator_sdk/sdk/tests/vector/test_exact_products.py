"""Products with powers of two, fused with sums where a form adds up elements."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm
from operad_sdk.vector.exact_products import with_exact_products_fused
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

SINGLE = np.dtype(np.float32)


def form_of(make, reduces=False):
    builder = Builder("form", ("x", "y"))
    made = make(builder)
    return builder.finish(builder.over_axes("sum", made, [-1]) if reduces else made)


def chosen_power(b):
    return b.select(b.apply("less", 1, b.constant(0)), b.constant(0.25), b.constant(2.0**40))


FUSED = {
    "difference": lambda b: b.apply("subtract", b.apply("multiply", 0, b.constant(0.25)), 1),
    "sum": lambda b: b.apply("add", 1, b.apply("multiply", b.constant(-8), 0)),
    "chosen": lambda b: b.apply("subtract", b.apply("multiply", 0, chosen_power(b)), 1),
}
LEFT = {
    "no power": lambda b: b.apply("subtract", b.apply("multiply", 0, b.constant(0.3)), 1),
    "no constant": lambda b: b.apply("add", b.apply("multiply", 0, 1), 1),
    "what is subtracted": lambda b: b.apply("subtract", 1, b.apply("multiply", 0, b.constant(0.25))),
}


@pytest.mark.parametrize("name", FUSED)
def test_fused_products_have_the_bits_of_two_instructions(name):
    form = with_exact_products_fused(form_of(FUSED[name]))
    assert "fma" in {step.op for step in form.instructions}
    rng = np.random.default_rng(0)
    x, y = (
        rng.standard_normal(1000).astype(SINGLE) * 10.0 ** rng.integers(-9, 9, 1000).astype("f") for _ in "ab"
    )
    found = np.empty_like(x)
    CompiledForm(form, SINGLE)([x, y], [found])
    np.testing.assert_array_equal(found, form_of(FUSED[name]).evaluate([x, y], x.shape)[0])


@pytest.mark.parametrize("name", LEFT)
def test_other_products_are_left(name):
    form = form_of(LEFT[name])
    assert with_exact_products_fused(form) == form


@pytest.mark.parametrize("reduces", [False, True])
def test_only_forms_that_add_up_elements_are_fused(reduces):
    """Without sums results are NumPy's, also where a product leaves the range and a difference does not."""
    kernel = CompiledForm(form_of(FUSED["chosen"], reduces), SINGLE)
    assert kernel.fuses is reduces
    x, y = np.full((1, 40), 3.5e38 / 2**40, SINGLE), np.full((1, 40), 3e38, SINGLE)
    found = np.empty((1, 1 if reduces else 40), SINGLE)
    kernel([x[:, :1] if reduces else x, y[:, :1] if reduces else y], [found])
    assert np.isinf(found).all() == (not reduces)
