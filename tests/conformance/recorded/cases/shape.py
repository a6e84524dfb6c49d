"""Operators that change the shape and keep the values: reshape, transpose, join, split, repeat."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal

NAN = float("nan")
DTYPES = ("float16", "float64", "int8", "uint8", "int32", "int64")
WITHOUT_BOOL = ("transpose", "SwapAxis", "depth_to_space", "space_to_depth", "Concat", "reverse")
SPECIAL = exactly([[NAN, float("inf"), -0.0], [float("-inf"), 1e-45, 0.0]])


def _drawn(op: str, cases: dict[str, tuple[tuple[int, ...], dict[str, Any]]]) -> list[Case]:
    """A case per shape of one argument and its parameters."""
    return [Case(op, name, [normal(*shape)], params) for name, (shape, params) in cases.items()]


def _in_every_dtype(op: str, *shape: int, **params: Any) -> list[Case]:
    """A case per dtype, of integers that all of them hold, and one of booleans."""
    cases = [Case(op, dtype, [integers(*shape, low=0, dtype=dtype)], params) for dtype in DTYPES]
    of_bool = "refused_bool" if op in WITHOUT_BOOL else "bool"
    return [*cases, Case(op, of_bool, [integers(*shape, low=0, high=2, dtype="bool")], params)]


def _reshape() -> list[Case]:
    codes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "plain": ((2, 3, 4), (4, 6)),
        "to_vector": ((2, 3), (6,)),
        "axes_of_one": ((6,), (1, 6, 1)),
        "minus_1_infers": ((2, 3, 4), (6, -1)),
        "minus_1_first": ((2, 3, 4), (-1, 2)),
        "minus_1_alone": ((2, 3, 4), (-1,)),
        "minus_1_becomes_1": ((2, 3), (2, 3, -1)),
        "0_copies": ((2, 3, 4), (4, 0, 2)),
        "0_copies_all": ((2, 3, 4), (0, 0, 0)),
        "0_and_minus_1": ((2, 3, 4), (0, -1)),
        "minus_2_copies_rest": ((2, 3, 4), (-2,)),
        "minus_2_after_number": ((2, 3, 4), (2, -2)),
        "minus_2_then_ones": ((2, 3, 4), (-2, 1, 1)),
        "minus_3_merges": ((2, 3, 4), (-3, 4)),
        "minus_3_twice": ((2, 3, 4, 5), (-3, -3)),
        "0_and_minus_3": ((2, 3, 4), (0, -3)),
        "minus_3_and_minus_2": ((2, 3, 4, 1), (-3, -2)),
        "minus_4_splits": ((6, 2), (-4, 2, 3, 0)),
        "minus_4_infers_first": ((6, 2), (-4, -1, 2, 0)),
        "minus_4_infers_second": ((2, 6), (0, -4, 3, -1)),
        "minus_4_and_minus_2": ((2, 3, 4), (-4, -1, 2, -2)),
        "every_code": ((8, 3, 2, 5, 1, 2), (-4, 2, -1, -3, 0, -2)),
        "refused_two_minus_1": ((2, 3), (-1, -1)),
        "refused_0_without_axis": ((6,), (2, 3, 0)),
        "refused_minus_4_of_wrong_size": ((6, 2), (-4, 4, 2, 0)),
    }
    reverse: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "reverse_minus_1_and_0": ((10, 5, 4), (-1, 0)),
        "reverse_0_and_minus_1": ((2, 3, 4), (0, 0, -1)),
        "reverse_minus_3": ((2, 3, 4), (2, -3)),
        "reverse_minus_2": ((2, 3, 4), (1, -2)),
        "reverse_minus_4": ((2, 6), (0, 3, 2, -4)),
        "refused_reverse_minus_4_in_front": ((2, 6), (0, -4, 3, 2)),
        "reverse_minus_4_infers": ((2, 6), (0, -1, 2, -4)),
        "reverse_copies_from_the_right": ((2, 3, 4), (6, 0)),
    }
    old_style: dict[str, dict[str, Any]] = {
        "target_shape": {"target_shape": (4, 6)},
        "target_shape_infers": {"target_shape": (4, 0)},
        "target_shape_keep_highest": {"target_shape": (0, 3, 4), "keep_highest": True},
    }
    return [
        *_drawn("Reshape", {name: (shape, {"shape": to}) for name, (shape, to) in codes.items()}),
        *_drawn(
            "Reshape", {n: (shape, {"shape": to, "reverse": True}) for n, (shape, to) in reverse.items()}
        ),
        *_drawn("Reshape", {name: ((2, 3, 4), params) for name, params in old_style.items()}),
        *_in_every_dtype("Reshape", 2, 3, shape=(3, 2)),
        Case("Reshape", "special_values", [SPECIAL], {"shape": (3, 2)}),
        # The size is not compared, and what lies behind the array is read.
        Case("Reshape", "wrong_size", [normal(2, 3)], {"shape": (4, 2)}, grad=[], compare="shapes"),
        Case("Reshape", "minus_1_leaves_rest", [normal(2, 3)], {"shape": (4, -1)}, grad=[], compare="shapes"),
    ]


def _reshape_like() -> list[Case]:
    parts: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, int]]] = {
        "defaults": ((2, 3, 4), (4, 6), {}),
        "same_shape": ((2, 3), (2, 3), {}),
        "empty": ((0, 3), (2, 0), {}),
        "to_vector": ((2, 3), (6,), {}),
        "part_of_lhs": ((30, 7), (15, 2, 4), {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 2}),
        "open_ends": ((2, 12), (2, 3, 4), {"lhs_begin": 1, "rhs_begin": 1}),
        "negative_axes": (
            (12, 2),
            (3, 4, 5),
            {"lhs_begin": -2, "lhs_end": -1, "rhs_begin": -3, "rhs_end": -1},
        ),
        "end_alone": ((2, 3, 4), (6, 5), {"lhs_end": 2, "rhs_end": 1}),
        "refused_sizes_differ": ((2, 3), (7,), {}),
    }
    return [
        *(
            Case("reshape_like", name, [normal(*lhs), normal(*rhs)], params, grad=[0])
            for name, (lhs, rhs, params) in parts.items()
        ),
        Case("reshape_like", "gradient_of_rhs_is_zero", [normal(2, 3), normal(3, 2)]),
        Case("reshape_like", "int32", [integers(2, 3, dtype="int32"), integers(6, dtype="int32")]),
        Case("reshape_like", "other_dtype", [normal(2, 3), integers(6, dtype="int64")], grad=[0]),
    ]


def _axes() -> list[Case]:
    return [
        *_drawn(
            "Flatten",
            {
                "matrix": ((2, 3), {}),
                "defaults": ((2, 3, 4), {}),
                "5d": ((2, 1, 2, 3, 2), {}),
                "vector": ((3,), {}),
                "axes_of_one": ((1, 1, 1), {}),
            },
        ),
        *_in_every_dtype("Flatten", 2, 2, 2),
        *_drawn(
            "transpose",
            {
                "defaults": ((2, 3, 4), {}),
                "matrix": ((2, 3), {}),
                "vector": ((3,), {}),
                "row": ((1, 4), {}),
                "identity": ((2, 3, 4), {"axes": (0, 1, 2)}),
                "cycle": ((2, 3, 4), {"axes": (1, 2, 0)}),
                "4d": ((2, 3, 1, 2), {"axes": (0, 2, 3, 1)}),
                "5d": ((2, 1, 3, 2, 2), {"axes": (4, 2, 0, 1, 3)}),
                "6d": ((1, 2, 3, 1, 2, 2), {"axes": (5, 1, 4, 2, 0, 3)}),
                "refused_negative_axes": ((2, 3, 4), {"axes": (-1, 0, -2)}),
                "longer_than_a_block": ((33, 3), {}),
                "empty": ((0, 3), {}),
                "refused_too_few_axes": ((2, 3, 4), {"axes": (1, 0)}),
            },
        ),
        *_in_every_dtype("transpose", 2, 3),
        *_drawn(
            "expand_dims",
            {
                "first": ((2, 3), {"axis": 0}),
                "middle": ((2, 3), {"axis": 1}),
                "last": ((2, 3), {"axis": 2}),
                "minus_1": ((2, 3), {"axis": -1}),
                "minus_3": ((2, 3), {"axis": -3}),
                "empty": ((0, 3), {"axis": 1}),
                "vector": ((3,), {"axis": 1}),
                "refused_too_large": ((2, 3), {"axis": 3}),
            },
        ),
        *_in_every_dtype("expand_dims", 2, 3, axis=1),
        *_drawn(
            "squeeze",
            {
                "defaults": ((1, 2, 1, 3), {}),
                "one_axis": ((1, 2, 1), {"axis": 2}),
                "negative_axis": ((2, 3, 1), {"axis": -1}),
                "two_axes": ((1, 2, 1, 3, 1), {"axis": (0, 2)}),
                "negative_axes": ((1, 2, 1, 3, 1), {"axis": (-1, -3)}),
                "no_axis_of_one": ((2, 3), {}),
                "empty": ((0, 1, 3), {}),
                "every_axis_of_one": ((1, 1, 1), {}),
                "refused_axis_not_one": ((1, 2), {"axis": 1}),
            },
        ),
        *_in_every_dtype("squeeze", 2, 1, 3),
        *_drawn(
            "SwapAxis",
            {
                "defaults": ((2, 3), {}),
                "matrix": ((2, 3), {"dim1": 0, "dim2": 1}),
                "outer": ((2, 3, 4), {"dim1": 0, "dim2": 2}),
                "reversed": ((2, 3, 4), {"dim1": 2, "dim2": 1}),
                "same_axis": ((2, 3, 4), {"dim1": 1, "dim2": 1}),
                "empty": ((0, 3), {"dim1": 0, "dim2": 1}),
                "4d": ((2, 3, 2, 4), {"dim1": 1, "dim2": 3}),
                "negative_axes": ((2, 3, 4), {"dim1": -1, "dim2": -3}),
                "refused_too_large": ((2, 3), {"dim1": 0, "dim2": 2}),
            },
        ),
        *_in_every_dtype("SwapAxis", 2, 3, dim1=0, dim2=1),
    ]


def _blocks() -> list[Case]:
    return [
        *_drawn(
            "depth_to_space",
            {
                "defaults": ((1, 4, 2, 3), {"block_size": 2}),
                "block_of_one": ((1, 2, 2, 2), {"block_size": 1}),
                "two_channels": ((2, 8, 1, 2), {"block_size": 2}),
                "block_of_three": ((1, 9, 1, 2), {"block_size": 3}),
                "refused_channels_left": ((1, 6, 2, 2), {"block_size": 2}),
            },
        ),
        *_in_every_dtype("depth_to_space", 1, 4, 1, 2, block_size=2),
        *_drawn(
            "space_to_depth",
            {
                "defaults": ((1, 1, 4, 6), {"block_size": 2}),
                "block_of_one": ((1, 2, 2, 2), {"block_size": 1}),
                "two_channels": ((2, 2, 2, 4), {"block_size": 2}),
                "block_of_three": ((1, 1, 3, 6), {"block_size": 3}),
                "refused_rows_left": ((1, 1, 3, 4), {"block_size": 2}),
            },
        ),
        *_in_every_dtype("space_to_depth", 1, 1, 2, 4, block_size=2),
    ]


def _joined(op: str, axis: str) -> list[Case]:
    """Cases that Concat and stack share: any number of equal arrays."""

    def several(count: int, *shape: int) -> list[Recipe]:
        return [normal(*shape)] * count

    return [
        Case(op, "one_array", several(1, 2, 3), {axis: 0}),
        Case(op, "two_arrays", several(2, 2, 3), {axis: 0}),
        Case(op, "last_axis", several(3, 2, 3), {axis: 1}),
        Case(op, "negative_axis", several(2, 2, 3, 2), {axis: -1}),
        Case(op, "vectors", several(3, 2), {axis: 0}),
        Case(op, "axes_of_one", several(2, 1, 1), {axis: 1}),
        Case(op, "empty", several(2, 0, 2), {axis: 1}),
        Case(op, "eleven_arrays", several(11, 1, 2), {axis: 0}),
        Case(op, "special_values", [SPECIAL, SPECIAL], {axis: 0}),
        Case(op, "gradient_of_second_alone", several(3, 2, 2), {axis: 0}, grad=[1]),
        Case(op, "refused_axis_too_large", several(2, 2, 3), {axis: 4}),
        *(Case(op, dtype, [integers(2, 2, low=0, dtype=dtype)] * 2, {axis: 0}) for dtype in DTYPES),
        Case(
            op,
            "refused_bool" if op in WITHOUT_BOOL else "bool",
            [integers(2, 2, low=0, high=2, dtype="bool")] * 2,
            {axis: 0},
        ),
    ]


def _joins() -> list[Case]:
    return [
        *_joined("Concat", "dim"),
        Case("Concat", "defaults", [normal(2, 1), normal(2, 3)]),
        Case("Concat", "unequal_lengths", [normal(1, 2), normal(3, 2), normal(2, 2)], {"dim": 0}),
        Case("Concat", "one_empty", [normal(0, 2), normal(3, 2)], {"dim": 0}),
        Case("Concat", "4d", [normal(2, 1, 2, 2), normal(2, 3, 2, 2)], {"dim": -3}),
        Case("Concat", "refused_other_axes_differ", [normal(2, 3), normal(3, 3)], {"dim": 1}),
        Case("Concat", "refused_ranks_differ", [normal(2, 3), normal(2, 3, 1)], {"dim": 0}),
        Case("Concat", "refused_dtypes_differ", [normal(2), normal(2, dtype="float64")], {"dim": 0}),
        *_joined("stack", "axis"),
        Case("stack", "defaults", [normal(2, 3), normal(2, 3)]),
        Case("stack", "new_last_axis", [normal(2, 3), normal(2, 3)], {"axis": 2}),
        Case("stack", "refused_shapes_differ", [normal(2, 3), normal(3, 3)]),
    ]


def _repetitions() -> list[Case]:
    return [
        *_drawn(
            "tile",
            {
                "one_axis": ((2, 3), {"reps": (2,)}),
                "both_axes": ((2, 3), {"reps": (2, 3)}),
                "new_axes": ((2, 3), {"reps": (2, 1, 2)}),
                "fewer_reps_than_axes": ((2, 1, 3), {"reps": (2, 1)}),
                "ones": ((2, 3), {"reps": (1, 1)}),
                "empty": ((0, 3), {"reps": (2, 2)}),
                "vector": ((3,), {"reps": (2, 2)}),
                "axes_of_one": ((1, 1), {"reps": (3, 2)}),
                "no_reps": ((2, 3), {"reps": ()}),
                "refused_negative": ((2, 3), {"reps": (-1, 2)}),
            },
        ),
        *_in_every_dtype("tile", 2, 2, reps=(2, 2)),
        Case("tile", "special_values", [SPECIAL], {"reps": (1, 2)}),
        *_drawn(
            "repeat",
            {
                "flattens": ((2, 3), {"repeats": 2}),
                "axis_0": ((2, 3), {"repeats": 2, "axis": 0}),
                "last_axis": ((2, 3), {"repeats": 3, "axis": 1}),
                "negative_axis": ((2, 3, 2), {"repeats": 2, "axis": -2}),
                "once": ((2, 3), {"repeats": 1, "axis": 0}),
                "vector": ((3,), {"repeats": 2}),
                "refused_negative": ((2, 3), {"repeats": -1}),
                "refused_axis_too_large": ((2, 3), {"repeats": 2, "axis": 2}),
            },
        ),
        *_in_every_dtype("repeat", 2, 2, repeats=2, axis=1),
        *_drawn(
            "reverse",
            {
                "axis_0": ((2, 3), {"axis": 0}),
                "axis_1": ((2, 3), {"axis": (1,)}),
                "both_axes": ((2, 3), {"axis": (0, 1)}),
                "outer_axes": ((2, 3, 4), {"axis": (0, 2)}),
                "axis_of_one": ((1, 3), {"axis": 0}),
                "empty": ((0, 3), {"axis": 1}),
                "vector": ((4,), {"axis": 0}),
            },
        ),
        *_in_every_dtype("reverse", 2, 3, axis=(1,)),
    ]


CASES: list[Case] = [
    *_reshape(),
    *_reshape_like(),
    *_axes(),
    *_blocks(),
    *_joins(),
    *_repetitions(),
]
