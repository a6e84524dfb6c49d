"""Every operator against NumPy, with all requests and gradients, over plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad_check.testing import check_forward, gradient_check
from operad_shape import columns, diagonal, join, padding, permute, repeating, reshape, slicing, split

A = np.arange(24, dtype=np.float64).reshape(2, 3, 4) / 8 - 1
B = A[::-1] * 2 + 0.5

CASES: list[tuple[str, Any, list[Any], dict[str, Any], Any]] = [
    ("Reshape", reshape.Reshape, [A], {"shape": (4, -1)}, A.reshape(4, 6)),
    ("Reshape keeps", reshape.Reshape, [A], {"shape": (0, 0, -1)}, A),
    ("Reshape rest", reshape.Reshape, [A], {"shape": (-2, 1)}, A[..., None]),
    ("Reshape merges", reshape.Reshape, [A], {"shape": (-3, 0)}, A.reshape(6, 4)),
    ("Reshape splits", reshape.Reshape, [A], {"shape": (0, 0, -4, -1, 2)}, A.reshape(2, 3, 2, 2)),
    ("Reshape reverse", reshape.Reshape, [A], {"shape": (-1, 0), "reverse": True}, A.reshape(6, 4)),
    ("Reshape old form", reshape.Reshape, [A], {"target_shape": (2, 0)}, A.reshape(2, 12)),
    ("Flatten", reshape.Flatten, [A], {}, A.reshape(2, 12)),
    ("Flatten vector", reshape.Flatten, [A[0, 0]], {}, A[0, 0].reshape(4, 1)),
    ("expand_dims", reshape.expand_dims, [A], {"axis": 1}, A[:, None]),
    ("expand_dims last", reshape.expand_dims, [A], {"axis": -1}, A[..., None]),
    ("squeeze", reshape.squeeze, [A[:1]], {}, A[0]),
    ("squeeze axis", reshape.squeeze, [A[:1, :1]], {"axis": (1,)}, A[:1, 0]),
    ("squeeze all", reshape.squeeze, [A[:1, :1, :1]], {}, A[0, 0, :1]),
    ("reshape_like", reshape.reshape_like, [A, np.zeros((6, 4))], {}, A.reshape(6, 4)),
    (
        "reshape_like part", reshape.reshape_like, [A, np.zeros((5, 2, 2))],
        {"lhs_begin": 2, "lhs_end": 3, "rhs_begin": 1, "rhs_end": 3}, A.reshape(2, 3, 2, 2),
    ),
    ("transpose", permute.transpose, [A], {}, A.T),
    ("transpose axes", permute.transpose, [A], {"axes": (1, -1, 0)}, A.transpose(1, 2, 0)),
    ("SwapAxis", permute.SwapAxis, [A], {"dim1": 0, "dim2": 2}, A.swapaxes(0, 2)),
    ("reverse", permute.reverse, [A], {"axis": (0, -1)}, A[::-1, :, ::-1]),
    (
        "depth_to_space", permute.depth_to_space, [np.arange(16.0).reshape(1, 8, 1, 2)], {"block_size": 2},
        np.array([[[[0, 4, 1, 5], [8, 12, 9, 13]], [[2, 6, 3, 7], [10, 14, 11, 15]]]]),
    ),
    (
        "space_to_depth", permute.space_to_depth,
        [np.array([[[[0, 4, 1, 5], [8, 12, 9, 13]], [[2, 6, 3, 7], [10, 14, 11, 15]]]], float)],
        {"block_size": 2}, np.arange(16.0).reshape(1, 8, 1, 2),
    ),
    ("slice", slicing.slice_, [A], {"begin": (0, 1), "end": (1, None)}, A[0:1, 1:]),
    ("slice step", slicing.slice_, [A], {"begin": (None, -1), "end": (None, None), "step": (1, -2)},
     A[:, ::-2]),
    ("slice_axis", slicing.slice_axis, [A], {"axis": -1, "begin": 1, "end": -1}, A[..., 1:-1]),
    ("slice_like", slicing.slice_like, [A, np.zeros((1, 2, 4))], {}, A[:1, :2]),
    ("slice_like axes", slicing.slice_like, [A, np.zeros((1, 2, 9))], {"axes": (-2,)}, A[:, :2]),
    ("diag", diagonal.diag, [A[0]], {}, np.diagonal(A[0])),
    ("diag below", diagonal.diag, [A[0]], {"k": -1}, np.diagonal(A[0], -1)),
    ("diag many", diagonal.diag, [A], {"k": 1, "axis1": 0, "axis2": -1}, np.diagonal(A, 1, 0, 2)),
    ("diag matrix", diagonal.diag, [A[0, 0]], {"k": -2}, np.diag(A[0, 0], -2)),
    ("SliceChannel", split.SliceChannel, [A], {"num_outputs": 2, "axis": 2}, np.split(A, 2, 2)),
    (
        "SliceChannel squeezed", split.SliceChannel, [A], {"num_outputs": 3, "squeeze_axis": True},
        [A[:, 0], A[:, 1], A[:, 2]],
    ),
    ("_split_v2", split.split_v2, [A], {"indices": (0, 1, 3), "axis": -1}, np.split(A, [1, 3], 2)),
    ("_split_v2 sections", split.split_v2, [A], {"indices": (), "sections": 3}, np.split(A, 3, 1)),
    ("Concat", join.Concat, [A, B[:, :1]], {"num_args": 2}, np.concatenate([A, B[:, :1]], 1)),
    ("Concat first", join.Concat, [A, B, A[:1]], {"num_args": 3, "dim": 0}, np.concatenate([A, B, A[:1]])),
    ("stack", join.stack, [A, B], {"num_args": 2, "axis": -1}, np.stack([A, B], -1)),
    ("tile", repeating.tile, [A], {"reps": (2, 3)}, np.tile(A, (2, 3))),
    ("tile more axes", repeating.tile, [A[0]], {"reps": (2, 1, 2)}, np.tile(A[0], (2, 1, 2))),
    ("repeat", repeating.repeat, [A], {"repeats": 2}, np.repeat(A, 2)),
    ("repeat axis", repeating.repeat, [A], {"repeats": 3, "axis": -2}, np.repeat(A, 3, 1)),
    ("Pad", padding.Pad, [A], {"mode": "constant", "pad_width": (0, 0, 1, 2, 0, 1), "constant_value": 5},
     np.pad(A, ((0, 0), (1, 2), (0, 1)), constant_values=5)),
    ("Pad edge", padding.Pad, [A], {"pad_width": (1, 0, 2, 2, 0, 3), "mode": "edge"},
     np.pad(A, ((1, 0), (2, 2), (0, 3)), "edge")),
    ("Pad reflect", padding.Pad, [A], {"pad_width": (1, 0, 2, 2, 0, 3), "mode": "reflect"},
     np.pad(A, ((1, 0), (2, 2), (0, 3)), "reflect")),
    ("_slice_assign", slicing.slice_assign, [A, B[:1, 1:]], {"begin": (0, 1), "end": (1, None)},
     np.concatenate([np.concatenate([A[:1, :1], B[:1, 1:]], 1), A[1:]])),
    ("_slice_assign_scalar", slicing.slice_assign_scalar, [A],
     {"begin": (0,), "end": (1,), "scalar": 7}, np.concatenate([np.full_like(A[:1], 7), A[1:]])),
    ("im2col", columns.im2col, [A.reshape(1, 1, 4, 6)], {"kernel": (1, 3), "stride": (2, 3)},
     A.reshape(1, 4, 6)[:, ::2].reshape(1, 4, 3).transpose(0, 2, 1)),
    ("im2col padded", columns.im2col, [A.reshape(1, 2, 3, 4)], {"kernel": (1, 1), "pad": (1, 1)},
     np.pad(A.reshape(1, 2, 3, 4), ((0, 0), (0, 0), (1, 1), (1, 1))).reshape(1, 2, 30)),
    ("col2im", columns.col2im, [A.reshape(2, 3, 4)],
     {"kernel": (3,), "output_size": (6,)},
     np.array([[[sum(x[k, i - k] for k in range(3) if 0 <= i - k < 4) for i in range(6)]] for x in A])),
]  # fmt: skip
IDS = [case[0] for case in CASES]


@pytest.mark.walk
@pytest.mark.parametrize(("title", "op", "inputs", "params", "expected"), CASES, ids=IDS)
def test_values_and_gradients(
    title: str, op: Any, inputs: list[Any], params: dict[str, Any], expected: Any
) -> None:
    wanted = expected if isinstance(expected, list) else [expected]
    check_forward(op, inputs, wanted, **params)
    gradient_check(op, inputs, **params)


@pytest.mark.walk
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize(("title", "op", "inputs", "params", "expected"), CASES, ids=IDS)
def test_every_element_type_is_moved_unchanged(
    title: str, op: Any, inputs: list[Any], params: dict[str, Any], expected: Any, dtype: str
) -> None:
    if dtype == "bool" and title.startswith("col2im"):
        pytest.skip("adding booleans has no meaning")
    typed = [(np.arange(x.size).reshape(x.shape) % 5).astype(dtype) for x in inputs]
    plain = [x.astype(np.float64) for x in typed]
    params = {**params, "scalar": 1} if "scalar" in params else params
    params = {**params, "constant_value": 1} if "constant_value" in params else params
    for got, want in zip(check_forward(op, typed, **params), check_forward(op, plain, **params), strict=True):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want.astype(dtype))


@pytest.mark.walk
@pytest.mark.parametrize(("title", "op", "inputs", "params", "expected"), CASES, ids=IDS)
def test_strided_inputs_give_the_same(
    title: str, op: Any, inputs: list[Any], params: dict[str, Any], expected: Any
) -> None:
    strided = [np.stack([x, x], -1)[..., 1] for x in inputs]
    for got, want in zip(
        check_forward(op, strided, **params), check_forward(op, inputs, **params), strict=True
    ):
        np.testing.assert_array_equal(got, want)
