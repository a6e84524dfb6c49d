"""Operators that make arrays from parameters, and copies."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded.case import SHAPES, Case, exactly, integers, normal

NAN, INF = float("nan"), float("inf")
DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64")


def _made(op: str, cases: dict[str, dict[str, Any]]) -> list[Case]:
    """A case per set of parameters; there is nothing to differentiate."""
    return [Case(op, name, params=params) for name, params in cases.items()]


def _of_dtypes(op: str, *, with_bool: bool = True, **params: Any) -> list[Case]:
    """A case per dtype."""
    names = (*DTYPES, "bool") if with_bool else DTYPES
    return _made(op, {f"of_{name}": {**params, "dtype": name} for name in names})


def _filled() -> list[Case]:
    values = {
        "zero": 0,
        "fraction": 2.5,
        "negative": -3.75,
        "nan": NAN,
        "inf": INF,
        "tiny": 1e-30,
        "large": 1e30,
    }
    return [
        *(
            Case(op, name, params={"shape": shape})
            for op in ("_zeros", "_ones")
            for name, shape in SHAPES.items()
        ),
        *_of_dtypes("_zeros", shape=(2, 2)),
        *_of_dtypes("_ones", shape=(2, 2)),
        *(Case("_full", name, params={"shape": shape, "value": 1.5}) for name, shape in SHAPES.items()),
        *(Case("_full", f"value_{name}", params={"shape": (2,), "value": v}) for name, v in values.items()),
        *_of_dtypes("_full", shape=(2,), value=2.0),
        *_made(
            "_full",
            {
                "fraction_in_int32": {"shape": (2,), "value": -2.75, "dtype": "int32"},
                "overflows_float16": {"shape": (2,), "value": 1e6, "dtype": "float16"},
                "float64_keeps_every_digit": {"shape": (2,), "value": 0.1, "dtype": "float64"},
            },
        ),
    ]


def _ranges() -> list[Case]:
    return [
        *_made(
            "_arange",
            {
                "stop_alone": {"start": 0, "stop": 5},
                # What Python calls the stop is the start here if no stop is given.
                "start_alone": {"start": 4},
                "start_and_stop": {"start": 2, "stop": 6},
                "step": {"start": 1, "stop": 10, "step": 3},
                "fractions": {"start": 0.5, "stop": 2.0, "step": 0.25},
                "inexact_step": {"start": 0, "stop": 1, "step": 0.1},
                "negative_step": {"start": 5, "stop": -1, "step": -2},
                "negative_range": {"start": -3, "stop": 0},
                "repeat": {"start": 0, "stop": 3, "repeat": 2},
                "repeat_and_step": {"start": 4, "stop": 0, "step": -1.5, "repeat": 3},
                "one_element": {"start": 3, "stop": 3.5},
                "step_beyond_stop": {"start": 0, "stop": 1, "step": 5},
                "large": {"start": 16777210, "stop": 16777218},
                "fractions_of_int32": {"start": 1.9, "stop": 9.9, "step": 2.7, "dtype": "int32"},
                "refused_step_0": {"start": 0, "stop": 1, "step": 0},
                "refused_wrong_direction": {"start": 0, "stop": 5, "step": -1},
            },
        ),
        *_of_dtypes("_arange", with_bool=False, start=1, stop=6, step=2),
        *_made(
            "_linspace",
            {
                "defaults": {"start": 0, "stop": 1, "num": 5},
                "fractions": {"start": -0.3, "stop": 0.7, "num": 7},
                "descending": {"start": 3, "stop": -3, "num": 4},
                "without_endpoint": {"start": 0, "stop": 1, "num": 4, "endpoint": False},
                "descending_without_endpoint": {"start": 2, "stop": -1, "num": 3, "endpoint": False},
                "one_point": {"start": 2, "stop": 5, "num": 1},
                "one_point_without_endpoint": {"start": 2, "stop": 5, "num": 1, "endpoint": False},
                "two_points": {"start": 2, "stop": 5, "num": 2},
                "equal_ends": {"start": 2, "stop": 2, "num": 3},
                "many_points": {"start": 0, "stop": 1, "num": 50},
                "truncated": {"start": 0, "stop": 4, "num": 6, "dtype": "int32"},
                "no_points": {"start": 0, "stop": 1, "num": 0},
                "refused_negative_count": {"start": 0, "stop": 1, "num": -1},
            },
        ),
        *_of_dtypes("_linspace", with_bool=False, start=0, stop=8, num=5),
    ]


def _identities() -> list[Case]:
    offsets = {
        "k_1": 1,
        "k_minus_1": -1,
        "k_2": 2,
        "k_minus_2": -2,
        "k_beyond_columns": 7,
        "k_beyond_rows": -7,
    }
    return [
        *_made("_eye", {"defaults": {"N": 3}, "wide": {"N": 2, "M": 4}, "tall": {"N": 4, "M": 2}}),
        *_made("_eye", {"one": {"N": 1}, "one_row": {"N": 1, "M": 3}, "M_0_is_square": {"N": 2, "M": 0}}),
        *_made("_eye", {f"square_{name}": {"N": 3, "k": k} for name, k in offsets.items()}),
        *_made("_eye", {f"wide_{name}": {"N": 2, "M": 4, "k": k} for name, k in offsets.items()}),
        *_of_dtypes("_eye", with_bool=False, N=2, M=3, k=1),
    ]


def _arange_like() -> list[Case]:
    op = "_contrib_arange_like"
    params: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
        "defaults": ((2, 3), {}),
        "axis_0": ((2, 3), {"axis": 0}),
        "axis_1": ((2, 3), {"axis": 1}),
        "negative_axis": ((2, 3, 4), {"axis": -1}),
        "start_and_step": ((4,), {"start": 2.0, "step": 0.5}),
        "negative_step": ((2, 3), {"axis": 1, "start": 5.0, "step": -2.0}),
        "repeat": ((2, 3), {"repeat": 2}),
        "repeat_on_axis": ((2, 6), {"axis": 1, "repeat": 2}),
        "axis_of_one": ((1, 3), {"axis": 0}),
        "empty": ((0, 3), {}),
        "empty_axis": ((0, 3), {"axis": 0}),
        "refused_axis_too_large": ((2, 3), {"axis": 2}),
    }
    return [
        *(Case(op, name, [normal(*shape)], given, grad=[]) for name, (shape, given) in params.items()),
        *(Case(op, f"of_{dtype}", [integers(4, low=0, dtype=dtype)], grad=[]) for dtype in DTYPES),
        Case(op, "gradient_is_zero", [normal(3)]),
    ]


def _copies() -> list[Case]:
    return [
        *(
            Case("_copyto", name, [normal(*shape)], grad=[])
            for name, shape in SHAPES.items()
            if name != "one_number"
        ),
        Case("_copyto", "empty", [normal(0, 3)], grad=[]),
        Case("_copyto", "special_values", [exactly([NAN, INF, -INF, -0.0, 1e-45])], grad=[]),
        *(Case("_copyto", f"of_{dtype}", [integers(4, low=0, dtype=dtype)], grad=[]) for dtype in DTYPES),
    ]


CASES: list[Case] = [*_filled(), *_ranges(), *_identities(), *_arange_like(), *_copies()]
