"""Forms of functions that decide by numbers: each is used for the calls that decide alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from operad_sdk.differentiate import BranchForms, TraceError


def step(x, y, out, rate, bound, count):
    """Decides three times, once by what it computed."""
    scale = 2 * rate
    y *= 1 - rate
    if scale != 1:
        x = scale * x
    if bound >= 0:
        x = np.clip(x, -bound, abs(bound))
    np.subtract(x, y, out=out)
    if np.isfinite(rate) and count > 1:
        out /= np.float_power(rate, count).item()
        out *= 1 - rate


def evaluated(forms, arrays, numbers):
    """What the form of a call computes in the arrays' places."""
    found, given = forms(*numbers)
    values = [arrays[i] for i in found.read] + [np.asarray(one, arrays[0].dtype) for one in given]
    results = found.form.evaluate(values, arrays[0].shape)
    for position, result in zip(found.written, results, strict=True):
        arrays[position] = result
    return found


def expect_same(forms, numbers, dtype="float32"):
    rng = np.random.default_rng(1)
    ours = [rng.standard_normal((4, 5)).astype(dtype) for _ in range(3)]
    theirs = [array.copy() for array in ours]
    found = evaluated(forms, ours, numbers)
    with np.errstate(all="ignore"):
        step(*theirs, *numbers)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    return found


def forms():
    return BranchForms(step, ["x", "y", "out"], ["rate", "bound", "count"])


def test_calls_that_decide_alike_have_one_form():
    made = forms()
    numbers = {expect_same(made, given).number for given in ((0.1, 1.0, 1), (0.3, 0.0, 1), (-7.0, 9.0, 1))}
    assert len(numbers) == 1


def test_every_way_through_it_has_a_form_of_its_own():
    made = forms()
    ways = [
        (rate, bound, count) for rate in (0.1, 0.5, math.inf) for bound in (-1.0, 1.0) for count in (1, 3)
    ]
    for given in [*ways, *reversed(ways)]:
        expect_same(made, given)
    # Of an infinite rate the count is not asked.
    assert len({made(*given)[0].number for given in ways}) == 10


@pytest.mark.parametrize("first", [0.5, 0.25])
def test_a_scale_that_is_1_by_chance_is_no_rule_for_others(first):
    made = forms()
    for rate in (first, 0.5, 0.25, 1.0):
        expect_same(made, (rate, -1.0, 1))


def test_nan_decides_as_it_does_in_the_function():
    made = forms()
    for given in ((math.nan, math.nan, 2), (0.5, math.nan, 2), (math.nan, 1.0, 2)):
        expect_same(made, given)


def test_numbers_meet_numbers_in_double_precision():
    made = forms()
    _, given = made(1 / 3, 0.7, 2)
    assert len(given) == 5  # each once
    assert set(given) == {1 - 1 / 3, 2 * (1 / 3), -0.7, 0.7, (1 / 3) ** 2}


def test_forms_are_for_either_type():
    expect_same(forms(), (0.1, 1.0, 2), "float64")


def test_arrays_that_nothing_reads_or_writes_are_no_part_of_it():
    def copy(x, y, out, rate):
        out[...] = x if rate else y

    made = BranchForms(copy, ["x", "y", "out"], ["rate"])
    for rate, read in ((1.0, [0]), (0.0, [1]), (math.nan, [0])):
        found, given = made(rate)
        assert (found.read, found.written, given) == (read, [2], ())


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x, out, rate: np.multiply(x, float(rate), out=out),
            "makes a Python number of one that changes",
        ),
        (lambda x, out, rate: np.multiply(x, np.asarray(rate), out=out), "makes an array of a number"),
        (lambda x, out, rate: np.add(x, x.sum(), out=out) if x[0, 0] > rate else None, "whose values a form"),
        (lambda x, out, rate: np.add(x, np.sort(x), out=out), "sort"),
    ],
)
def test_what_is_no_function_of_elements_and_numbers_is_refused(function, message):
    with pytest.raises(TraceError, match=message):
        BranchForms(function, ["x", "out"], ["rate"])(0.5)


def test_infinite_constants_and_reflected_operations():
    def least(x, out, rate):
        np.minimum(x, (1 / rate) ** 2 - (3 - rate) + (0.0 if rate < float("inf") * 1 else 1.0), out=out)

    made = BranchForms(least, ["x", "out"], ["rate"])
    x = np.linspace(-9, 9, 20, dtype="f").reshape(4, 5)
    for rate in (0.5, 2.0, math.inf):
        found, given = made(rate)
        (result,) = found.form.evaluate([x, *[np.float32(one) for one in given]], x.shape)
        expected = np.empty_like(x)
        least(x, expected, rate)
        np.testing.assert_array_equal(result, expected)
