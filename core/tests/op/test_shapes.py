"""What lengths of 0 and -1 mean in shapes that users and files give."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import operad as od
from operad.errors import ShapeError
from operad.op import is_known, is_np_shape, shape_meanings, unify_shapes


def set_np_shape(active: bool) -> bool:
    before, around = shape_meanings.top
    shape_meanings.top = active, around
    return before


@pytest.fixture
def np_shape() -> Iterator[None]:
    before = set_np_shape(True)
    yield
    set_np_shape(before)


def test_zero_is_unknown_unless_shapes_are_numpys() -> None:
    x = od.sym.var("x")
    assert x.infer_shape_partial(x=(0, 3))[0] == [(0, 3)]
    assert x.infer_shape_partial()[0] == [()]
    assert set_np_shape(True) is False
    assert x.infer_shape_partial(x=(0, 3))[0] == [(0, 3)]
    assert x.infer_shape_partial(x=(-1, 3))[0] == [(-1, 3)]
    assert x.infer_shape(x=())[1] == [()]
    assert x.infer_shape_partial()[0] == [None]
    assert set_np_shape(False) is True
    assert x.infer_shape(x=()) == (None, None, None)


@pytest.mark.usefixtures("np_shape")
def test_graphs_of_empty_arrays_and_scalars_are_bound_and_run() -> None:
    for shape in ((0, 3), ()):
        x = od.sym.var("x", shape=shape)
        executor = (x * 2).simple_bind(od.cpu())
        executor.arg_dict["x"][...] = 4.0
        (y,) = executor.forward()
        np.testing.assert_array_equal(y.asnumpy(), np.full(shape, 8.0))


@pytest.mark.usefixtures("np_shape")
def test_attributes_say_which_lengths_are_unknown() -> None:
    x = od.sym.var("x", shape=(-1, 0))
    assert x.attr("__shape__") == "(-1, 0)"
    assert x.infer_shape_partial()[0] == [(-1, 0)]


def test_the_choice_is_the_threads_own() -> None:
    seen = []
    thread = threading.Thread(target=lambda: seen.append((set_np_shape(True), is_np_shape())))
    thread.start()
    thread.join()
    assert (seen, is_np_shape()) == ([(False, True)], False)


SHAPES = st.none() | st.lists(st.none() | st.integers(0, 3), max_size=3).map(tuple)


@given(first=SHAPES, second=SHAPES)
def test_unifying_agrees_with_both_or_raises(first, second):
    try:
        found = unify_shapes(first, second, "x")
    except ShapeError:
        assert first is not None
        assert second is not None
        assert len(first) != len(second) or any(
            None not in {a, b} and a != b for a, b in zip(first, second, strict=True)
        )
        return
    for given_ in (first, second):
        if given_ is not None:
            assert all(a is None or a == b for a, b in zip(given_, found, strict=True))
    assert unify_shapes(found, first, "x") == unify_shapes(second, found, "x") == found


def test_a_clash_names_the_axis():
    with pytest.raises(ShapeError, match=r"w has shape \(2, 3\), expected \(2, 4\): axis 1 is 3, expected 4"):
        unify_shapes((2, 3), (2, 4), "w")
    with pytest.raises(ShapeError, match=r"w has 1 axes \(2,\), expected 2 axes"):
        unify_shapes((2,), (2, 4), "w")


def test_known_shapes_have_every_axis():
    assert is_known(())
    assert is_known((0, 2))
    assert not is_known(None)
    assert not is_known((1, None))
