"""Operators that take or write parts by position: slices, splits, padding, diagonals, patches."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from tests.conformance.recorded.case import Case, exactly, integers, normal

NAN = float("nan")
DTYPES = ("float16", "float64", "int8", "uint8", "int32", "int64")
Slices = dict[str, tuple[tuple[int, ...], dict[str, Any]]]

SLICES: Slices = {
    "one_axis": ((4, 3), {"begin": (1,), "end": (3,)}),
    "both_axes": ((4, 3), {"begin": (1, 0), "end": (3, 2)}),
    "open_begin": ((4, 3), {"begin": (None, 1), "end": (2, 3)}),
    "open_end": ((4, 3), {"begin": (2, 1), "end": (None, None)}),
    "everything": ((2, 3), {"begin": (None, None), "end": (None, None)}),
    "negative_bounds": ((4, 3), {"begin": (-3, -2), "end": (-1, -1)}),
    "end_beyond_axis": ((4, 3), {"begin": (2,), "end": (9,)}),
    "step_2": ((5, 3), {"begin": (0,), "end": (5,), "step": (2,)}),
    "step_beyond_end": ((5,), {"begin": (1,), "end": (5,), "step": (9,)}),
    "step_minus_1": ((4, 3), {"begin": (None, None), "end": (None, None), "step": (-1, -1)}),
    "step_minus_2": ((5, 2), {"begin": (4,), "end": (0,), "step": (-2,)}),
    "step_minus_1_from_end": ((5,), {"begin": (-1,), "end": (-4,), "step": (-1,)}),
    "mixed_steps": ((4, 5, 2), {"begin": (3, 0), "end": (None, 5), "step": (-1, 3)}),
    "step_none": ((4, 3), {"begin": (1, 0), "end": (3, 3), "step": (None, 2)}),
    "one_element": ((3, 3), {"begin": (1, 1), "end": (2, 2)}),
    "4d": ((2, 2, 2, 3), {"begin": (0, 1, None, -2), "end": (1, 2, None, None)}),
}


def _drawn(op: str, cases: Slices) -> list[Case]:
    """A case per shape of one argument and its parameters."""
    return [Case(op, name, [normal(*shape)], params) for name, (shape, params) in cases.items()]


def _in_every_dtype(op: str, *shape: int, **params: Any) -> list[Case]:
    """A case per dtype, of integers that all of them hold, and one of booleans."""
    of_bool = "bool" if op == "slice" else "refused_bool"
    return [
        *(Case(op, dtype, [integers(*shape, low=0, dtype=dtype)], params) for dtype in DTYPES),
        Case(op, of_bool, [integers(*shape, low=0, high=2, dtype="bool")], params),
    ]


def _selected(shape: tuple[int, ...], params: dict[str, Any]) -> tuple[int, ...]:
    """Shape of the elements that a slice selects."""
    steps = params.get("step", (None,) * len(params["begin"]))
    index = tuple(slice(*bounds) for bounds in zip(params["begin"], params["end"], steps, strict=True))
    return np.empty(shape)[index].shape


def _slices() -> list[Case]:
    return [
        *_drawn("slice", SLICES),
        *_in_every_dtype("slice", 3, 4, begin=(1, 0), end=(3, 4), step=(1, 2)),
        Case("slice", "nan_and_inf", [exactly([NAN, float("inf"), -0.0, 1])], {"begin": (0,), "end": (3,)}),
        Case("slice", "of_empty", [normal(0, 3)], {"begin": (0, 1), "end": (0, 3)}),
        Case("slice", "refused_step_0", [normal(4, 3)], {"begin": (0,), "end": (2,), "step": (0,)}),
        Case("slice", "refused_too_many_axes", [normal(3)], {"begin": (0, 0), "end": (1, 1)}),
        *_drawn(
            "slice_axis",
            {
                "defaults": ((4, 3), {"axis": 0, "begin": 1, "end": 3}),
                "open_end": ((4, 3), {"axis": 1, "begin": 1, "end": None}),
                "negative_axis": ((2, 4, 3), {"axis": -2, "begin": 1, "end": 3}),
                "negative_bounds": ((2, 5), {"axis": 1, "begin": -4, "end": -1}),
                "everything": ((2, 3), {"axis": 0, "begin": 0, "end": None}),
                "one_element": ((2, 3, 2), {"axis": 2, "begin": 1, "end": 2}),
                "vector": ((5,), {"axis": 0, "begin": 2, "end": 4}),
                "of_empty": ((0, 3), {"axis": 1, "begin": 1, "end": 3}),
                "refused_end_beyond_axis": ((4, 3), {"axis": 0, "begin": 1, "end": 9}),
                "refused_empty": ((4, 3), {"axis": 0, "begin": 2, "end": 2}),
                "refused_axis_too_large": ((4, 3), {"axis": 2, "begin": 0, "end": 1}),
            },
        ),
        *_in_every_dtype("slice_axis", 2, 3, axis=1, begin=0, end=2),
    ]


def _slices_like() -> list[Case]:
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
        "defaults": ((4, 5), (2, 3), {}),
        "same_shape": ((2, 3), (2, 3), {}),
        "one_axis": ((4, 5), (2, 9), {"axes": (0,)}),
        "two_axes_of_three": ((3, 4, 5), (2, 9, 3), {"axes": (0, 2)}),
        "negative_axis": ((3, 4, 5), (9, 9, 2), {"axes": (-1,)}),
        "other_rank": ((3, 4, 5), (2, 3), {"axes": (0, 1)}),
        "to_one": ((3, 3), (1, 1), {}),
        "of_empty": ((0, 3), (0, 2), {}),
        "refused_larger": ((2, 3), (3, 3), {}),
        "refused_other_rank": ((2, 3), (2,), {}),
    }
    return [
        *(
            Case("slice_like", name, [normal(*data), normal(*like)], params)
            for name, (data, like, params) in shapes.items()
        ),
        *(
            Case(
                "slice_like", dtype, [integers(3, 3, low=0, dtype=dtype), integers(2, 2, low=0, dtype=dtype)]
            )
            for dtype in DTYPES
        ),
        Case("slice_like", "other_dtype", [normal(3, 3), integers(2, 2, dtype="int32")]),
    ]


def _assignments() -> list[Case]:
    """Cases of assignments, for which MXNet registers no gradient: it records `x[...] = y` in another way."""
    rows: dict[str, Any] = {"begin": (1,), "end": (3,)}
    scalars: dict[str, tuple[str, float | None]] = {
        **{dtype: (dtype, 3.0) for dtype in DTYPES},
        "default_scalar": ("float32", None),
        "nan": ("float32", NAN),
        "fraction_in_int32": ("int32", -1.75),
        "refused_bool": ("bool", 1.0),
    }
    return [
        *(
            Case("_slice_assign", name, [normal(*shape), normal(*_selected(shape, params))], params, grad=[])
            for name, (shape, params) in SLICES.items()
        ),
        *(
            Case("_slice_assign", dtype, [integers(n, 2, low=0, dtype=dtype) for n in (4, 2)], rows, grad=[])
            for dtype in DTYPES
        ),
        Case("_slice_assign", "refused_shapes_differ", [normal(4, 2), normal(3, 2)], rows, grad=[]),
        *(
            Case("_slice_assign_scalar", name, [normal(*shape)], {**params, "scalar": -2.5}, grad=[])
            for name, (shape, params) in SLICES.items()
        ),
        *(
            Case(
                "_slice_assign_scalar",
                name,
                [integers(4, 2, low=0, high=2, dtype=dtype)],
                rows if scalar is None else {**rows, "scalar": scalar},
                grad=[],
            )
            for name, (dtype, scalar) in scalars.items()
        ),
    ]


def _splits() -> list[Case]:
    return [
        *_drawn(
            "SliceChannel",
            {
                "defaults": ((2, 4), {"num_outputs": 2}),
                "axis_0": ((4, 3), {"num_outputs": 2, "axis": 0}),
                "negative_axis": ((2, 3, 4), {"num_outputs": 2, "axis": -1}),
                "one_output": ((2, 3), {"num_outputs": 1}),
                "empty": ((0, 4), {"num_outputs": 2}),
                "squeezed": ((2, 3, 2), {"num_outputs": 3, "squeeze_axis": True}),
                "squeezed_axis_0": ((2, 3), {"num_outputs": 2, "axis": 0, "squeeze_axis": True}),
                "axis_of_one": ((1, 3), {"num_outputs": 1, "axis": 0, "squeeze_axis": True}),
                "refused_rest": ((2, 5), {"num_outputs": 2}),
                "refused_squeeze_not_one": ((2, 4), {"num_outputs": 2, "squeeze_axis": True}),
            },
        ),
        *_in_every_dtype("SliceChannel", 2, 4, num_outputs=2),
        *_drawn(
            "_split_v2",
            {
                "sections": ((6, 2), {"indices": (), "sections": 3, "axis": 0}),
                "uneven_sections": ((5, 2), {"indices": (), "sections": 2, "axis": 0}),
                "indices": ((6, 2), {"indices": (0, 1, 4), "axis": 0}),
                "default_axis": ((2, 6), {"indices": (0, 2)}),
                "negative_axis": ((2, 2, 4), {"indices": (0, 1), "axis": -1}),
                "one_part": ((3, 2), {"indices": (0,), "axis": 0}),
                "squeezed": ((3, 2), {"indices": (), "sections": 3, "axis": 0, "squeeze_axis": True}),
                "squeezed_indices": ((3, 2), {"indices": (0, 1, 2), "axis": 0, "squeeze_axis": True}),
                "vector": ((5,), {"indices": (0, 2, 3), "axis": 0}),
                "of_empty": ((0, 4), {"indices": (0, 1)}),
            },
        ),
        *_in_every_dtype("_split_v2", 4, 2, indices=(0, 1), axis=0),
    ]


def _padding() -> list[Case]:
    """Cases of padding, which MXNet has for the last two or three axes only."""
    widths = {
        "4d": ((1, 2, 3, 4), (0, 0, 0, 0, 1, 2, 2, 1)),
        "4d_one_side": ((2, 1, 2, 3), (0, 0, 0, 0, 0, 1, 2, 0)),
        "4d_widest": ((1, 1, 3, 3), (0, 0, 0, 0, 2, 2, 2, 2)),
        "4d_nothing": ((1, 1, 2, 2), (0,) * 8),
        "5d": ((1, 1, 2, 2, 3), (0, 0, 0, 0, 1, 1, 1, 0, 2, 1)),
    }
    numbered = [
        Case("Pad", f"{mode}_{name}", [normal(*shape)], {"mode": mode, "pad_width": width})
        for mode, (name, (shape, width)) in product(("constant", "edge", "reflect"), widths.items())
    ]
    one_each_side = {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 1, 1)}
    return [
        *numbered,
        Case("Pad", "constant_value", [normal(1, 2, 2, 2)], {**one_each_side, "constant_value": -3.25}),
        Case("Pad", "constant_nan", [normal(1, 1, 1, 2)], {**one_each_side, "constant_value": NAN}),
        Case("Pad", "edge_of_one", [normal(2, 1, 1, 1)], {**one_each_side, "mode": "edge"}),
        Case("Pad", "float16", [integers(1, 1, 2, 2, dtype="float16")], one_each_side),
        Case("Pad", "float64", [integers(1, 1, 2, 2, dtype="float64")], {**one_each_side, "mode": "reflect"}),
        Case("Pad", "refused_int32", [integers(1, 1, 2, 2, dtype="int32")], one_each_side),
        Case("Pad", "refused_matrix", [normal(2, 2)], {"mode": "edge", "pad_width": (1, 1, 1, 1)}),
        Case("Pad", "refused_batch_padded", [normal(1, 1, 2, 2)], {"mode": "edge", "pad_width": (1,) * 8}),
    ]


def _diagonals() -> list[Case]:
    offsets = (("0", 0), ("1", 1), ("3", 3), ("minus_1", -1), ("minus_2", -2))
    return [
        *(Case("diag", f"of_vector_k_{name}", [normal(3)], {"k": k}) for name, k in offsets),
        *(Case("diag", f"wide_k_{name}", [normal(3, 4)], {"k": k}) for name, k in offsets),
        *(Case("diag", f"tall_k_{name}", [normal(5, 4)], {"k": k}) for name, k in offsets),
        *_drawn(
            "diag",
            {
                "defaults": ((3, 3), {}),
                "3d": ((2, 3, 4), {}),
                "3d_last_axes": ((2, 3, 4), {"axis1": 1, "axis2": 2}),
                "3d_negative_axes": ((2, 3, 4), {"axis1": -1, "axis2": -3, "k": 1}),
                "3d_swapped_axes": ((3, 2, 4), {"axis1": 2, "axis2": 0, "k": -1}),
                "one_by_one": ((1, 1), {}),
                "empty": ((0, 3), {}),
                "one": ((1,), {"k": 1}),
                "refused_same_axis": ((2, 2), {"axis1": 0, "axis2": 0}),
            },
        ),
        *_in_every_dtype("diag", 2, 3),
    ]


PATCHES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "defaults": ((1, 2, 3, 4), {"kernel": (2, 2)}),
    "stride": ((1, 1, 5, 5), {"kernel": (2, 2), "stride": (2, 3)}),
    "dilate": ((1, 1, 5, 4), {"kernel": (2, 2), "dilate": (3, 2)}),
    "pad": ((2, 1, 2, 3), {"kernel": (2, 3), "pad": (1, 2)}),
    "all_together": ((1, 2, 5, 4), {"kernel": (2, 3), "stride": (2, 1), "dilate": (2, 1), "pad": (1, 1)}),
    "kernel_of_one": ((1, 2, 2, 2), {"kernel": (1, 1)}),
    "whole_image": ((2, 1, 2, 3), {"kernel": (2, 3)}),
    "refused_1d": ((1, 2, 5), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
    "refused_3d": (
        (1, 1, 3, 2, 3),
        {"kernel": (2, 1, 2), "stride": (1, 1, 1), "dilate": (1, 1, 2), "pad": (0, 0, 1)},
    ),
}


def _column_count(shape: tuple[int, ...], params: dict[str, Any]) -> int:
    """Number of positions that the kernel takes."""
    rank = len(params["kernel"])
    stride, dilate, pad = (params.get(k, (v,) * rank) for k, v in (("stride", 1), ("dilate", 1), ("pad", 0)))
    lengths = zip(shape[2:], params["kernel"], stride, dilate, pad, strict=True)
    return int(np.prod([(size + 2 * p - d * (k - 1) - 1) // s + 1 for size, k, s, d, p in lengths]))


def _patches() -> list[Case]:
    one = {"kernel": (2, 2)}
    return [
        *_drawn("im2col", PATCHES),
        *(
            Case(
                "col2im",
                name,
                [normal(shape[0], shape[1] * int(np.prod(params["kernel"])), _column_count(shape, params))],
                {**params, "output_size": shape[2:]},
            )
            for name, (shape, params) in PATCHES.items()
        ),
        *(
            Case("im2col", dtype, [integers(1, 1, 3, 3, dtype=dtype)], one)
            for dtype in ("float16", "float64")
        ),
        *(
            Case("col2im", dtype, [integers(1, 4, 4, dtype=dtype)], {**one, "output_size": (3, 3)})
            for dtype in ("float16", "float64")
        ),
        Case("im2col", "refused_kernel_too_large", [normal(1, 1, 2, 2)], {"kernel": (3, 3)}),
        Case("col2im", "refused_wrong_columns", [normal(1, 4, 5)], {**one, "output_size": (3, 3)}),
    ]


CASES: list[Case] = [
    *_slices(),
    *_slices_like(),
    *_assignments(),
    *_splits(),
    *_padding(),
    *_diagonals(),
    *_patches(),
]
