"""Cases of sums, means, norms, extrema, and of the places of extrema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal, permutation, uniform

NAN, INF = float("nan"), float("inf")
REDUCTIONS: Final = "sum mean prod nansum nanprod max min".split()
AXES: Final[dict[str, dict[str, Any]]] = {
    "defaults": {},
    "axis_0": {"axis": 0},
    "axis_1_kept": {"axis": 1, "keepdims": True},
    "last_axis": {"axis": -1},
    "two_axes": {"axis": (0, 2)},
    "two_axes_out_of_order": {"axis": (2, 0), "keepdims": True},
    "all_axes": {"axis": (0, 1, 2)},
    "no_axes": {"axis": ()},
    "all_kept": {"keepdims": True},
    "all_but_one": {"axis": 1, "exclude": True},
    "all_but_two_kept": {"axis": (0, 1), "exclude": True, "keepdims": True},
    "exclude_without_axes": {"exclude": True},
    "refused_axis": {"axis": 3},
    "refused_repeated_axis": {"axis": (1, 1)},
}

NORMS: Final[dict[str, dict[str, Any]]] = {
    "all": {},
    "axis_0": {"axis": 0},
    "last_axis_kept": {"axis": -1, "keepdims": True},
    "two_axes": {"axis": (0, 2)},
    "all_kept": {"keepdims": True},
}
PLACES: Final[dict[str, dict[str, Any]]] = {
    "defaults": {},
    "axis_0": {"axis": 0},
    "axis_1_kept": {"axis": 1, "keepdims": True},
    "last_axis": {"axis": -1},
    "all_kept": {"keepdims": True},
    "refused_axis": {"axis": 3},
}
MOMENTS: Final[dict[str, dict[str, Any]]] = {
    "axis_0": {"axes": 0},
    "defaults": {"axes": (0, 1)},
    "last_axis_kept": {"axes": -1, "keepdims": True},
    "two_axes": {"axes": (0, 2)},
    "without_axes": {},
}
SUMS: Final[dict[str, dict[str, Any]]] = {
    "defaults": {},
    "axis_0": {"axis": 0},
    "last_axis": {"axis": -1},
    "in_float64": {"axis": 1, "dtype": "float64"},
    "in_int32": {"axis": 1, "dtype": "int32"},
    "refused_axis": {"axis": 3},
}


def _reductions() -> Iterator[Case]:
    for op in REDUCTIONS:
        for name, params in AXES.items():
            yield Case(op, name, [_nonzero(2, 3, 4)], params)
        yield Case(op, "predicting", [_nonzero(2, 3)], {"axis": 1}, is_train=False)
        yield Case(op, "one_element", [_nonzero(1)])
        yield Case(op, "axis_of_length_one", [_nonzero(3, 1, 2)], {"axis": 1})
        yield Case(op, "five_axes", [_nonzero(2, 1, 2, 1, 2)], {"axis": (1, 2, 4)})
        yield Case(op, "wide", [uniform(300, low=0.9, high=1.1)])
        yield Case(op, "wide_rows", [uniform(3, 130, low=0.9, high=1.1)], {"axis": 1})
        for dtype in ("float64", "float16"):
            yield Case(op, dtype, [uniform(3, 4, low=0.5, high=1.5, dtype=dtype)], {"axis": 1})
        for dtype in ("int32", "int64", "uint8", "int8", "bool"):
            yield Case(op, dtype, [integers(3, 4, low=0, high=4, dtype=dtype)], {"axis": 1})
        yield Case(
            op, "int32_gradient", [integers(2, 3, low=1, high=4, dtype="int32")], {"axis": 1}, grad=(0,)
        )
        yield Case(op, "uint8_overflows", [exactly([[200, 100], [3, 250]], "uint8")], {"axis": 1})
        yield Case(op, "ties", [integers(4, 5, low=0, high=2)], {"axis": 1})
        yield Case(op, "zeros", [exactly([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0]])], {"axis": 1})
        yield Case(op, "special_values", [exactly(_SPECIAL_ROWS)], {"axis": 1})
        yield Case(op, "empty_rows", [normal(0, 3)], {"axis": 1})
        yield Case(op, "of_nothing", [normal(0, 3)], {"axis": 0})
        yield Case(op, "large_mean", [normal(5, 40, mean=1000.0)], {"axis": 1})


_SPECIAL_ROWS: Final = (
    (NAN, 1.0, 2.0),
    (1.0, NAN, -1.0),
    (INF, 1.0, 2.0),
    (-INF, INF, 0.0),
    (-0.0, 0.0, -0.0),
    (NAN, NAN, NAN),
    (-INF, -INF, -INF),
)


def _nonzero(*shape: int) -> Recipe:
    return uniform(*shape, low=0.5, high=1.5)


def _norms() -> Iterator[Case]:
    for order in (1, 2):
        for name, params in NORMS.items():
            yield Case("norm", f"l{order}_{name}", [normal(2, 3, 4)], {"ord": order, **params})
        for name, values in {
            "tiny": [[1e-30, 1e-30], [1e-25, 0.0]],
            "huge": [[1e30, 1e30], [1e25, 0.0]],
            "special": _SPECIAL_ROWS,
            "zeros": [[0.0, 0.0], [0.0, 1.0]],
        }.items():
            yield Case("norm", f"l{order}_{name}", [exactly(values)], {"ord": order, "axis": 1})
        for dtype in ("float64", "float16", "int32"):
            recipe = [integers(3, 4, dtype=dtype)]
            yield Case("norm", f"l{order}_{dtype}", recipe, {"ord": order, "axis": 1})
        yield Case("norm", f"l{order}_empty", [normal(0, 3)], {"ord": order, "axis": 1})
        yield Case(
            "norm",
            f"l{order}_float16_in_float32",
            [normal(3, 4, dtype="float16")],
            {"ord": order, "axis": 1, "out_dtype": "float32"},
        )
    yield Case("norm", "defaults", [normal(3, 4)])
    yield Case("norm", "refused_order", [normal(3, 4)], {"ord": 3})
    yield Case("norm", "predicting", [normal(3, 4)], {"axis": 1}, is_train=False)


def _places() -> Iterator[Case]:
    for op in ("argmax", "argmin"):
        for name, params in PLACES.items():
            yield Case(op, name, [permutation(2, 3, 4)], params)
        yield from _values_to_search(op, {"axis": 1})
    for name, shape in {"defaults": (3, 4), "three_axes": (2, 3, 4), "one_column": (3, 1)}.items():
        yield Case("argmax_channel", name, [permutation(*shape)])
    yield from _values_to_search("argmax_channel", {})


def _values_to_search(op: str, params: dict[str, Any]) -> Iterator[Case]:
    yield Case(op, "ties", [integers(4, 6, low=0, high=2)], params)
    yield Case(op, "special_values", [exactly(_SPECIAL_ROWS)], params)
    yield Case(op, "empty_rows", [normal(0, 3)], params)
    yield Case(op, "wide", [permutation(2, 300)], params)
    for dtype in ("float64", "float16", "int32", "uint8", "int64"):
        yield Case(op, dtype, [permutation(3, 4, dtype=dtype)], params)


def _moments() -> Iterator[Case]:
    for name, params in MOMENTS.items():
        yield Case("moments", name, [normal(2, 3, 4)], params)
    yield Case("moments", "large_mean", [normal(3, 50, mean=1000.0)], {"axes": 1}, atol=1e-2)
    yield Case("moments", "float64", [normal(3, 4, dtype="float64")], {"axes": 1})
    yield Case("moments", "float16", [normal(3, 4, dtype="float16")], {"axes": 1})
    yield Case("moments", "one_element", [normal(1, 1)], {"axes": 1})
    yield Case("moments", "empty", [normal(0, 3)], {"axes": 1})
    yield Case("moments", "special_values", [exactly(_SPECIAL_ROWS)], {"axes": 1})


def _cumulative() -> Iterator[Case]:
    for name, params in SUMS.items():
        yield Case("cumsum", name, [uniform(2, 3, 4, low=0.5, high=4.0)], params)
    for dtype in ("float64", "float16", "int32", "uint8", "int64", "bool"):
        yield Case("cumsum", dtype, [integers(3, 4, low=0, high=4, dtype=dtype)], {"axis": 1})
    yield Case("cumsum", "uint8_overflows", [exactly([200, 100, 7], "uint8")], {"axis": 0})
    yield Case("cumsum", "special_values", [exactly(_SPECIAL_ROWS)], {"axis": 1})
    yield Case("cumsum", "empty", [normal(0, 3)], {"axis": 1})
    yield Case("cumsum", "one_element", [normal(1)], {"axis": 0})


CASES: Final = [*_reductions(), *_norms(), *_places(), *_moments(), *_cumulative()]
