from __future__ import annotations

import math

import numpy as np
import pytest

from operad_sdk.mapper import Mapper, MapperError
from operad_sdk.mapper.builder import MAX_INSTRUCTIONS, Builder


def test_text_tells_forms_apart_by_every_constant_and_operand():
    texts = set()
    for number in (0.0, -0.0, math.nan, 1.5):
        for order in ((0, 1), (1, 0)):
            builder = Builder("f", ["a", "b"])
            scaled = builder.apply("multiply", builder.apply("subtract", *order), builder.constant(number))
            texts.add(builder.finish(scaled).text())
    assert len(texts) == 8


def test_unneeded_values_are_dropped_and_inputs_stay():
    builder = Builder("f", ["a", "b"])
    builder.apply("exp", 0)
    form = builder.finish(builder.apply("sin", 1))
    assert [step.op for step in form.instructions] == ["input", "input", "sin"]
    assert form.inputs_read == ("b",)


@pytest.mark.parametrize(
    ("op", "number"),
    [("multiply", 1), ("divide", 1), ("power", 1), ("multiply", 0), ("add", 0), ("subtract", 0)],
)
def test_shortening_keeps_nan_infinities_and_signed_zeros(op, number):
    builder = Builder("f", ["a"])
    shortened = Mapper(builder.finish(builder.apply(op, 0, builder.constant(number)))).backend("numpy")
    x = np.array([math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, -2.5])
    with np.errstate(all="ignore"):
        expected = getattr(np, op)(x, number)
    found = shortened.map(x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[1:]), np.signbit(expected[1:]))


def test_logic_on_constants_is_decided_at_once():
    builder = Builder("f", ["a"])
    truth = builder.apply("less", 0, builder.constant(1))
    yes, no = builder.constant(True), builder.constant(False)
    assert builder.apply("logical_and", truth, yes) == truth
    assert builder.apply("logical_and", no, truth) == no
    assert builder.apply("logical_or", truth, no) == truth
    assert builder.apply("logical_or", yes, truth) == yes
    assert builder.apply("logical_not", yes) == no
    assert builder.select(yes, 0, truth) == 0


def test_form_that_grows_without_bound_is_refused():
    builder = Builder("tower", ["a"])
    value = 0
    for _ in range(MAX_INSTRUCTIONS - 1):
        value = builder.apply("sin", value)
    with pytest.raises(MapperError, match=f"'tower' grows beyond {MAX_INSTRUCTIONS} operations"):
        builder.apply("sin", value)


def test_values_that_are_no_real_numbers_are_no_constants():
    builder = Builder("f", ["a"])
    for wrong in (1j, "1", None, np.float32(1)):
        with pytest.raises(MapperError, match="is no real number"):
            builder.constant(wrong)
