from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_matrix.cholesky import Potrf, Potri, SumLogDiag
from operad_matrix.factorization import Gelqf, Syevd
from operad_matrix.gemm import Gemm, Gemm2, Syrk
from operad_matrix.inverse import Det, Inverse, SLogDet
from operad_matrix.packing import ExtractDiag, ExtractTrian, MakeDiag, MakeTrian
from operad_matrix.triangular import Trmm, Trsm

RNG = np.random.default_rng(61)
LEADS: list[tuple[int, ...]] = [(), (2,), (2, 1), (0,)]


def t(matrices: Any) -> Any:
    return np.swapaxes(matrices, -1, -2)


def well_conditioned(*shape: int) -> Any:
    """Square matrices near the unit matrix."""
    return np.eye(shape[-1]) + 0.2 * RNG.normal(size=shape)


def positive_definite(*shape: int) -> Any:
    factor = RNG.normal(size=shape)
    return factor @ t(factor) + np.eye(shape[-1])


def test_extra_axes_are_batches_everywhere() -> None:
    for lead in LEADS:
        square = positive_definite(*lead, 3, 3)
        for op in (Inverse, Potrf, Potri, Syrk):
            check_forward(op, [square])
            assert op().infer_shape([square.shape])[1] == [square.shape]


@pytest.mark.walk
@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize(("ta", "tb"), list(product([False, True], repeat=2)))
@pytest.mark.parametrize("alpha", [1.0, 2.5])
def test_products(lead: Any, ta: bool, tb: bool, alpha: float) -> None:
    left, right = RNG.normal(size=(*lead, 2, 3)), RNG.normal(size=(*lead, 3, 4))
    third = RNG.normal(size=(*lead, 2, 4))
    inputs = [t(left).copy() if ta else left, t(right).copy() if tb else right]
    params = {"transpose_a": ta, "transpose_b": tb, "alpha": alpha}
    check_forward(Gemm2, inputs, alpha * left @ right, **params)
    gradient_check(Gemm2, inputs, atol=1e-6, **params)
    for beta in (1.0, -0.5):
        check_forward(Gemm, [*inputs, third], alpha * left @ right + beta * third, beta=beta, **params)
        gradient_check(Gemm, [*inputs, third], atol=1e-6, beta=beta, **params)


@pytest.mark.parametrize("axis", [0, 1, -3])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_rows_of_products_may_be_along_another_axis(axis: int, transpose_a: bool) -> None:
    left, right = RNG.normal(size=(2, 2, 3, 4)), RNG.normal(size=(2, 2, 4, 5))
    if transpose_a:
        left = t(left)
    expected = (t(left) if transpose_a else left) @ right
    inputs = [np.swapaxes(left, axis, -2), np.swapaxes(right, axis, -2)]
    params = {"axis": axis, "transpose_a": transpose_a, "alpha": 2.0}
    check_forward(Gemm2, inputs, 2 * np.swapaxes(expected, axis, -2), **params)
    gradient_check(Gemm2, inputs, atol=1e-6, **params)
    third = RNG.normal(size=np.swapaxes(expected, axis, -2).shape)
    check_forward(Gemm, [*inputs, third], 2 * np.swapaxes(expected, axis, -2) + third, **params)
    gradient_check(Gemm, [*inputs, third], atol=1e-6, **params)


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("transpose", [False, True])
def test_products_with_the_own_transpose(lead: Any, transpose: bool) -> None:
    data = RNG.normal(size=(*lead, 2, 3))
    expected = 1.5 * (t(data) @ data if transpose else data @ t(data))
    check_forward(Syrk, [data], expected, transpose=transpose, alpha=1.5)
    gradient_check(Syrk, [data], atol=1e-6, transpose=transpose, alpha=1.5)


@pytest.mark.parametrize("lead", LEADS[:2], ids=str)
@pytest.mark.parametrize(("transpose", "rightside", "lower"), list(product([False, True], repeat=3)))
def test_one_triangle_multiplies_and_is_undone(
    lead: Any, transpose: bool, rightside: bool, lower: bool
) -> None:
    side = 4 if rightside else 3
    square, other = well_conditioned(*lead, side, side), RNG.normal(size=(*lead, 3, 4))
    part = np.tril(square) if lower else np.triu(square)
    operand = t(part) if transpose else part
    params = {"transpose": transpose, "rightside": rightside, "lower": lower}
    multiplied = other @ operand if rightside else operand @ other
    check_forward(Trmm, [square, other], 2 * multiplied, alpha=2.0, **params)
    gradient_check(Trmm, [square, other], atol=1e-6, alpha=2.0, **params)
    check_forward(Trsm, [square, multiplied], 0.5 * other, alpha=0.5, **params)
    gradient_check(Trsm, [square, multiplied], atol=1e-6, alpha=0.5, **params)


def symmetric_gradient(function: Callable[[Any], Any], data: Any, ograds: Any) -> Any:
    """The numeric gradient of a function of symmetric matrices, along symmetric directions."""
    gradient = np.zeros_like(data)
    for place in np.ndindex(data.shape):
        step = np.zeros_like(data)
        step[place] = 1e-6
        step = (step + t(step)) / 2
        ahead, behind = function(data + step), function(data - step)
        gradient[place] = sum(
            (g * (a - b)).sum() / 2e-6 for g, a, b in zip(ograds, ahead, behind, strict=True)
        )
    return gradient


def ograds_of(shapes: Any) -> Any:
    """What `gradient_check` draws for the gradients of the outputs."""
    rng = np.random.default_rng(0)
    return [rng.uniform(0.5, 1.5, shape) for shape in shapes]


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_factors_and_their_symmetric_gradient(lead: Any, lower: bool) -> None:
    data = positive_definite(*lead, 3, 3)

    def factor(matrices: Any) -> Any:
        found = np.linalg.cholesky(matrices)
        return [found if lower else t(found)]

    check_forward(Potrf, [data], factor(data), lower=lower)
    expected = symmetric_gradient(factor, data, ograds_of([data.shape]))
    gradient_check(Potrf, [data], [expected], rtol=1e-4, atol=1e-6, lower=lower)


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("lower", [True, False])
def test_inverses_from_cholesky_factors(lead: Any, lower: bool) -> None:
    data = well_conditioned(*lead, 3, 3)
    part = np.tril(data) if lower else t(np.triu(data))
    check_forward(Potri, [data], np.linalg.inv(part @ t(part)), lower=lower)
    gradient_check(Potri, [data], rtol=1e-4, atol=1e-6, lower=lower)


@pytest.mark.parametrize("lead", LEADS, ids=str)
def test_logarithms_of_the_diagonal(lead: Any) -> None:
    data = positive_definite(*lead, 3, 3)
    expected = np.log(np.diagonal(data, axis1=-2, axis2=-1)).sum(-1)
    check_forward(SumLogDiag, [data], np.atleast_1d(expected))
    gradient_check(SumLogDiag, [data])


@pytest.mark.parametrize("lead", LEADS, ids=str)
def test_inverses_and_determinants(lead: Any) -> None:
    data = well_conditioned(*lead, 3, 3)
    sign, logarithm = np.linalg.slogdet(data)
    check_forward(Inverse, [data], np.linalg.inv(data))
    check_forward(Det, [data], np.atleast_1d(np.linalg.det(data)))
    check_forward(SLogDet, [-data], [np.atleast_1d(-sign), np.atleast_1d(logarithm)])
    for op in (Inverse, Det, SLogDet):
        gradient_check(op, [data], rtol=1e-4, atol=1e-6)


def test_a_singular_matrix_has_determinant_and_gradient_zero() -> None:
    data = np.array([[[1.0, 2], [2, 4]], [[1, 0], [0, 2]]])
    check_forward(Det, [data], np.array([0.0, 2]))
    (grad,) = gradient_check(Det, [data], [None])
    assert grad is not None
    np.testing.assert_array_equal(grad[0], 0)
    assert (np.diagonal(grad[1]) > 0).all()
    (grad,) = gradient_check(SLogDet, [data], [None])
    assert grad is not None
    np.testing.assert_array_equal(grad[0], 0)


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("columns", [3, 5])
def test_lq_factors(lead: Any, columns: int) -> None:
    data = RNG.normal(size=(*lead, 3, columns))
    rows, lower = check_forward(Gelqf, [data])
    np.testing.assert_allclose(lower @ rows, data)
    np.testing.assert_allclose(rows @ t(rows), np.broadcast_to(np.eye(3), lower.shape), atol=1e-12)
    np.testing.assert_array_equal(np.triu(lower, 1), 0)
    gradient_check(Gelqf, [data], rtol=1e-4, atol=1e-6)


def test_lq_factors_of_mxnets_documentation() -> None:
    rows, lower = check_forward(Gelqf, [np.array([[1.0, 2, 3], [4, 5, 6]])])
    np.testing.assert_allclose(
        rows, [[-0.26726124, -0.53452248, -0.80178373], [0.87287156, 0.21821789, -0.43643578]], rtol=1e-6
    )
    np.testing.assert_allclose(lower, [[-3.74165739, 0], [-8.55235974, 1.96396101]], rtol=1e-6)


@pytest.mark.parametrize("lead", LEADS, ids=str)
def test_eigenvectors_are_rows_with_a_positive_largest_element(lead: Any) -> None:
    data = positive_definite(*lead, 3, 3)
    rows, values = check_forward(Syevd, [data])
    np.testing.assert_allclose(t(rows) @ (values[..., None] * rows), data, atol=1e-12)
    np.testing.assert_array_equal(values, np.sort(values, -1))
    assert (rows.max(-1) == np.abs(rows).max(-1)).all()

    def factors(matrices: Any) -> Any:
        return check_forward(Syevd, [matrices])

    expected = symmetric_gradient(factors, data, ograds_of([rows.shape, values.shape]))
    gradient_check(Syevd, [data], [expected], rtol=1e-3, atol=1e-5)


def test_equal_eigenvalues_leave_the_gradient_finite() -> None:
    (grad,) = gradient_check(Syevd, [np.eye(2)], [None])
    assert np.isfinite(grad).all()


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("offset", [-2, -1, 0, 1])
def test_diagonals_go_out_and_back(lead: Any, offset: int) -> None:
    data = RNG.normal(size=(*lead, 3, 3))
    taken = np.diagonal(data, offset, -2, -1)
    check_forward(ExtractDiag, [data], taken, offset=offset)
    gradient_check(ExtractDiag, [data], offset=offset)
    back = np.triu(np.tril(data, offset), offset)
    check_forward(MakeDiag, [taken], back, offset=offset)
    gradient_check(MakeDiag, [taken], offset=offset)


@pytest.mark.parametrize(
    ("params", "packed"),
    [
        ({}, [1, 5, 6, 9, 10, 11, 13, 14, 15, 16]),
        ({"lower": False}, [1, 2, 6, 3, 7, 11, 4, 8, 12, 16]),
        ({"offset": 1}, [2, 3, 7, 4, 8, 12]),
        ({"offset": 1, "lower": True}, [2, 3, 7, 4, 8, 12]),
        ({"offset": -1}, [5, 9, 10, 13, 14, 15]),
        ({"offset": -2, "lower": False}, [9, 13, 14]),
    ],
)
def test_triangles_are_packed_as_mxnet_does(params: Any, packed: list[int]) -> None:
    data = np.arange(1.0, 17).reshape(4, 4)
    check_forward(ExtractTrian, [data], np.array(packed), **params)
    gradient_check(ExtractTrian, [data], **params)
    (back,) = check_forward(
        MakeTrian, [np.array(packed, float)], np.where(np.isin(data, packed), data, 0), **params
    )
    gradient_check(MakeTrian, [np.stack([np.array(packed, float)] * 2)], **params)
    assert back.shape == (4, 4)


@pytest.mark.parametrize(
    ("op", "shapes", "params", "message"),
    [
        (Gemm2, [(2, 3), (2, 3)], {}, "linalg_gemm2: B has shape"),
        (Gemm, [(2, 3), (3, 2), (2, 3)], {}, "linalg_gemm: C has shape"),
        (Inverse, [(2, 3)], {}, "linalg_inverse: A has shape"),
        (Trmm, [(3, 3), (4, 3)], {}, "linalg_trmm: B has shape"),
        (Gelqf, [(4, 3)], {}, "at most as many rows as columns"),
        (ExtractDiag, [(2, 2)], {"offset": 2}, "more rows than offset"),
        (MakeTrian, [(4,)], {}, "expected a triangular number"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(op: Any, shapes: Any, params: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        op(**params).infer_shape(shapes)


@pytest.mark.parametrize("dtype", ["float16", "int32"])
def test_types_without_lapack_are_refused(dtype: str) -> None:
    with pytest.raises(DTypeError, match=f"A is {dtype}, expected float32 or float64; cast with astype"):
        Inverse().infer_type([np.dtype(dtype)])


OF_ONE = "syrk potrf potri sumlogdiag inverse det slogdet gelqf syevd"
OF_ONE += " extractdiag makediag extracttrian maketrian"
COUNTS = {"gemm": 3, "gemm2": 2, "trmm": 2, "trsm": 2, **dict.fromkeys(OF_ONE.split(), 1)}
PARAMS: dict[str, dict[str, Any]] = {"extractdiag": {"offset": 1}, "extracttrian": {"lower": False}}


@pytest.mark.walk
@pytest.mark.parametrize("prefix", ["linalg_", "_linalg_"])
@pytest.mark.parametrize("name", COUNTS)
def test_runs_imperatively_and_symbolically_in_single_precision(name: str, prefix: str) -> None:
    params = PARAMS.get(name, {})
    arrays = {letter: od.nd.array(positive_definite(2, 3, 3)) for letter in "ABC"[: COUNTS[name]]}
    eager = getattr(od.nd, prefix + name)(*arrays.values(), **params)
    eager = eager if isinstance(eager, (list, tuple)) else [eager]
    symbol = getattr(od.sym, prefix + name)(*map(od.sym.var, arrays), **params)
    for got, want in zip(symbol.bind(od.cpu(), arrays).forward(), eager, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())
        assert got.asnumpy().dtype == "float32"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("prop", [Inverse(), Potri()], ids=lambda prop: prop.name)
def test_a_matrix_that_is_not_finite_has_no_inverse_and_leaves_the_others_alone(
    prop: Any, value: float
) -> None:
    matrices = np.stack([np.eye(2), np.eye(2)])
    matrices[0, 1, 0] = value
    check_forward(prop, [matrices], np.stack([np.full((2, 2), np.nan), np.eye(2)]))


def test_a_system_that_is_not_finite_has_no_solution_and_leaves_the_others_alone() -> None:
    matrices = np.stack([np.eye(2), np.eye(2)])
    matrices[0, 1, 0] = np.inf
    check_forward(Trsm(), [matrices, np.ones((2, 2, 1))], np.array([[[np.nan]] * 2, [[1.0]] * 2]))


@pytest.mark.parametrize("prop", [Gemm(axis=3), Gemm2(axis=-4)], ids=lambda prop: prop.name)
def test_rows_along_an_axis_that_is_not_there_are_refused(prop: Any) -> None:
    with pytest.raises(ShapeError, match=r"A has shape \(2, 2, 2\), which has no axis"):
        prop.infer_shape([(2, 2, 2)] * len(prop.list_arguments()))


def test_what_is_added_times_0_is_not_read() -> None:
    one, missing = np.ones((1, 1)), np.full((1, 1), np.nan)
    check_forward(Gemm, [2 * one, 3 * one, missing], 6 * one, beta=0.0)


# What MXNet 1.9.1 computes: substitution goes on with the infinity.
ZEROS: list[tuple[Any, Any, dict[str, bool], Any]] = [
    ([[0, 0], [1, 1]], [[1], [2]], {}, [[np.inf], [-np.inf]]),
    ([[1, 0], [1, 0]], [[1, 2]], {"rightside": True}, [[-np.inf, np.inf]]),
    ([[1, 0], [1, 0]], [[1, 2]], {"rightside": True, "transpose": True}, [[1, np.inf]]),
    ([[2, 3], [1, 0]], [[1], [2]], {"lower": False}, [[-np.inf], [np.inf]]),
]


@pytest.mark.parametrize(("square", "other", "params", "expected"), ZEROS)
def test_a_triangle_with_a_zero_on_its_diagonal_is_solved_as_far_as_it_goes(
    square: Any, other: Any, params: dict[str, bool], expected: Any
) -> None:
    check_forward(Trsm, [np.array(square, float), np.array(other, float)], np.array(expected), **params)


@pytest.mark.parametrize(("transpose", "rightside", "lower"), list(product([False, True], repeat=3)))
def test_one_singular_triangle_leaves_the_others_their_solutions(
    transpose: bool, rightside: bool, lower: bool
) -> None:
    squares, others = well_conditioned(2, 3, 3), RNG.normal(size=(2, 3, 3))
    params = {"transpose": transpose, "rightside": rightside, "lower": lower}
    (expected,) = check_forward(Trsm, [squares[:1], others[:1]], **params)
    squares[1, 1, 1] = 0
    (found,) = check_forward(Trsm, [squares, others], **params)
    np.testing.assert_allclose(found[:1], expected, rtol=1e-12)
    assert not np.isfinite(found[1]).all()


def test_what_is_undefined_or_overflows_warns_nobody() -> None:
    def ran(name: str, *arrays: Any) -> Any:
        return getattr(od.nd, name)(*map(od.nd.array, arrays)).asnumpy()

    np.testing.assert_array_equal(ran("linalg_sumlogdiag", [[-1, 0], [0, 1]]), [np.nan])
    np.testing.assert_array_equal(ran("linalg_sumlogdiag", [[0, 0], [0, 1]]), [-np.inf])
    np.testing.assert_array_equal(ran("linalg_gemm2", [[1e30]], [[1e30]]), [[np.inf]])
    np.testing.assert_array_equal(ran("linalg_gemm2", [[np.inf]], [[0]]), [[np.nan]])
    np.testing.assert_array_equal(ran("linalg_trsm", [[0, 0], [1, 1]], [[0], [2]]), [[np.nan], [np.nan]])


# In the order of MXNet 1.9.1's own signatures, which positional calls rely on.
ORDERS: list[tuple[Any, str]] = [
    (Gemm, "transpose_a transpose_b alpha beta axis"),
    (Gemm2, "transpose_a transpose_b alpha axis"),
    (Syrk, "transpose alpha"),
    (Trmm, "transpose rightside lower alpha"),
    (Trsm, "transpose rightside lower alpha"),
    (ExtractDiag, "offset"),
    (MakeDiag, "offset"),
    (ExtractTrian, "offset lower"),
    (MakeTrian, "offset lower"),
]


@pytest.mark.parametrize(("op", "names"), ORDERS)
def test_parameters_are_in_mxnets_order(op: Any, names: str) -> None:
    assert list(op.params) == names.split()


@pytest.mark.parametrize("lower", [True, False])
def test_the_reference_of_the_factor_is_the_factor(lower: bool) -> None:
    a = np.array([[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]])
    factor = np.linalg.cholesky(a)
    np.testing.assert_allclose(Potrf.contract.reference(a, lower), factor if lower else factor.T, atol=1e-12)
