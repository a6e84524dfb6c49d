from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_reduce.extrema import Max, Min
from operad_reduce.moments import Moments
from operad_reduce.norm import Norm
from operad_reduce.products import NanProd, Prod
from operad_reduce.sums import Mean, NanSum, Sum

RNG = np.random.default_rng(41)

# parameters, and the axes of a (2, 3, 4) array that they reduce
AXES: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    ({}, (0, 1, 2)),
    ({"axis": ()}, (0, 1, 2)),
    ({"axis": 1}, (1,)),
    ({"axis": (0, -1)}, (0, 2)),
    ({"axis": (0, 1, 2)}, (0, 1, 2)),
]
EXCLUDED: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    ({"axis": 1, "exclude": True}, (0, 2)),
    ({"axis": (), "exclude": True}, (0, 1, 2)),
    ({"axis": (0, 1, 2), "exclude": True}, ()),
]
REDUCTIONS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "sum": (Sum, np.sum),
    "mean": (Mean, np.mean),
    "prod": (Prod, np.prod),
    "nansum": (NanSum, np.nansum),
    "nanprod": (NanProd, np.nanprod),
    "max": (Max, np.max),
    "min": (Min, np.min),
}


def distinct(*shape: int) -> Any:
    """No two alike, none 0, some negative."""
    size = int(np.prod(shape))
    return ((RNG.permutation(size) - size // 2 + 0.5) / size).reshape(shape)


def norm(order: int) -> Callable[..., Any]:
    def of(data: Any, axis: Any, keepdims: bool) -> Any:
        powers = np.sum(np.abs(data) ** order, axis=axis, keepdims=keepdims)
        return powers ** (1 / order)

    return of


@pytest.mark.walk
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("params", "axes"), AXES + EXCLUDED, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values_and_gradients(name: str, params: dict[str, Any], axes: Any, keepdims: bool) -> None:
    op, reference = REDUCTIONS[name]
    data = distinct(2, 3, 4)
    expected = np.atleast_1d(reference(data, axis=axes, keepdims=keepdims))
    check_forward(op, [data], expected, keepdims=keepdims, **params)
    gradient_check(op, [data], keepdims=keepdims, **params)


@pytest.mark.walk
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("params", "axes"), AXES, ids=str)
@pytest.mark.parametrize("order", [1, 2])
def test_norms_and_their_gradients(order: int, params: dict[str, Any], axes: Any, keepdims: bool) -> None:
    data = distinct(2, 3, 4)
    expected = np.atleast_1d(norm(order)(data, axes, keepdims))
    check_forward(Norm, [data], expected, ord=order, keepdims=keepdims, **params)
    gradient_check(Norm, [data], ord=order, keepdims=keepdims, **params)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("params", "axes"), AXES, ids=str)
def test_moments_and_their_gradients(params: dict[str, Any], axes: Any, keepdims: bool) -> None:
    data = distinct(2, 3, 4) + 3
    named = {"axes": params.get("axis"), "keepdims": keepdims}
    expected = [np.atleast_1d(f(data, axis=axes, keepdims=keepdims)) for f in (np.mean, np.var)]
    check_forward(Moments, [data], expected, **named)
    gradient_check(Moments, [data], **named)


@pytest.mark.parametrize("op", [op for op, _ in REDUCTIONS.values()] + [Norm, Moments])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_types_are_as_good_as_they_can_be(op: Any, dtype: str) -> None:
    data = RNG.uniform(0.5, 1.5, (3, 40)).astype(dtype)
    keywords = {"axes" if op is Moments else "axis": 1}
    exact = check_forward(op, [data.astype("float64")], **keywords)[0]
    (output, *_) = check_forward(op, [data], exact, rtol=2e-3 if dtype == "float16" else 1e-5, **keywords)
    assert output.dtype == dtype


@pytest.mark.parametrize(("op", "expected"), [(Sum, 4096), (Mean, 1), (Norm, 64)])
def test_half_precision_is_summed_in_single_precision(op: Any, expected: float) -> None:
    check_forward(op, [np.ones(4096, "float16")], np.array([expected]))


@pytest.mark.parametrize("op", [Sum, Mean, Max, Norm])
def test_strided_data_is_as_good_as_contiguous(op: Any) -> None:
    data = distinct(4, 3, 6)[::2, :, ::3]
    (got,) = check_forward(op, [data], axis=1)
    (want,) = check_forward(op, [data.copy()], axis=1)
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (Sum, 0),
        (Mean, np.nan),
        (Prod, 1),
        (NanSum, 0),
        (NanProd, 1),
        (Max, -np.inf),
        (Min, np.inf),
        (Norm, 0),
    ],
)
def test_a_reduction_of_nothing(op: Any, expected: float) -> None:
    out = getattr(od.nd, op.name)(od.nd.array(np.zeros((2, 0))), axis=1)
    np.testing.assert_array_equal(out.asnumpy(), np.full(2, expected))
    assert getattr(od.nd, op.name)(od.nd.array(np.zeros((0, 3))), axis=1).shape == (0,)
    gradient_check(op, [np.zeros((0, 3))], axis=1)


def test_integers_keep_their_type() -> None:
    data = np.array([200, 100], "uint8")
    np.testing.assert_array_equal(check_forward(Sum, [data])[0], np.array([44], "uint8"))
    np.testing.assert_array_equal(check_forward(Mean, [data + 1])[0], np.array([151], "uint8"))
    for values in ([3, 4], [-3, -4]):
        (mean,) = check_forward(Mean, [np.array(values, "int32")])
        assert (mean.dtype, mean[0]) == ("int32", np.sign(values[0]) * 3)
    np.testing.assert_array_equal(check_forward(Norm, [np.array([3, 4], "int32")])[0], np.array([5], "int32"))
    assert check_forward(Max, [np.array([1, 3], "int64")])[0].dtype == "int64"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [True, True, False]), ("nansum", [True, True, False]), ("mean", [True, True, False]),
        ("norm", [True, True, False]), ("prod", [True, False, False]), ("nanprod", [True, False, False]),
        ("cumsum", [[1, 2], [1, 1], [0, 0]]),
    ],
)  # fmt: skip
def test_truth_values_are_counted_by_cumsum_and_else_joined_by_or_and_and(name: str, expected: Any) -> None:
    data = od.nd.array([[True, True], [True, False], [False, False]], dtype="bool")
    found = getattr(od.nd, name)(data, axis=1)
    assert (found.asnumpy().tolist(), found.dtype) == (expected, "int64" if name == "cumsum" else "bool")


def by_rows(op: Any, data: Any) -> tuple[Any, Any]:
    """What an array call reduces rows to, and the gradient."""
    x = od.nd.array(data)
    x.attach_grad()
    with od.autograd.record():
        out = getattr(od.nd, op.name)(x, axis=1)
    out.backward()
    assert x.grad is not None
    return out.asnumpy(), x.grad.asnumpy()


def test_all_equal_extrema_get_the_gradient() -> None:
    data = np.array([[1.0, 2, 2], [3, 3, 3]])
    for op in (Max, Min):
        extremum, grad = by_rows(op, data)
        np.testing.assert_array_equal(grad, data == extremum[:, None])


@pytest.mark.parametrize("data", [[0.0, 2, 3], [0, 0, 3], [0, 0, 0]])
@pytest.mark.parametrize("op", [Prod, NanProd])
def test_a_product_with_zeros_has_the_right_gradient(op: Any, data: list[float]) -> None:
    gradient_check(op, [np.array([data, [1, 2, 4]])], axis=1)


@pytest.mark.parametrize(("op", "expected"), [(NanSum, [[1, 0], [0, 0]]), (NanProd, [[1, 0], [0, 0]])])
def test_what_is_no_number_is_skipped_and_has_no_gradient(op: Any, expected: Any) -> None:
    data = np.array([[2, np.nan], [np.nan, np.nan]])
    empty = 0.0 if op is NanSum else 1.0
    out, grad = by_rows(op, data)
    np.testing.assert_array_equal(out, [2, empty])
    np.testing.assert_array_equal(grad, expected)


def test_the_gradient_of_a_norm_that_is_zero_is_zero() -> None:
    gradient_check(Norm, [np.zeros((1, 2))], [np.zeros((1, 2))])


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_a_norm_may_be_of_numbers_whose_squares_are_none(size: float) -> None:
    data = np.array([[3, 4], [0, 1]]) * np.float32(size)
    for given in (data.astype("float32"), data.astype("float64") * size**8):
        expected = np.array([5, 1]) * given[1, 1]
        check_forward(Norm, [given], expected, axis=1)


def test_parameters_have_mxnets_order() -> None:
    assert list(Norm.params) == ["ord", "axis", "out_dtype", "keepdims"]
    assert list(Moments.params) == ["axes", "keepdims"]
    assert list(Sum.params) == ["axis", "keepdims", "exclude"]


def test_a_norm_may_have_another_type() -> None:
    (output,) = check_forward(Norm, [np.array([3, 4], "float16")], np.array([5]), out_dtype="float64")
    assert output.dtype == "float64"


def test_linear_reductions_keep_nothing_for_the_gradient() -> None:
    for op in (Sum, Mean):
        assert [entry.kind for entry in op().backward_dependency([True])] == ["out_grad"]


@pytest.mark.parametrize(
    ("axis", "message"), [(3, "axis is 3, expected -3 to 2"), ((1, -2), "names an axis twice")]
)
def test_wrong_axes_are_refused(axis: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Sum(axis=axis).infer_shape([(2, 3, 4)])


def test_wrong_orders_are_refused() -> None:
    with pytest.raises(ParamError, match="ord"):
        Norm(ord=3)


def test_unknown_lengths_are_not_guessed() -> None:
    assert Sum(axis=0).infer_shape([(None, 3)])[1] == [(3,)]
    assert Sum(axis=0).infer_shape([(3, None)])[1] == [(None,)]
    assert Sum().infer_shape([None])[1] == [None]


@pytest.mark.parametrize(
    "name", [*REDUCTIONS, "norm", "moments", "sum_axis", "max_axis", "min_axis", "argmax", "argmin"]
)
def test_runs_imperatively_and_symbolically(name: str) -> None:
    data = od.nd.array(distinct(2, 3, 4))
    params = {"axes" if name == "moments" else "axis": 1}
    eager = getattr(od.nd, name)(data, **params)
    eager = eager if isinstance(eager, (list, tuple)) else [eager]
    bound = getattr(od.sym, name)(od.sym.var("data"), **params).bind(od.cpu(), {"data": data})
    for got, want in zip(bound.forward(), eager, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())


def test_moments_have_mxnets_outputs() -> None:
    assert od.sym.moments(od.sym.var("data"), name="m").list_outputs() == ["m_output0", "m_output1"]


@pytest.mark.parametrize("prop", [Sum(), Max(), Norm(), Moments()], ids=lambda prop: prop.name)
def test_the_output_does_not_say_how_long_reduced_axes_are(prop: Any) -> None:
    outputs = [(1,)] * len(prop.list_outputs())
    assert prop.infer_shape_backward([None], outputs) == [None]


@pytest.mark.parametrize(
    "row", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [1.5, -2.0, 0.5, 4.0, 3.0]]
)
def test_a_product_has_the_derivatives_of_a_polynomial_at_zeros_too(row: list[float]) -> None:
    x = od.nd.array([row], dtype="float64")
    x.attach_grad()
    others = [np.prod([v for j, v in enumerate(row) if j != i]) for i in range(len(row))]
    with od.autograd.record():
        (first,) = od.autograd.grad(od.nd.prod(x, axis=1), x, create_graph=True)
        rows = [
            od.autograd.grad(od.nd.slice_axis(first, axis=1, begin=i, end=i + 1), x, retain_graph=True)[0]
            for i in range(len(row))
        ]
    np.testing.assert_allclose(first.asnumpy()[0], others, rtol=1e-14)
    for i, second in enumerate(rows):
        expected = [
            0 if i == j else np.prod([v for k, v in enumerate(row) if k not in (i, j)])
            for j in range(len(row))
        ]
        np.testing.assert_allclose(second.asnumpy()[0], expected, rtol=1e-14)


def test_the_slope_of_a_product_beyond_the_range_of_the_type_is_in_it() -> None:
    x = od.nd.array([1e30, 1e30, 1e-20])
    x.attach_grad()
    with od.autograd.record():
        product = od.nd.prod(x)
    product.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [1e10, 1e10, np.inf], rtol=1e-6)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_gradient_of_a_norm_is_a_share_times_the_gradient(size: float) -> None:
    """`g / norm` or `g x` alone would be beyond the range."""
    data = od.nd.array([3 * size, 4 * size], dtype="float64")
    for head in (size, 1 / size):
        data.attach_grad()
        with od.autograd.record():
            length = od.nd.norm(data)
        length.backward(od.nd.array([head], dtype="float64"))
        np.testing.assert_allclose(data.grad.asnumpy(), np.array([0.6, 0.8]) * head, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("count", [4, 1024, 65536])
def test_the_gradient_of_a_norm_that_is_beyond_the_range_is_not(dtype: str, count: int) -> None:
    most = float(np.finfo(dtype).max)
    rows = np.array([[1.0, 1.0], [most, -most]]).repeat(count // 2, axis=1)
    data = od.nd.array(rows, dtype=dtype)
    data.attach_grad()
    with od.autograd.record():
        length = od.nd.norm(data, axis=1)
    length.backward()
    assert np.isinf(length.asnumpy()).tolist() == [False, True]
    np.testing.assert_allclose(np.abs(data.grad.asnumpy()), count**-0.5, rtol=4 * np.finfo(dtype).eps)
