"""Products by BLAS or by vector code, whichever is faster."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk import multiplication
from operad_sdk.multiplication import RightFactor, multiply, reason_for_blas
from operad_sdk.vector import host, reason_against
from operator_sdk.sdk.tests.test_products import Run

in_vectors = pytest.mark.skipif(reason_against() is not None, reason="there is no vector code")
with_avx512 = pytest.mark.skipif(
    reason_against() is not None or host().vectors_held < 32,
    reason=reason_against() or "BLAS is as fast on this processor",
)
RNG = np.random.default_rng(47)


@pytest.fixture(params=["BLAS", pytest.param("vector code", marks=in_vectors), "BLAS, for large matrices"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Way in which products are computed, though they are small."""
    way: str = request.param
    monkeypatch.setattr(multiplication, "_VECTORS_HELD", 0)
    monkeypatch.setattr(multiplication, "_LARGE", 0 if way == "vector code" else 1 << 40)
    monkeypatch.setattr(multiplication, "_TURNED", (0, 0) if way == "vector code" else (1 << 40, 0))
    monkeypatch.setattr(multiplication, "_COPIED_BY_BLAS", 0 if way.endswith("matrices") else 1 << 40)
    return way


def matrices(dtype: str) -> list[np.ndarray]:
    shapes = [(12, 30), (30, 20), (20,), (12, 20)]
    return [RNG.standard_normal(shape).astype(dtype) for shape in shapes]


@pytest.mark.walk
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_product_is_the_same_either_way(way: str, dtype: str, has_bias: bool, is_turned: bool) -> None:
    left, right, bias, out = matrices(dtype)
    if is_turned:
        right = np.asfortranarray(right)
    expected = left @ right + (bias if has_bias else 0)
    multiply(left, right, out, bias if has_bias else None)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("stack", [(4, 1), (1, 5), (4, 5), ()])
def test_a_stack_is_multiplied_by_one_of_fewer_matrices(
    stack: tuple[int, ...], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right = RNG.standard_normal((4, 5, 6, 7)), RNG.standard_normal((*stack, 7, 9))
    for limits in ({"_STACKED": 0, "_VECTORS_HELD": 0}, {"_STACKED": 1 << 40, "_PART": 1}):
        for name, value in limits.items():
            monkeypatch.setattr(multiplication, name, value)
        out = np.full((4, 5, 6, 9), np.nan)
        multiply(left, right, out, op_ctx=Run(threads))
        np.testing.assert_allclose(out, left @ right, rtol=1e-12, atol=1e-12)


@pytest.mark.walk
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("adds", [False, True])
def test_products_with_one_factor_are_written_or_added(
    way: str, dtype: str, has_bias: bool, adds: bool
) -> None:
    left, right, bias, out = matrices(dtype)
    factor = RightFactor(right)
    expected = out.copy()
    for _ in range(2):
        expected = left @ right + (bias if has_bias else 0) + (expected if adds else 0)
        factor.multiply(left, out, bias if has_bias else None, adds=adds)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_rows_that_lie_apart_are_written_where_they_are(way: str) -> None:
    left, right, _, _ = matrices("float32")
    wide = np.zeros((12, 50), "f")
    RightFactor(right).multiply(left, wide[:, 10:30])
    np.testing.assert_allclose(wide[:, 10:30], left @ right, rtol=1e-5, atol=1e-5)
    assert not wide[:, :10].any()
    assert not wide[:, 30:].any()


def test_what_has_no_vector_code_is_multiplied_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplication, "_LARGE", 0)
    left, right, out = np.ones((9, 9), int), np.ones((9, 9), int), np.zeros((9, 9), int)
    multiply(left, right, out)
    assert (out == 9).all()


@with_avx512
@pytest.mark.parametrize(
    ("rows", "shape", "order", "dtype", "is_blas"),
    [
        (64, (784, 512), "C", "float32", False),
        (64, (784, 512), "F", "float64", False),
        (64, (784, 512), "C", "float64", True),
        (1, (784, 512), "C", "float32", True),
        (64, (64, 64), "C", "float32", True),
        (64, (64, 64), "F", "float32", False),
        (64, (784, 10), "F", "float32", True),
        (4096, (1, 512), "C", "float32", True),
        (4096, (512, 4), "C", "float32", True),
        (8, (1024, 4096), "C", "float32", True),
        (64, (32, 64, 64), "C", "float64", False),
        (16, (4, 16, 16), "C", "float32", True),
        (1, (32, 64, 64), "C", "float32", True),
    ],
)
def test_blas_computes_what_it_computes_faster(
    rows: int, shape: tuple[int, ...], order: str, dtype: str, is_blas: bool
) -> None:
    reason = reason_for_blas(rows, np.empty(shape, dtype, order))  # type: ignore[call-overload]
    assert (reason is not None) == is_blas


@in_vectors
def test_blas_computes_everything_where_registers_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplication, "_VECTORS_HELD", 33)
    assert "registers hold" in (reason_for_blas(64, np.empty((784, 512), "f")) or "")


def test_blas_computes_everything_without_vector_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplication, "reason_against", lambda: "there is no compiler")
    assert reason_for_blas(64, np.empty((784, 512), "f")) == "there is no compiler"
    left, right, out = np.ones((64, 784), "f"), np.ones((784, 512), "f"), np.empty((64, 512), "f")
    multiply(left, right, out, np.ones(512, "f"))
    assert (out == 785).all()
