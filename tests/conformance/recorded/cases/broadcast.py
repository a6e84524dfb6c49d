"""Cases of the operators whose shapes broadcast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.conformance.recorded.case import Case, exactly, integers, normal, uniform
from tests.conformance.recorded.cases.elemwise import PAIRS

BINARY: Final = """
    broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_mod broadcast_power
    broadcast_maximum broadcast_minimum broadcast_hypot broadcast_equal broadcast_not_equal
    broadcast_greater broadcast_greater_equal broadcast_lesser broadcast_lesser_equal
    broadcast_logical_and broadcast_logical_or broadcast_logical_xor
""".split()

SHAPES: Final[dict[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "defaults": ((2, 3), (1, 3)),
    "left": ((1, 3), (4, 3)),
    "both_ways": ((3, 1, 2), (1, 4, 1)),
    "same_shape": ((2, 3), (2, 3)),
    "one_element": ((1, 1), (2, 3)),
    "all_ones": ((1, 1, 1), (1, 1, 1)),
    "alternate_axes": ((2, 1, 3, 1), (1, 2, 1, 3)),
    "six_axes": ((2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2)),
    "empty": ((0, 3), (1, 3)),
    "empty_from_one": ((1, 3), (0, 1)),
    "refused_lengths_differ": ((2, 3), (2, 4)),
    "ranks_differ": ((2, 3), (3,)),
}


def _binary() -> Iterator[Case]:
    left, right = zip(*PAIRS, strict=True)
    for op in BINARY:
        low = 0.2 if op == "broadcast_power" else -3.0
        for name, (one, other) in SHAPES.items():
            yield Case(op, name, [uniform(*one, low=low, high=3.0), uniform(*other, low=1.0, high=3.0)])
        yield Case(
            op, "predicting", [uniform(2, 1, low=low), uniform(2, 2, low=-2.0, high=-0.5)], is_train=False
        )
        for dtype, rtol in (("float64", 1e-9), ("float16", 4e-3)):
            pair = [
                uniform(2, 3, low=0.2, high=3.0, dtype=dtype),
                uniform(1, 3, low=0.5, high=2.0, dtype=dtype),
            ]
            yield Case(op, dtype, pair, rtol=rtol)
        for dtype in ("int32", "uint8", "int64"):
            pair = [integers(3, 4, low=1, high=8, dtype=dtype), integers(1, 4, low=1, high=5, dtype=dtype)]
            yield Case(op, dtype, pair)
        whole = [integers(2, 3, low=1, high=6, dtype="int32"), integers(2, 1, low=1, high=4, dtype="int32")]
        yield Case(op, "int32_gradient", whole, grad=(0, 1))
        yield Case(op, "ties", [integers(3, 4, low=0, high=2), integers(1, 4, low=0, high=2)])
        yield Case(op, "special_values", [exactly([left]), exactly([right])], atol=1e-6)
        yield Case(
            op, "special_values_crossed", [exactly([left[:6]]), exactly([[x] for x in right[3:9]])], atol=1e-6
        )
        yield Case(op, "refused_dtypes_differ", [normal(2, 3), normal(1, 3, dtype="float64")])


def _to_shape() -> Iterator[Case]:
    for name, (shape, target) in {
        "defaults": ((1, 3), (2, 3)),
        "zero_keeps_the_length": ((1, 3), (2, 0)),
        "three_axes": ((2, 1, 3), (2, 4, 3)),
        "several_axes": ((1, 2, 1), (3, 2, 4)),
        "nothing_to_do": ((2, 3), (2, 3)),
        "one_element": ((1, 1), (1, 1)),
        "refused_length": ((2, 3), (4, 3)),
        "refused_rank": ((3,), (2, 3)),
    }.items():
        yield Case("broadcast_to", name, [normal(*shape)], {"shape": target})
    for dtype in ("float64", "float16", "int32", "uint8"):
        yield Case("broadcast_to", dtype, [integers(1, 3, low=0, dtype=dtype)], {"shape": (2, 3)})
    yield Case("broadcast_to", "empty", [normal(1, 0)], {"shape": (2, 0)})


def _along_axes() -> Iterator[Case]:
    for name, (shape, axis, size) in {
        "defaults": ((1, 3), (0,), (2,)),
        "number": ((2, 1), 1, 3),
        "several": ((1, 2, 1), (0, 2), (2, 3)),
        "axes_out_of_order": ((1, 2, 1), (2, 0), (3, 2)),
        "size_one": ((1, 3), (0,), (1,)),
        "negative_axis": ((2, 1), (-1,), (3,)),
        "no_axes": ((2, 1), (), ()),
        "refused_long_axis": ((2, 3), (0,), (4,)),
        "refused_lists_differ": ((1, 1), (0, 1), (4,)),
        "refused_axis": ((1, 1), (2,), (4,)),
    }.items():
        yield Case("broadcast_axis", name, [normal(*shape)], {"axis": axis, "size": size})
    for dtype in ("float64", "float16", "int32", "uint8"):
        yield Case("broadcast_axis", dtype, [integers(1, 3, low=0, dtype=dtype)], {"axis": 0, "size": 2})


def _like() -> Iterator[Case]:
    op = "broadcast_like"
    yield Case(op, "defaults", [normal(1, 3), normal(2, 3)])
    yield Case(op, "several_axes", [normal(1, 2, 1), normal(3, 2, 4)])
    yield Case(op, "axes", [normal(1, 2, 3), normal(5, 6)], {"lhs_axes": (0,), "rhs_axes": (1,)})
    yield Case(op, "negative_axes", [normal(1, 2, 3), normal(5, 6)], {"lhs_axes": (-3,), "rhs_axes": (-1,)})
    yield Case(
        op, "several_chosen", [normal(1, 2, 1), normal(4, 3)], {"lhs_axes": (0, 2), "rhs_axes": (1, 0)}
    )
    yield Case(op, "nothing_to_do", [normal(2, 3), normal(2, 3)])
    yield Case(op, "other_dtype", [normal(1, 3), integers(2, 3, dtype="int32")])
    yield Case(op, "float64", [normal(1, 3, dtype="float64"), normal(2, 3, dtype="float64")])
    yield Case(op, "float16", [normal(1, 3, dtype="float16"), normal(2, 3, dtype="float16")])
    yield Case(op, "int32", [integers(1, 3, dtype="int32"), integers(2, 3, dtype="int32")])
    yield Case(op, "empty", [normal(1, 3), normal(0, 3)])
    yield Case(op, "refused_lengths", [normal(2, 3), normal(4, 3)])
    yield Case(op, "refused_one_list_of_axes", [normal(1, 3), normal(2, 3)], {"lhs_axes": (0,)})


CASES: Final = [*_binary(), *_to_shape(), *_along_axes(), *_like()]
