from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_convolution import Convolution
from operator_sdk.check.tests.halves import assert_gradients_near_in_half

RNG = np.random.default_rng(11)

# data, filters, kernel, stride, dilate, pad, groups
CASES: list[tuple[Any, ...]] = [
    ((2, 2, 5), 3, (3,), (1,), (1,), (0,), 1),
    ((2, 2, 5), 4, (2,), (2,), (2,), (1,), 2),
    ((2, 2, 4, 5), 3, (2, 3), (1, 1), (1, 1), (1, 0), 1),
    ((2, 2, 5, 4), 4, (3, 2), (2, 1), (1, 2), (1, 1), 2),
    ((2, 1, 5, 5), 2, (2, 2), (1, 1), (2, 2), (2, 2), 1),
    ((2, 3, 3, 3), 3, (1, 1), (2, 2), (1, 1), (0, 0), 3),
    ((1, 1, 2, 3), 1, (2, 2), (1, 3), (1, 1), (2, 3), 1),
    ((1, 2, 3, 4, 3), 2, (2, 2, 2), (1, 2, 1), (2, 1, 1), (1, 0, 1), 1),
]


def correlate(data: Any, weight: Any, stride: Any, dilate: Any, pad: Any, groups: int) -> Any:
    """The definition, one window at a time, in double precision."""
    kernel = weight.shape[2:]
    padded = np.pad(data.astype("float64"), [(0, 0), (0, 0), *((p, p) for p in pad)])
    filters = np.split(weight.astype("float64"), groups)
    sizes = zip(padded.shape[2:], kernel, stride, dilate, strict=True)
    out = np.zeros((len(data), len(weight), *((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in sizes)))
    axes = tuple(range(1, data.ndim))
    for place in product(*map(range, out.shape[2:])):
        steps = zip(place, stride, dilate, kernel, strict=True)
        window = padded[(..., *(slice(i * s, i * s + d * (k - 1) + 1, d) for i, s, d, k in steps))]
        parts = zip(np.split(window, groups, axis=1), filters, strict=True)
        out[(..., *place)] = np.concatenate([np.tensordot(a, b, (axes, axes)) for a, b in parts], axis=1)
    return out


def made(case: Any, dtype: str = "float64") -> tuple[list[Any], Any, dict[str, Any]]:
    """Inputs, the expected output, and the parameters."""
    shape, filters, kernel, stride, dilate, pad, groups = case
    data = RNG.normal(size=shape).astype(dtype)
    weight = RNG.normal(size=(filters, shape[1] // groups, *kernel)).astype(dtype)
    bias = RNG.normal(size=filters).astype(dtype)
    expected = correlate(data, weight, stride, dilate, pad, groups) + bias.reshape(-1, *[1] * len(kernel))
    params = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_group": groups}
    return [data, weight, bias], expected, {**params, "num_filter": filters}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_gradients(case: Any) -> None:
    inputs, expected, params = made(case)
    check_forward(Convolution, inputs, expected, **params)
    gradient_check(Convolution, inputs, atol=1e-6, **params)


@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_without_bias(case: Any) -> None:
    inputs, expected, params = made(case)
    expected -= inputs[2].reshape(-1, *[1] * len(params["kernel"]))
    check_forward(Convolution, inputs[:2], expected, no_bias=True, **params)
    gradient_check(Convolution, inputs[:2], atol=1e-6, no_bias=True, **params)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-5), ("float16", 2e-3)])
def test_narrow_types_are_as_good_as_they_can_be(dtype: str, rtol: float) -> None:
    inputs, expected, params = made(((2, 8, 9, 9), 4, (3, 3), (1, 1), (1, 1), (1, 1), 2), dtype)
    (output,) = check_forward(Convolution, inputs, expected, rtol=rtol, atol=rtol, **params)
    assert output.dtype == dtype


def test_more_images_than_fit_one_part_give_the_same() -> None:
    inputs, expected, params = made(((9, 2, 3, 130), 2, (2, 3), (1, 1), (1, 1), (0, 1), 1), "float32")
    check_forward(Convolution, inputs, expected, rtol=1e-4, atol=1e-5, **params)


def test_no_images_give_no_output_and_no_gradient() -> None:
    data, weight = np.zeros((0, 2, 4)), np.ones((3, 2, 2))
    params = {"kernel": (2,), "num_filter": 3, "no_bias": True}
    check_forward(Convolution, [data, weight], np.zeros((0, 3, 3)), **params)
    gradient_check(Convolution, [data, weight], [data, 0 * weight], **params)


@pytest.mark.parametrize("shape", [(1, 0, 0, 2), (2, 0, 2, 2), (2, 2, 0, 2), (2, 2, 2, 0)])
def test_images_with_nothing_in_them_give_the_bias(shape: tuple[int, ...]) -> None:
    weight, bias = np.ones((2, shape[1], 2, 2)), np.array([1.0, 2.0])
    data, params = np.zeros(shape), {"kernel": (2, 2), "pad": (1, 1), "num_filter": 2}
    (output,) = check_forward(Convolution, [data, weight, bias], **params)
    np.testing.assert_array_equal(output, np.broadcast_to(bias[:, None, None], output.shape))
    gradient_check(Convolution, [data, weight, bias], **params)


def test_strided_inputs_are_as_good_as_contiguous_ones() -> None:
    (data, weight, bias), expected, params = made(CASES[2])
    wide = np.repeat(data, 2, axis=3)[..., ::2]
    check_forward(Convolution, [wide, np.asfortranarray(weight), bias], expected, **params)


def test_each_gradient_keeps_only_what_it_reads() -> None:
    op = Convolution(kernel=(3, 3), num_filter=4)
    reads = [op.backward_dependency([i == j for j in range(3)]) for i in range(3)]
    assert [[(entry.kind, entry.index) for entry in entries] for entries in reads] == [
        [("out_grad", 0), ("in_data", 1)],
        [("out_grad", 0), ("in_data", 0)],
        [("out_grad", 0)],
    ]


def test_shapes_follow_from_the_data() -> None:
    layer = od.sym.Convolution(
        od.sym.var("x"), kernel=(3, 3), stride=(2, 2), num_filter=8, num_group=2, name="c"
    )
    assert layer.infer_shape(x=(4, 6, 11, 12)) == ([(4, 6, 11, 12), (8, 3, 3, 3), (8,)], [(4, 8, 5, 5)], [])


def test_the_string_form_of_mxnet_is_read() -> None:
    op = Convolution(kernel="(3, 3)", pad="(1, 1)", num_filter="8", no_bias="True", layout="NCHW")
    assert (op.kernel, op.stride, op.pad, op.no_bias) == ((3, 3), (1, 1), (1, 1), True)
    assert Convolution(**op.get_params()).get_params() == op.get_params()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel": ()}, "one to three sizes"),
        ({"kernel": (3, 3), "stride": (1,)}, "'stride' is"),
        ({"kernel": (3, 3), "layout": "NCW"}, "layout is 'NCW'"),
        ({"kernel": (3, 3), "layout": "NHWC"}, "channels first"),
        ({"kernel": (0, 3)}, "kernel"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamError, match=message):
        Convolution(num_filter=1, **params)


@pytest.mark.parametrize(
    ("shapes", "groups", "message"),
    [
        ([(2, 3, 8, 8), None, None], 2, r"data has shape \(2, 3, 8, 8\), whose axis 1, channels, is 3"),
        ([(2, 4, 2, 8), None, None], 2, "exceeds data"),
        ([(2, 4, 8, 8), (4, 3, 3, 3), None], 2, r"weight has shape \(4, 3, 3, 3\), expected \(4, 2, 3, 3\)"),
        ([(2, 4, 8), None, None], 1, "Convolution"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shapes: Any, groups: int, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Convolution(kernel=(3, 3), num_filter=4, num_group=groups).infer_shape(shapes)


def test_whole_numbers_are_refused() -> None:
    with pytest.raises(DTypeError, match="data is int32, expected a floating type; cast with astype"):
        Convolution(kernel=(1,), num_filter=1).infer_type([np.dtype("int32"), None, None])


def test_runs_imperatively_and_symbolically() -> None:
    inputs, expected, params = made(CASES[2], "float32")
    arrays = dict(zip(("data", "weight", "bias"), map(od.nd.array, inputs), strict=True))
    eager = od.nd.Convolution(**arrays, **params).asnumpy()
    symbol = od.sym.Convolution(*map(od.sym.var, arrays), **params)
    np.testing.assert_array_equal(symbol.bind(od.cpu(), arrays).forward()[0].asnumpy(), eager)
    np.testing.assert_allclose(eager, expected, rtol=1e-4, atol=1e-5)


def test_gradients_in_half_precision_are_near_those_in_single_precision() -> None:
    values = [RNG.uniform(0.1, 1, shape) for shape in [(2, 2, 5, 5), (3, 2, 3, 3), (3,)]]
    assert_gradients_near_in_half(
        partial(od.nd.Convolution, kernel=(3, 3), stride=(2, 1), num_filter=3), values
    )
