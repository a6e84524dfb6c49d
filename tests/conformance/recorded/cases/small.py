"""Cases of small operators: straight-through estimators, casts of mixed precision, means of given number."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.recorded.case import Case, exactly, integers, normal

INF, NAN = float("inf"), float("nan")


def straight_through() -> Iterator[Case]:
    """Rounding and signs with a gradient of 1, and a factor of the gradient."""
    halves = [-2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 1e9, INF, NAN]
    for op in ("_contrib_round_ste", "_contrib_sign_ste"):
        yield Case(op, "ordinary", [normal(3, 4, scale=2.0)])
        yield Case(op, "halves", [exactly(halves)])
        for dtype in ("float16", "float64"):
            yield Case(op, dtype, [normal(4, scale=2.0, dtype=dtype)])
        yield Case(op, "int32", [integers(4, low=-3, high=4, dtype="int32")])
    op = "_contrib_gradientmultiplier"
    for scalar in (1.0, -0.5, 0.0, 3.0):
        yield Case(
            op,
            f"scalar_{scalar}".replace(".", "_").replace("-", "minus_"),
            [normal(2, 3)],
            {"scalar": scalar},
        )
    yield Case(op, "float16", [normal(4, dtype="float16")], {"scalar": 0.5})
    yield Case(op, "defaults", [normal(4)])


def mixed_precision() -> Iterator[Case]:
    """Casts between half and single precision, and what goes through."""
    for dtype in ("float16", "float32"):
        for target in ("float16", "float32"):
            yield Case("amp_cast", f"{dtype}_to_{target}", [normal(2, 3, dtype=dtype)], {"dtype": target})
    yield Case(
        "amp_cast", "integers_as_they_are", [integers(4, dtype="int32")], {"dtype": "float16"}, grad=()
    )
    # MXNet computes no half precision here on a CPU.
    for name, count, narrow in [("two", 2, False), ("three_narrow", 3, True), ("one", 1, False)]:
        arrays = [normal(2, number + 1) for number in range(count)]
        yield Case("amp_multicast", name, arrays, {"num_outputs": count, "cast_narrow": narrow})


def positions() -> Iterator[Case]:
    """Indices of elements, and products that are scaled."""
    for name, shape, params in [
        ("all_axes", (2, 3), {}),
        ("one_axis", (4,), {}),
        ("chosen", (2, 3, 2), {"axes": (1, 0)}),
        ("last", (2, 3), {"axes": (-1,)}),
        ("twice", (2, 3), {"axes": (0, 0)}),
    ]:
        yield Case("_contrib_index_array", name, [normal(*shape)], params, grad=())
    for name, shape in [("rows", (3, 4)), ("one", (1,)), ("three_axes", (2, 3, 5))]:
        yield Case("_contrib_div_sqrt_dim", name, [normal(*shape)])
    for dtype in ("float16", "float64"):
        yield Case("_contrib_div_sqrt_dim", dtype, [normal(2, 3, dtype=dtype)])


def adaptive() -> Iterator[Case]:
    """Means of windows that divide the image evenly, unevenly, and overlap."""
    op = "_contrib_AdaptiveAvgPooling2D"
    for name, shape, size in [
        ("even", (2, 3, 4, 6), (2, 3)),
        ("uneven", (2, 3, 5, 7), (2, 3)),
        ("one_number", (1, 2, 5, 4), (3,)),
        ("as_large", (1, 2, 3, 4), (3, 4)),
        ("larger", (1, 1, 3, 4), (5, 9)),
        ("global", (2, 3, 4, 5), (1, 1)),
    ]:
        yield Case(op, name, [normal(*shape)], {"output_size": size})
    yield Case(op, "defaults", [normal(2, 3, 4, 5)])
    yield Case(op, "float64", [normal(1, 2, 4, 5, dtype="float64")], {"output_size": (2, 2)})
    yield Case(op, "refused_three_axes", [normal(2, 3, 4)], {"output_size": (2,)})


CASES = [*straight_through(), *mixed_precision(), *positions(), *adaptive()]
