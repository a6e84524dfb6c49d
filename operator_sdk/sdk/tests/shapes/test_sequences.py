"""Functions of whole sequences: what broadcasting, reducing and an operator's own functions give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.errors import ShapeError
from operad_sdk.errors import SpecError
from operad_sdk.shapes import bind, parse
from operad_sdk.shapes.expressions import broadcast, reduced, reduced_axes

LENGTHS = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def output(line: str, *shapes: Any, **values: Any) -> Any:
    return bind(parse(line), "tried", values).infer_shape(list(shapes))[1][0]


@given(LENGTHS, LENGTHS)
def test_broadcast_is_numpys(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(first, second)
    except ValueError:
        with pytest.raises(ShapeError, match="do not broadcast"):
            broadcast(first, second)
    else:
        assert broadcast(first, second) == expected


@given(LENGTHS, st.data(), st.booleans())
def test_reduced_is_the_shape_of_a_sum(shape: tuple[int, ...], data: Any, keepdims: bool) -> None:
    ndim = len(shape)
    axes = tuple(data.draw(st.lists(st.sampled_from(range(ndim)), unique=True)) if ndim else ())
    summed = np.zeros(shape).sum(axis=axes or None, keepdims=keepdims).shape
    assert reduced(shape, axes, keepdims) == (summed if keepdims else summed or (1,))


def test_excluded_axes_are_the_others() -> None:
    assert reduced_axes(4, (1, -1), exclude=True) == (0, 2)
    assert reduced((2, 3, 4), 1, exclude=True) == (3,)


@pytest.mark.parametrize("axis", [None, ()])
def test_all_axes_are_reduced_where_none_is_named_also_if_that_excludes_them(axis: Any) -> None:
    assert reduced((2, 3, 4), axis, exclude=True) == (1,)


@pytest.mark.parametrize(("shape", "left"), [((None, 3), (3,)), ((3, None), (None,))])
def test_lengths_that_are_not_reduced_may_be_unknown(shape: Any, left: Any) -> None:
    assert output("data:(*S) -> output:(*reduced(S, axis))", shape, axis=0) == left


def test_an_unknown_length_that_is_left_is_not_solved_for() -> None:
    found = bind(parse("data:(*S) -> output:(*reduced(S, axis))"), "tried", {"axis": (0,)})
    assert found.infer_shape_backward([(3, None)], [(4,)]) == [(3, None)]


@pytest.mark.parametrize(("axis", "words"), [(3, "axis is 3, expected -3 to 2"), ((0, -3), "an axis twice")])
def test_an_axis_that_is_not_there_or_twice_is_named(axis: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        reduced((2, 3, 4), axis)


@pytest.mark.parametrize("shapes", [((2, 3), None), (None, None), ((2, None), (2, 3))])
def test_nothing_is_guessed_of_a_sequence_that_is_not_known(shapes: Any) -> None:
    assert output("lhs:(*A), rhs:(*B) -> output:(*broadcast(A, B))", *shapes) is None


def test_a_parameter_that_is_none_is_a_value() -> None:
    assert output("data:(*S) -> output:(*reduced(S, axis))", (2, 3), axis=None) == (1,)


def test_none_in_a_parameter_is_a_value() -> None:
    def cut(shape: Any, end: Any) -> Any:
        return tuple(n if last is None else last for n, last in zip(shape, end, strict=True))

    assert output("data:(*S) -> output:(*cut(S, end))", (4, 5), end=(None, 2), cut=cut) == (4, 2)
    assert output("data:(*S) -> output:(*cut(S, end))", (4, None), end=(None, 2), cut=cut) is None


def test_an_operators_own_function_may_give_any_part_of_a_shape() -> None:
    line = "data:(N, *S) -> output:(N, *doubled(S), 7)"
    assert output(line, (4, 2, 3), doubled=lambda shape: tuple(2 * n for n in shape)) == (4, 4, 6, 7)


def test_a_function_that_nobody_gave_is_named() -> None:
    with pytest.raises(SpecError, match="calls 'doubled', which is no function"):
        bind(parse("data:(*S) -> output:(*doubled(S))"), "tried", {})


def test_each_of_a_group_may_have_a_shape_of_its_own() -> None:
    def stacked(shapes: Any) -> Any:
        return (sum(shape[0] for shape in shapes),)

    line = "arg[n]:(*S[i]) -> output:(*stacked(S))"
    assert output(line, (2, 9), (3,), n=2, stacked=stacked) == (5,)
    assert output(line, (2, 9), None, n=2, stacked=stacked) is None
    found = bind(parse(line), "tried", {"n": 2, "stacked": stacked})
    assert found.groups == {"arg": ("arg0", "arg1")}


def test_what_a_known_output_contradicts_is_refused() -> None:
    found = bind(parse("data:(*S) -> output:(*reduced(S, axis))"), "tried", {"axis": (0,)})
    with pytest.raises(ShapeError, match="output has shape"):
        found.infer_shape_backward([(2, 3)], [(4,)])


def test_each_of_a_group_may_use_its_number() -> None:
    line = "data:(N) -> output[2]:(*part(N, i))"
    found = bind(parse(line), "tried", {"part": lambda n, i: (n - i,)})
    assert found.infer_shape([(5,)])[1] == [(5,), (4,)]


def test_an_error_of_a_function_begins_with_the_operators_name() -> None:
    with pytest.raises(ShapeError, match=r"^tried: axis is 3, expected"):
        output("data:(*S) -> output:(*reduced(S, axis))", (2, 3), axis=3)
