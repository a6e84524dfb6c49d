"""Cases of smooth_l1, attention products, boxes and other operators outside the core set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal

INF = float("inf")
NAN = float("nan")


def smooth_l1s() -> Iterator[Case]:
    """A parabola within 1 / scalar^2 of zero, a line outside."""
    for scalar in (0.5, 1.0, 2.0, 10.0):
        label = str(scalar).replace(".", "_")
        yield Case("smooth_l1", f"scalar_{label}", (normal(3, 4),), {"scalar": scalar})
    limits = exactly([-1.0, -0.25, -0.0, 0.0, 0.25, 1.0])
    yield Case("smooth_l1", "limits_of_scalar_1", (limits,), {"scalar": 1.0})
    yield Case("smooth_l1", "limits_of_scalar_2", (limits,), {"scalar": 2.0})
    yield Case("smooth_l1", "scalar_0", (normal(4),), {"scalar": 0.0})
    yield Case("smooth_l1", "one_element", (normal(1),), {"scalar": 1.0})
    yield Case("smooth_l1", "four_axes", (normal(2, 1, 3, 2),), {"scalar": 1.0})
    yield Case("smooth_l1", "large", (exactly([1e20, -1e20, 1e-20]),), {"scalar": 1.0})
    yield Case("smooth_l1", "inf_and_nan", (exactly([INF, -INF, NAN]),), {"scalar": 1.0})
    yield Case("smooth_l1", "float64", (normal(3, 4, dtype="float64"),), {"scalar": 1.5})
    yield Case("smooth_l1", "float16", (normal(3, 4, dtype="float16"),), {"scalar": 1.5})
    yield Case("smooth_l1", "int32", (integers(3, 4, dtype="int32"),), {"scalar": 1.0}, grad=())


def interleaved(prefix: str) -> Iterator[Case]:
    """Products of heads whose queries, keys and values lie side by side."""
    sizes = [  # length, batch, heads, size of a head, dtype
        ("defaults", 3, 2, 2, 2, "float32"),
        ("one_head", 3, 2, 1, 3, "float32"),
        ("three_heads", 2, 1, 3, 2, "float32"),
        ("one_step", 1, 2, 2, 2, "float32"),
        ("head_of_one", 2, 2, 2, 1, "float32"),
        ("all_axes_one", 1, 1, 1, 1, "float32"),
        ("refused_float64", 3, 2, 2, 2, "float64"),
    ]
    for name, length, batch, heads, size, dtype in sizes:
        width, memory = heads * size, length + 1
        own = normal(length, batch, 3 * width, dtype=dtype)
        queries = normal(length, batch, width, dtype=dtype)
        keys_values = normal(memory, batch, 2 * width, dtype=dtype)
        params = {"heads": heads}
        yield Case(f"{prefix}_selfatt_qk", name, (own,), params)
        attention = normal(batch * heads, length, length, dtype=dtype)
        yield Case(f"{prefix}_selfatt_valatt", name, (own, attention), params)
        yield Case(f"{prefix}_encdec_qk", name, (queries, keys_values), params)
        attention = normal(batch * heads, length, memory, dtype=dtype)
        yield Case(f"{prefix}_encdec_valatt", name, (keys_values, attention), params)


def quadratics() -> Iterator[Case]:
    """a * x^2 + b * x + c."""
    op = "_contrib_quadratic"
    coefficients: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {}),
        ("all", {"a": 1.5, "b": -2.0, "c": 0.5}),
        ("square", {"a": 2.0}),
        ("line", {"b": 3.0}),
        ("constant", {"c": -1.0}),
    ]
    for name, params in coefficients:
        yield Case(op, name, (normal(3, 4),), params)
    params = {"a": 1.0, "b": 2.0, "c": 3.0}
    yield Case(op, "one_element", (normal(1),), params)
    yield Case(op, "inf_and_nan", (exactly([INF, -INF, NAN]),), params)
    yield Case(op, "float64", (normal(3, 4, dtype="float64"),), params)
    yield Case(op, "float16", (normal(3, 4, dtype="float16"),), params)
    yield Case(op, "int32", (integers(3, 4, dtype="int32"),), params, grad=())


def all_closes() -> Iterator[Case]:
    """Comparisons: 1 where every pair is close, else 0."""
    op = "_contrib_allclose"
    pairs: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("equal", [1.0, 2.0], [1.0, 2.0], {}),
        ("apart", [1.0, 2.0], [1.0, 2.5], {}),
        ("within_rtol", [1.0, 1000.0], [1.0, 1000.5], {"rtol": 1e-3}),
        ("beyond_rtol", [1.0, 1000.0], [1.0, 1002.0], {"rtol": 1e-3}),
        ("within_atol", [0.0], [0.5], {"atol": 0.6, "rtol": 0.0}),
        ("beyond_atol", [0.0], [0.5], {"atol": 0.4, "rtol": 0.0}),
        ("relative_to_the_second", [0.0, 10.0], [0.0, 11.0], {"rtol": 0.095, "atol": 0.0}),
        ("nan_equal", [NAN, 1.0], [NAN, 1.0], {"equal_nan": True}),
        ("nan_differs", [NAN, 1.0], [NAN, 1.0], {"equal_nan": False}),
        ("nan_and_number", [NAN], [1.0], {}),
        ("infinities", [INF, -INF], [INF, -INF], {}),
        ("infinities_of_other_sign", [INF], [-INF], {}),
        ("infinity_and_number", [INF], [1.0], {}),
    ]
    for name, left, right, params in pairs:
        yield Case(op, name, (exactly(left), exactly(right)), params, grad=())
    double = exactly([[1.0, 2.0]], "float64")
    yield Case(op, "float64", (double, double), grad=())
    yield Case(op, "int32", (exactly([1, 2], "int32"), exactly([1, 3], "int32")), grad=())


def for_gpus_alone() -> Iterator[Case]:
    """Cases that MXNet computes on no CPU."""
    yield Case("_contrib_fft", "refused_on_a_cpu", (normal(2, 4),), grad=())
    yield Case("_contrib_ifft", "refused_on_a_cpu", (normal(2, 8),), grad=())
    hashes: tuple[Recipe, ...] = (normal(2, 3), exactly([[0.0, 1.0, 0.0]]), exactly([[1.0, -1.0, 1.0]]))
    yield Case("_contrib_count_sketch", "refused_on_a_cpu", hashes, {"out_dim": 2}, grad=())


CASES: list[Case] = [
    *smooth_l1s(),
    *interleaved("_contrib_interleaved_matmul"),
    *quadratics(),
    *all_closes(),
    *for_gpus_alone(),
]
