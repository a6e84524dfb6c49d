"""Inference where axes of the data, or its whole shape, are unknown."""

from __future__ import annotations

from typing import Any

import pytest

from operad.errors import ShapeError
from operad.operator import OperatorProperty
from operad_shape import permute, reshape, slicing, split

PARTLY: list[tuple[OperatorProperty, Any, Any]] = [
    (permute.transpose(axes=(0, 2, 1)), (2, None, 4), (2, 4, None)),
    (permute.transpose(), (None, 3), (3, None)),
    (permute.SwapAxis(dim1=0, dim2=-1), (None, 3, 4), (4, 3, None)),
    (permute.reverse(axis=(0,)), (None, 3), (None, 3)),
    (reshape.expand_dims(axis=-1), (None, 3), (None, 3, 1)),
    (split.SliceChannel(num_outputs=2, axis=1), (None, 4), (None, 2)),
    (split.SliceChannel(num_outputs=4, axis=1, squeeze_axis=True), (None, 4, 5), (None, 5)),
    (slicing.slice_(begin=(None, 1), end=(None, 2)), (None, 3, 4), (None, None, 4)),
    (slicing.slice_(begin=(0,), end=(None,), step=(-1,)), (2, None), (None, None)),
    (slicing.slice_axis(axis=1, begin=0, end=2), (None, 3), (None, None)),
]


@pytest.mark.parametrize(("op", "data", "output"), PARTLY)
def test_known_axes_of_the_data_are_known_in_the_outputs(op: Any, data: Any, output: Any) -> None:
    assert op.infer_shape([data])[1] == [output] * len(op.list_outputs())


BACKWARD: list[tuple[OperatorProperty, Any, Any, Any]] = [
    (permute.transpose(axes=(0, 2, 1)), None, (2, 4, 3), (2, 3, 4)),
    (permute.SwapAxis(dim1=0, dim2=1), (None, 3), (3, 7), (7, 3)),
    (permute.reverse(axis=(0,)), None, (2, 3), (2, 3)),
    (reshape.expand_dims(axis=1), None, (2, 1, 3), (2, 3)),
    (reshape.expand_dims(axis=0), (None, 3), (1, 2, 3), (2, 3)),
    (reshape.expand_dims(axis=0), None, (1,), ()),
    (split.SliceChannel(num_outputs=2, axis=1), None, (6, 2), (6, 4)),
    (split.SliceChannel(num_outputs=2, axis=1, squeeze_axis=True), None, (6, 5), (6, 2, 5)),
    (slicing.slice_(begin=(None, 1), end=(None, 2)), (None, 3), (6, 1), (6, 3)),
    (slicing.slice_(begin=(2,), end=(4,)), (None, 3), (2, 3), (None, 3)),
    (slicing.slice_axis(axis=-1, begin=0, end=2), (None, 4), (6, 2), (6, 4)),
    (slicing.slice_axis(axis=0, begin=0, end=None), None, (6, 2), (6, 2)),
    (reshape.Reshape(shape=(-1, 1)), (None, 3), (6, 1), (2, 3)),
    (reshape.Reshape(shape=(0, 3, 1)), (None, 3), (6, 3, 1), (6, 3)),
    (reshape.Reshape(shape=(-1,)), (None, None), (6,), (None, None)),
    (reshape.Reshape(shape=(-1,)), None, (6,), None),
    (reshape.squeeze(axis=(1,)), (None, 1), (4,), (4, 1)),
    (reshape.Reshape(shape=(-1,)), (None, 0), (0,), (None, 0)),
]


@pytest.mark.parametrize(("op", "data", "output", "expected"), BACKWARD)
def test_what_the_outputs_say_of_the_data_is_learnt(op: Any, data: Any, output: Any, expected: Any) -> None:
    assert op.infer_shape_backward([data], [output] * len(op.list_outputs())) == [expected]


def test_every_part_says_something_of_the_data() -> None:
    op = split.SliceChannel(num_outputs=2, axis=1)
    assert op.infer_shape_backward([None], [(6, None), (None, 2)]) == [(6, 4)]


def test_outputs_that_contradict_the_data_are_refused() -> None:
    with pytest.raises(ShapeError, match="transpose: data has shape"):
        permute.transpose().infer_shape_backward([(2, None)], [(3, 4)])


@pytest.mark.parametrize("codes", [(-1, -1), (-4, -1, -1), (-5,), (-1, -3), (-3, -3)])
def test_codes_that_contradict_each_other_or_the_data_are_refused(codes: Any) -> None:
    with pytest.raises(ShapeError, match="Reshape: "):
        reshape.Reshape(shape=codes).infer_shape([(2, 3)])
