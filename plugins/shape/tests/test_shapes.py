"""Inference, errors, and the operators through arrays and symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError, ShapeError
from operad_shape import columns, diagonal, join, padding, permute, repeating, reshape, slicing, split

ERRORS: list[tuple[Any, dict[str, Any], list[Any], str]] = [
    (reshape.Reshape, {"shape": (5, -1)}, [(2, 3)], "no length of the open axis"),
    (reshape.Reshape, {"target_shape": (1, 1)}, [(2,)], "does not fit target_shape=(1, 1)"),
    (reshape.Reshape, {"target_shape": (1, 1), "keep_highest": True}, [()], "data has no axes"),
    (reshape.Reshape, {"shape": (7,)}, [(2, 3)], "data has shape (2, 3) with 6 elements"),
    (reshape.Reshape, {"shape": (0, 0, 0)}, [(2, 3)], "asks for axis 2"),
    (reshape.Reshape, {"shape": (-4, 4, 2)}, [(2, 3)], "cannot split a length of 2"),
    (reshape.Reshape, {"shape": (-7,)}, [(2, 3)], "unknown code -7"),
    (reshape.expand_dims, {"axis": 4}, [(2, 3)], "axis 4 is out of range"),
    (reshape.squeeze, {"axis": (1,)}, [(1, 3)], "axis 1 of data (1, 3) has length 3"),
    (permute.transpose, {"axes": (0, 0)}, [(2, 3)], "not an order"),
    (permute.depth_to_space, {"block_size": 2}, [(1, 3, 2, 2)], "axis 1 is 3, which no size gives"),
    (slicing.slice_, {"begin": (0,), "end": (1, 2)}, [(2, 3)], "equally long"),
    (slicing.slice_, {"begin": (0,), "end": (1,), "step": (0,)}, [(2, 3)], "has a 0"),
    (slicing.slice_like, {}, [(2, 3), (3, 3)], "axis 0 of shape_like (3, 3) is longer"),
    (slicing.slice_like, {}, [(2, 3), (2,)], "expected 2 axes as in data"),
    (split.SliceChannel, {"num_outputs": 2}, [(2, 3)], "no 2 equal parts"),
    (split.SliceChannel, {"num_outputs": 1, "squeeze_axis": True}, [(2, 3)], "needs parts of length 1"),
    (split.split_v2, {"indices": (1, 2)}, [(2, 3)], "must begin with 0"),
    (join.Concat, {"num_args": 2}, [(2, 3), (3, 3)], "arg1 has shape (3, 3), but axis 0 of arg0 is 2"),
    (join.Concat, {"num_args": 1, "dim": 2}, [(2, 3)], "axis 2 is out of range"),
    (join.stack, {"num_args": 2}, [(2, 3), (3, 3)], "arg1 has shape (3, 3), expected (2, 3)"),
    (padding.Pad, {"mode": "constant", "pad_width": (1, 1)}, [(2, 3)], "expected two for each of the 2 axes"),
    (padding.Pad, {"pad_width": (0, 0, 3, 0), "mode": "reflect"}, [(2, 3)], "too short"),
    (diagonal.diag, {"axis1": 1}, [(2, 3)], "are one axis"),
    (columns.im2col, {"kernel": (3, 3)}, [(1, 1, 2, 2)], "does not fit"),
    (columns.col2im, {"kernel": (2,), "output_size": (3,)}, [(1, 2, 5)], "expected (1, 2, 2)"),
    (slicing.slice_assign, {"begin": (0,), "end": (1,)}, [(2, 3), (2, 3)], "expected (1, 3)"),
]


@pytest.mark.walk
@pytest.mark.parametrize(("op", "params", "shapes", "text"), ERRORS)
def test_what_does_not_fit_is_named(op: Any, params: dict[str, Any], shapes: list[Any], text: str) -> None:
    with pytest.raises(ShapeError) as caught:
        op(**params).infer_shape(shapes)
    assert text in str(caught.value)
    assert str(caught.value).startswith(op.name)


def test_unknown_shapes_stay_unknown() -> None:
    for op in (reshape.Reshape(shape=(-1,)), diagonal.diag(), repeating.tile(reps=(2,))):
        assert op.infer_shape([None]) == ([None], [None], [])
    assert reshape.Reshape(shape=(-1,)).infer_shape([(2, None)])[1] == [(None,)]
    for op in (diagonal.diag(), repeating.tile(reps=(2,))):
        assert op.infer_shape([(2, None)])[1] == [None]


@pytest.mark.parametrize(
    ("shape", "output"),
    [((0, -1), (None, None)), ((-1, 8), (None, 8)), ((0, 0, -1), (None, 4, None)), ((3, 8), (3, 8)),
     ((-3, 2), (None, 2)), ((0, -2), (None, 4, 2)), ((-4, -1, 2, 0, 0), (None, 2, 4, 2)),
     ((-4, 2, 3, 0, 0), None)],
)  # fmt: skip
def test_codes_of_a_shape_say_what_they_can_of_data_without_a_length(shape: Any, output: Any) -> None:
    assert reshape.Reshape(shape=shape).infer_shape([(None, 4, 2)])[1] == [output]


def test_flattening_keeps_the_first_length_also_where_others_are_unknown() -> None:
    assert reshape.Flatten().infer_shape([None])[1] == [(None, None)]
    assert reshape.Flatten().infer_shape([(2, None)])[1] == [(2, None)]


def test_concat_infers_in_both_directions() -> None:
    op = join.Concat(num_args=2, dim=1)
    ins, outs, _ = op.infer_shape([(2, 3), (None, None)])
    assert ins == [(2, 3), (2, None)]
    assert outs == [(2, None)]
    assert op.infer_shape_backward([(2, 3), (2, None)], [(2, 8)]) == [(2, 3), (2, 5)]


def test_reshape_costs_nothing_in_an_executor() -> None:
    x = od.sym.var("x")
    net = od.sym.Reshape(od.sym.Flatten(od.sym.transpose(x)), shape=(2, -1))
    executor = net.simple_bind(od.cpu(), x=(4, 6), grad_req="null")
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    np.testing.assert_array_equal(executor.forward(x=values)[0].asnumpy(), values.T.reshape(2, 12))
    assert executor.memory_plan.planned_bytes <= 2 * 24 * 4


def test_recorded_indexing_of_arrays_has_gradients() -> None:
    x = od.nd.array(np.arange(24).reshape(2, 3, 4))
    x.attach_grad()
    with od.autograd.record():
        y = x[1, :, 1:3].T.reshape((3, 2))
    y.backward(od.nd.array(np.arange(6).reshape(3, 2)))
    expected = np.zeros((2, 3, 4))
    expected[1, :, 1:3] = np.arange(6).reshape(2, 3).T
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


def test_the_first_of_uneven_sections_are_longer() -> None:
    parts = od.nd._split_v2(od.nd.arange(7), indices=(), axis=0, sections=4)
    assert [part.shape for part in parts] == [(2,), (2,), (2,), (1,)]


def test_unused_parts_of_a_split_have_zero_gradient() -> None:
    net = od.sym.split(od.sym.var("x"), num_outputs=3, axis=0)[1]
    executor = net.simple_bind(od.cpu(), x=(3, 2))
    executor.forward(is_train=True)
    executor.backward(od.nd.array(np.ones((1, 2))))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [[0, 0], [1, 1], [0, 0]])


def test_names_are_mxnet_s() -> None:
    parts = od.sym.SliceChannel(od.sym.var("x"), num_outputs=2, name="cut")
    assert parts.list_outputs() == ["cut_output0", "cut_output1"]
    joined = od.sym.Concat(od.sym.var("a"), od.sym.var("b"), dim=0, name="join")
    assert joined.list_outputs() == ["join_output"]
    loaded = od.sym.load_json(joined.tojson())
    assert loaded.infer_shape(a=(1, 2), b=(3, 2))[1] == [(4, 2)]


def test_a_margin_that_the_element_type_does_not_hold_is_refused() -> None:
    with pytest.raises(DTypeError, match="uint8, from 0 to 255"):
        padding.Pad(mode="constant", pad_width=(1, 1), constant_value=-1).infer_type([np.dtype("uint8")])


def test_a_number_assigned_to_integers_wraps_around() -> None:
    x = od.nd.array([1, 2, 3], dtype="uint8")
    found = od.nd._slice_assign_scalar(x, scalar=-2.5, begin=(0,), end=(2,))
    assert found.asnumpy().tolist() == [254, 254, 3]


def test_arrays_without_axes_are_stacked() -> None:
    found = od.nd.stack(od.nd.array(np.array(1.0)), od.nd.array(np.array(2.0)))
    np.testing.assert_array_equal(found.asnumpy(), [1, 2])


@pytest.mark.parametrize("op", [slicing.slice_like(), reshape.reshape_like()], ids=lambda op: op.name)
def test_an_array_of_which_the_shape_counts_may_have_any_type(op: Any) -> None:
    single, integer = np.dtype("float32"), np.dtype("int64")
    assert op.infer_type([single, integer]) == ([single, integer], [single], [])
    assert op.differentiable_inputs() == [True, False]


@pytest.mark.parametrize(
    ("op", "params"),
    [
        (padding.Pad, "mode pad_width constant_value"),
        (join.stack, "axis num_args"),
        (join.Concat, "num_args dim"),
        (split.SliceChannel, "num_outputs axis squeeze_axis"),
        (split.split_v2, "indices axis squeeze_axis sections"),
        (slicing.slice_assign_scalar, "scalar begin end step"),
        (columns.col2im, "output_size kernel stride dilate pad"),
    ],
)
def test_parameters_have_mxnets_order(op: Any, params: str) -> None:
    assert list(op.params) == params.split()


@pytest.mark.parametrize(
    ("op", "given", "missing"),
    [
        (padding.Pad, {"pad_width": (0, 0)}, "mode"),
        (slicing.slice_axis, {"axis": 0, "begin": 1}, "end"),
        (split.split_v2, {"sections": 2}, "indices"),
    ],
)
def test_what_mxnet_requires_is_required(op: Any, given: dict[str, Any], missing: str) -> None:
    with pytest.raises(ParamError, match=f"parameter '{missing}' is missing"):
        op(**given)
    assert slicing.slice_axis(axis=0, begin=1, end=None).infer_shape([(3,)])[1] == [(2,)]
