"""Cases of MXNet's NumPy operators that have other types or shapes than the operators of the same name."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.recorded.case import Case, exactly, integers, normal, uniform


def _statistics() -> Iterator[Case]:
    for op in ("_npi_var", "_npi_std"):
        for name, params in {
            "defaults": {},
            "columns": {"axis": 0},
            "two_axes": {"axis": (0, 2), "keepdims": True},
            "from_the_end": {"axis": -1},
            "divisor": {"axis": 1, "ddof": 1},
            "to_float64": {"axis": 1, "dtype": "float64"},
            "to_float16": {"axis": 1, "dtype": "float16"},
            "to_int32": {"axis": 1, "dtype": "int32"},
        }.items():
            yield Case(
                op,
                name,
                [normal(2, 3, 4, scale=3.0)],
                params,
                rtol={"to_float16": 2e-3, "to_float64": 1e-5}.get(name),
            )
        yield Case(op, "no_axis", [normal(2, 3)], {"axis": ()}, grad=())
        yield Case(op, "float16", [normal(2, 3, dtype="float16")], {"axis": 1}, rtol=4e-3)
        yield Case(op, "float64", [normal(2, 3, dtype="float64")], {"axis": 1}, rtol=1e-5)
        yield Case(op, "whole_mean", [exactly([[1, 3, 5], [2, 2, 2]], "int32")], {"axis": 1})
        yield Case(op, "beyond_the_axes", [normal(2, 3)], {"axis": 2})
        yield Case(op, "refused_bool", [exactly([[True, False]], "bool")], {"axis": 1})


def _percentiles() -> Iterator[Case]:
    op = "_npi_percentile"
    data = normal(3, 5)
    for way in ("linear", "lower", "higher", "nearest", "midpoint"):
        params = {"interpolation": way, "axis": 1}
        yield Case(op, f"{way}_number", [data], params | {"q_scalar": 30.0}, grad=())
        yield Case(op, f"{way}_tie", [normal(3, 4)], params | {"q_scalar": 50.0}, grad=())
        yield Case(op, f"{way}_array", [data, exactly([0, 12.5, 62.5, 100])], params, grad=())
    yield Case(op, "defaults", [data], {"q_scalar": 25.0}, grad=())
    yield Case(op, "gradient", [data], {"q_scalar": 25.0, "axis": 1}, grad=(0,))
    yield Case(
        op, "two_axes", [normal(2, 3, 4)], {"q_scalar": 40.0, "axis": (0, 2), "keepdims": True}, grad=()
    )
    yield Case(
        op, "int32", [integers(3, 5, low=-9, high=9, dtype="int32")], {"q_scalar": 30.0, "axis": 1}, grad=()
    )
    for dtype in ("float16", "float64"):
        yield Case(op, dtype, [normal(3, 5, dtype=dtype)], {"q_scalar": 75.0, "axis": 0}, grad=(), rtol=1e-3)
    yield Case(op, "beyond_a_hundred", [data], {"q_scalar": 130.0}, grad=())
    yield Case(op, "array_beyond", [data, exactly([20.0, -1.0])], {}, grad=())
    yield Case(op, "two_axes_of_q", [data, exactly([[20.0], [30.0]])], {}, grad=())


def _different() -> Iterator[Case]:
    op, data = "_npi_unique", exactly([[3, 1, 3], [2, 1, 2], [3, 1, 3]])
    everything = {"return_index": True, "return_inverse": True, "return_counts": True}
    yield Case(op, "defaults", [data], grad=())
    yield Case(op, "everything", [data], everything, grad=())
    for axis in (0, 1, -1):
        name = f"axis_{axis}".replace("-", "minus_")
        yield Case(op, name, [data], {"axis": axis}, grad=())
        yield Case(op, f"{name}_everything", [data], everything | {"axis": axis}, grad=())
    yield Case(op, "three_axes", [integers(2, 3, 4, low=0, high=2)], everything | {"axis": 1}, grad=())
    for dtype in ("int32", "int64", "uint8", "float16", "float64"):
        yield Case(op, dtype, [integers(3, 4, low=0, high=5, dtype=dtype)], everything, grad=())
    yield Case(op, "beyond_the_axes", [data], {"axis": 2}, grad=())


def _numbers() -> Iterator[Case]:
    for op in ("_npi_arctan2_scalar", "_npi_copysign_scalar"):
        for name, scalar in {"positive": 1.5, "negative": -2.0, "zero": 0.0, "minus_zero": -0.0}.items():
            yield Case(op, name, [uniform(3, 4, low=-3, high=3)], {"scalar": scalar})
        yield Case(op, "at_zero", [exactly([0.0, -0.0, 1.0])], {"scalar": 2.0}, grad=())
        yield Case(op, "defaults", [uniform(4, low=0.2)])
        for dtype, rtol in {"float16": 4e-3, "float64": 1e-6}.items():
            yield Case(op, dtype, [uniform(4, low=0.2, dtype=dtype)], {"scalar": 1.25}, rtol=rtol)
        for dtype in ("int8", "int32", "int64", "uint8"):
            numbers = integers(6, low=1, high=9, dtype=dtype)
            yield Case(op, dtype, [numbers], {"scalar": 2.0}, grad=())
            yield Case(
                op, f"{dtype}_and_a_fraction", [numbers], {"scalar": 2.5, "is_int": False}, rtol=1e-6, grad=()
            )
        yield Case(
            op,
            "int32_and_a_cut_fraction",
            [integers(6, low=1, high=9, dtype="int32")],
            {"scalar": 2.5},
            grad=(),
        )
        yield Case(op, "bool", [exactly([True, False], "bool")], {"scalar": 1.0}, grad=())
    for op in ("_npi_bitwise_and_scalar", "_npi_bitwise_or_scalar", "_npi_bitwise_xor_scalar"):
        for dtype in ("int8", "int32", "int64", "uint8"):
            yield Case(op, dtype, [integers(6, low=0, high=100, dtype=dtype)], {"scalar": 11}, grad=())
        bits = integers(6, low=0, high=100, dtype="int32")
        yield Case(op, "defaults", [bits], grad=())
        yield Case(op, "negative", [bits], {"scalar": -3}, grad=())
        yield Case(op, "fraction", [bits], {"scalar": 3.7, "is_int": False}, grad=())
        yield Case(
            op, "beyond_the_type", [integers(6, low=0, high=9, dtype="uint8")], {"scalar": 300}, grad=()
        )
        yield Case(op, "bool", [exactly([True, False], "bool")], {"scalar": 2}, grad=())
        yield Case(op, "refused_float32", [normal(4)], {"scalar": 2}, grad=())


CASES: list[Case] = [*_statistics(), *_percentiles(), *_different(), *_numbers()]
