from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_broadcast.repetition import BroadcastAxis, BroadcastLike, BroadcastTo
from operad_check.testing import check_forward, gradient_check

RNG = np.random.default_rng(37)


@pytest.mark.parametrize(
    ("op", "shape", "params", "out"),
    [
        (BroadcastTo, (1, 3), {"shape": (2, 0)}, (2, 3)),
        (BroadcastTo, (1, 3, 1), {"shape": (2, 3, 4)}, (2, 3, 4)),
        (BroadcastTo, (1, 0), {"shape": (2, 0)}, (2, 0)),
        (BroadcastAxis, (1, 3, 1), {"axis": (0, 2), "size": (2, 3)}, (2, 3, 3)),
        (BroadcastAxis, (2, 1), {"axis": -1, "size": 3}, (2, 3)),
        (BroadcastAxis, (2, 1), {"axis": 1, "size": 0}, (2, 0)),
        (BroadcastAxis, (2, 1), {}, (2, 1)),
    ],
)
def test_repeats(op: Any, shape: Any, params: Any, out: Any) -> None:
    data = RNG.normal(size=shape)
    check_forward(op, [data], np.broadcast_to(data, out), **params)
    gradient_check(op, [data], **params)


@pytest.mark.parametrize(
    ("lhs", "rhs", "params", "out"),
    [
        ((1, 3), (2, 3), {}, (2, 3)),
        ((1, 3), (5, 2), {"lhs_axes": (0,), "rhs_axes": (1,)}, (2, 3)),
        ((1,), (2, 4), {"lhs_axes": (0,), "rhs_axes": (-1,)}, (4,)),
    ],
)
def test_repeats_like_another_array(lhs: Any, rhs: Any, params: Any, out: Any) -> None:
    inputs = [RNG.normal(size=lhs), RNG.normal(size=rhs)]
    check_forward(BroadcastLike, inputs, np.broadcast_to(inputs[0], out), **params)
    gradient_check(BroadcastLike, inputs, **params)
    assert BroadcastLike(**params).differentiable_inputs() == [True, False]


def test_only_the_shape_of_the_other_array_is_read() -> None:
    lhs, rhs = RNG.normal(size=(1, 2)), np.zeros((3, 2), "int32")
    (out,) = check_forward(BroadcastLike, [lhs, rhs], np.broadcast_to(lhs, (3, 2)))
    assert out.dtype == lhs.dtype


@pytest.mark.parametrize(
    ("op", "params", "shapes", "message"),
    [
        (BroadcastTo, {"shape": (2, 3, 3)}, [(1, 3)], "expected 3 axes"),
        (BroadcastTo, {"shape": (2, 3)}, [(1, 2)], "axis 1 is 2, expected 1 or 3"),
        (BroadcastAxis, {"axis": 0, "size": 2}, [(2, 3)], "expected length 1 on axis 0"),
        (BroadcastAxis, {"axis": 2, "size": 2}, [(1, 1)], "axis is 2, expected -2 to 1"),
        (BroadcastLike, {}, [(3,), (2, 3)], "expected 2 axes"),
        (
            BroadcastLike,
            {"lhs_axes": (1,), "rhs_axes": (0,)},
            [(3,), (2, 3)],
            "lhs_axes has 1 and rhs_axes 0",
        ),
    ],
)
def test_what_cannot_be_repeated_is_refused(op: Any, params: Any, shapes: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        op(**params).infer_shape(shapes)


def test_axes_and_lengths_are_as_many() -> None:
    with pytest.raises(ParamError, match="equally many"):
        BroadcastAxis(axis=(0, 1), size=2)
    with pytest.raises(ParamError, match="equally many"):
        BroadcastLike(lhs_axes=(0,), rhs_axes=(0, 1))


def test_axes_of_one_side_alone_say_nothing() -> None:
    assert BroadcastLike(lhs_axes=(0,)).infer_shape([(1, 1), (2, 3)])[1] == [(2, 3)]


def test_unknown_lengths_are_not_guessed() -> None:
    assert BroadcastTo(shape=(2, 0)).infer_shape([(None, None)])[1] == [(2, None)]
    assert BroadcastLike().infer_shape([(1, 2), None])[1] == [None]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("to", {"shape": (2, 0)}),
        ("axis", {"axis": 0, "size": 2}),
        ("axes", {"axis": 0, "size": 2}),
        ("like", {}),
    ],
)
def test_runs_imperatively_and_symbolically(name: str, params: Any) -> None:
    arrays = {"data": od.nd.array([[1, 2, 3]])}
    if name == "like":
        arrays = {"lhs": arrays["data"], "rhs": od.nd.array(np.zeros((2, 3)))}
    eager = getattr(od.nd, f"broadcast_{name}")(*arrays.values(), **params).asnumpy()
    np.testing.assert_array_equal(eager, [[1, 2, 3]] * 2)
    symbol = getattr(od.sym, f"broadcast_{name}")(*map(od.sym.var, arrays), **params)
    np.testing.assert_array_equal(symbol.bind(od.cpu(), arrays).forward()[0].asnumpy(), eager)
