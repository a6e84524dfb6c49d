from __future__ import annotations

import math

import numpy as np
import pytest

from operad.op import Instruction, Result, ScalarForm, function_of_elements


def form(*steps, results, inputs=("a",)):
    loads = [Instruction("input", (), "real", name) for name in inputs]
    return ScalarForm("f", tuple(inputs), (*loads, *steps), tuple(results))


def doubled(number, name="f"):
    steps = (Instruction("input", (), "real", "a"), Instruction("constant", (), "real", number))
    return ScalarForm(name, ("a",), (*steps, Instruction("multiply", (0, 1), "real")), (Result(2, "b"),))


def test_forms_that_compute_the_same_are_equal_whatever_they_are_called():
    assert doubled(2.0) == doubled(2.0, "g")
    assert len({doubled(2.0), doubled(2.0, "g")}) == 1


def test_constants_tell_forms_apart_as_numbers_do_not():
    assert len({doubled(number) for number in (0.0, -0.0, 1.0, math.nan, float("nan"))}) == 4


def test_several_results_come_in_order():
    both = form(
        Instruction("exp", (0,), "real"),
        Instruction("negative", (0,), "real"),
        results=[Result(1), Result(2)],
    )
    found = both.evaluate([np.array([0.0, 1.0])], (2,))
    np.testing.assert_array_equal(found, [[1.0, math.e], [-0.0, -1.0]])


def test_real_is_the_type_of_the_arrays_and_other_kinds_are_themselves():
    step = form(
        Instruction("constant", (), "real", 0.1),
        Instruction("add", (0, 1), "real"),
        Instruction("cast", (2,), "float64"),
        Instruction("cast", (2,), "int32"),
        results=[Result(2), Result(3), Result(4)],
    )
    single = step.evaluate([np.ones(3, np.float32)], (3,))
    assert [value.dtype for value in single] == [np.float32, np.float64, np.int32]
    assert single[0][0] == np.float32(1) + np.float32(0.1)
    assert step.evaluate([np.ones(3)], (3,))[0][0] == 1.1


def test_rows_are_reduced_over_the_last_axis_and_repeated_again():
    softmax = form(
        Instruction("max", (0,), "real"),
        Instruction("subtract", (0, 1), "real"),
        Instruction("exp", (2,), "real"),
        Instruction("sum", (3,), "real"),
        Instruction("divide", (3, 4), "real"),
        Instruction("length", (), "real", 1),
        results=[Result(5), Result(4, axes=(0,)), Result(4, axes=(0, None)), Result(6)],
    )
    x = np.random.default_rng(0).normal(size=(3, 4))
    powers = np.exp(x - x.max(1, keepdims=True))
    found = softmax.evaluate([x], (3, 4))
    np.testing.assert_array_equal(found[0], powers / powers.sum(1, keepdims=True))
    np.testing.assert_array_equal(found[1], powers.sum(1))
    assert found[2].shape == (3, 1)
    np.testing.assert_array_equal(found[3], np.full((3, 4), 4.0))


def test_a_value_for_each_row_counts_once_for_each_element_of_the_row():
    summed = form(Instruction("sum", (0,), "real"), results=[Result(1, axes=(0,))])
    np.testing.assert_array_equal(summed.evaluate([np.ones((2, 1))], (2, 5)), [[5.0, 5.0]])


def test_the_sum_of_an_empty_row_is_zero():
    summed = form(Instruction("sum", (0,), "real"), results=[Result(1, axes=(None,))])
    np.testing.assert_array_equal(summed.evaluate([np.ones(0)], (0,)), [[0.0]])


@pytest.mark.parametrize("axes", [(1,), (2, 0), (0, None, 2), (None, 1)])
def test_an_input_lies_in_the_space_along_its_axes(axes):
    space = (2, 3, 4)
    shape = [1 if axis is None else space[axis] for axis in axes]
    array = np.arange(math.prod(shape), dtype=float).reshape(shape)
    load = ScalarForm("f", ("a",), (Instruction("input", (), "real", "a", axes),), (Result(0),))
    (found,) = load.evaluate([array], space)
    for place in np.ndindex(space):
        assert found[place] == array[tuple(0 if axis is None else place[axis] for axis in axes)]
    back = ScalarForm("f", ("a",), load.instructions, (Result(0, axes=axes),))
    np.testing.assert_array_equal(back.evaluate([array], space)[0], array)


def product(x_axes=None, y_axes=None, axes=None):
    """`x * y`, as they lie in the space."""
    steps = (
        Instruction("input", (), "real", "x", x_axes),
        Instruction("input", (), "real", "y", y_axes),
        Instruction("multiply", (0, 1), "real"),
    )
    return ScalarForm("f", ("x", "y"), steps, (Result(2, "z", axes),))


def test_the_space_is_what_inputs_and_results_broadcast_to():
    assert product().space({"x": (3, 5), "y": (5,), "z": (3, 5)}) == (3, 5)
    assert product().space({"x": (3, 1), "y": (1, 5)}) == (3, 5)
    assert product((1,), (0,), (1, 0)).space({"x": (5,), "y": (3,), "z": (5, 3)}) == (3, 5)
    assert product(None, (0, None)).space({"x": (5,), "y": (3, 1), "z": (3, 5)}) == (3, 5)
    assert product().space({"x": (0,), "y": (2, 1)}) == (2, 0)


def test_what_no_result_depends_on_is_not_in_the_space():
    unread = form(results=[Result(0, "z")], inputs=("x", "y"))
    assert unread.space({"x": (3, 1), "y": (3, 5), "z": (3, 1)}) == (3, 1)


@pytest.mark.parametrize(
    ("over", "result", "axis"), [((-2,), (1,), 0), ((-3, -1), (1,), (0, 2)), ((-2, -1), (0, None), (1, 2))]
)
def test_a_reduction_goes_over_the_axes_that_it_names(over, result, axis):
    step = Instruction("sum", (0,), "real", axes=over)
    space = (3, 4) if over == (-2,) else (2, 3, 4)
    x = np.random.default_rng(0).normal(size=space)
    (found,) = form(step, results=[Result(1, axes=result)]).evaluate([x], space)
    np.testing.assert_array_equal(found, x.sum(axis).reshape(found.shape))


def test_inputs_that_no_result_depends_on_are_told():
    assert form(results=[Result(1)], inputs=("a", "b")).inputs_read == ("b",)


def test_the_text_names_inputs_kinds_axes_and_results():
    load = Instruction("input", (), "int32", "a", (1,))
    steps = (load, Instruction("cast", (0,), "real"))
    assert ScalarForm("f", ("a",), steps, (Result(1, "b", (0, 1)),)).text().splitlines() == [
        "f(a)",
        "a: int32 along axes (1,)",
        "v1: real = cast a",
        "b along axes (0, 1) = v1",
    ]


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        ("gamma", 0.0, math.inf),
        ("gamma", -0.0, -math.inf),
        ("gamma", -1.0, math.nan),
        ("gamma", 200.0, math.inf),
        ("lgamma", -2.0, math.inf),
        ("erf", 0.5, math.erf(0.5)),
        ("erfc", 30.0, 0.0),
    ],
)
def test_functions_that_numpy_lacks_have_values_at_poles(op, x, expected):
    found = function_of_elements(op)(np.array([x]))
    np.testing.assert_allclose(found, [expected], rtol=1e-15, atol=1e-300)
    assert function_of_elements(op)(np.array([[x]], np.float32)).dtype == np.float32


def test_inputs_that_are_read_are_found_once_per_form():
    both = form(Instruction("negative", (1,), "real"), results=[Result(2)], inputs=("a", "b"))
    assert both.inputs_read == ("b",)
    assert both.inputs_read is both.inputs_read
