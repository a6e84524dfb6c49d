"""Inference where axes of the data, or its whole shape, are unknown."""

from __future__ import annotations

from typing import Any

import pytest

import operad_shape as shape
from operad.errors import ShapeError
from operad.operator import OperatorProperty

PARTLY: list[tuple[OperatorProperty, Any, Any]] = [
    (shape.transpose(axes=(0, 2, 1)), (2, None, 4), (2, 4, None)),
    (shape.transpose(), (None, 3), (3, None)),
    (shape.SwapAxis(dim1=0, dim2=-1), (None, 3, 4), (4, 3, None)),
    (shape.reverse(axis=(0,)), (None, 3), (None, 3)),
    (shape.expand_dims(axis=-1), (None, 3), (None, 3, 1)),
    (shape.SliceChannel(num_outputs=2, axis=1), (None, 4), (None, 2)),
    (shape.SliceChannel(num_outputs=4, axis=1, squeeze_axis=True), (None, 4, 5), (None, 5)),
    (shape.slice_(begin=(None, 1), end=(None, 2)), (None, 3, 4), (None, None, 4)),
    (shape.slice_(begin=(0,), end=(None,), step=(-1,)), (2, None), (None, None)),
    (shape.slice_axis(axis=1, begin=0, end=2), (None, 3), (None, None)),
]


@pytest.mark.parametrize(("op", "data", "output"), PARTLY)
def test_known_axes_of_the_data_are_known_in_the_outputs(op: Any, data: Any, output: Any) -> None:
    assert op.infer_shape([data])[1] == [output] * len(op.list_outputs())


BACKWARD: list[tuple[OperatorProperty, Any, Any, Any]] = [
    (shape.transpose(axes=(0, 2, 1)), None, (2, 4, 3), (2, 3, 4)),
    (shape.SwapAxis(dim1=0, dim2=1), (None, 3), (3, 7), (7, 3)),
    (shape.reverse(axis=(0,)), None, (2, 3), (2, 3)),
    (shape.expand_dims(axis=1), None, (2, 1, 3), (2, 3)),
    (shape.expand_dims(axis=0), (None, 3), (1, 2, 3), (2, 3)),
    (shape.expand_dims(axis=0), None, (1,), ()),
    (shape.SliceChannel(num_outputs=2, axis=1), None, (6, 2), (6, 4)),
    (shape.SliceChannel(num_outputs=2, axis=1, squeeze_axis=True), None, (6, 5), (6, 2, 5)),
    (shape.slice_(begin=(None, 1), end=(None, 2)), (None, 3), (6, 1), (6, 3)),
    (shape.slice_(begin=(2,), end=(4,)), (None, 3), (2, 3), (None, 3)),
    (shape.slice_axis(axis=-1, begin=0, end=2), (None, 4), (6, 2), (6, 4)),
    (shape.slice_axis(axis=0, begin=0, end=None), None, (6, 2), (6, 2)),
    (shape.Reshape(shape=(-1, 1)), (None, 3), (6, 1), (2, 3)),
    (shape.Reshape(shape=(0, 3, 1)), (None, 3), (6, 3, 1), (6, 3)),
    (shape.Reshape(shape=(-1,)), (None, None), (6,), (None, None)),
    (shape.Reshape(shape=(-1,)), None, (6,), None),
    (shape.squeeze(axis=(1,)), (None, 1), (4,), (4, 1)),
    (shape.Reshape(shape=(-1,)), (None, 0), (0,), (None, 0)),
]


@pytest.mark.parametrize(("op", "data", "output", "expected"), BACKWARD)
def test_what_the_outputs_say_of_the_data_is_learnt(op: Any, data: Any, output: Any, expected: Any) -> None:
    assert op.infer_shape_backward([data], [output] * len(op.list_outputs())) == [expected]


def test_every_part_says_something_of_the_data() -> None:
    op = shape.SliceChannel(num_outputs=2, axis=1)
    assert op.infer_shape_backward([None], [(6, None), (None, 2)]) == [(6, 4)]


def test_outputs_that_contradict_the_data_are_refused() -> None:
    with pytest.raises(ShapeError, match="transpose: data has shape"):
        shape.transpose().infer_shape_backward([(2, None)], [(3, 4)])


@pytest.mark.parametrize("codes", [(-1, -1), (-4, -1, -1), (-5,), (-1, -3), (-3, -3)])
def test_codes_that_contradict_each_other_or_the_data_are_refused(codes: Any) -> None:
    with pytest.raises(ShapeError, match="Reshape: "):
        shape.Reshape(shape=codes).infer_shape([(2, 3)])
