from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_pooling.pooling import Pooling

RNG = np.random.default_rng(23)

# data, and parameters
CASES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 6), {"kernel": (2,), "stride": (2,)}),
    ((2, 1, 7), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
    ((1, 2, 6), {"kernel": (3,), "stride": (3,), "pad": (1,), "pooling_convention": "full"}),
    ((1, 2, 7), {"kernel": (3,), "stride": (2,), "pooling_convention": "same"}),
    ((2, 2, 4, 6), {"kernel": (2, 3), "stride": (2, 3)}),
    ((1, 2, 5, 4), {"kernel": (3, 2), "pad": (2, 1)}),
    ((1, 1, 4, 5), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "same"}),
    (
        (1, 2, 4, 3, 5),
        {"kernel": (2, 2, 3), "stride": (1, 2, 2), "pad": (1, 0, 1), "pooling_convention": "full"},
    ),
    ((2, 2, 3, 4), {"global_pool": True}),
    ((2, 1, 3, 4), {"kernel": (3, 4)}),
]


def windows_of(size: int, kernel: int, stride: int, pad: int, convention: str) -> list[tuple[int, int, int]]:
    """Begin and end of every window inside the data, and its length with padding."""
    if convention == "same":
        count, pad_end = -(-size // stride), 0
    else:
        steps = (size + 2 * pad - kernel) / stride
        count = int(np.ceil(steps) if convention == "full" else np.floor(steps)) + 1
        pad_end = pad
    starts = [i * stride - pad for i in range(count)]
    return [(max(0, s), min(size, s + kernel), min(s + kernel, size + pad_end) - s) for s in starts]


def pool(data: Any, params: dict[str, Any]) -> Any:
    """The definition, one window at a time, in double precision."""
    sizes = data.shape[2:]
    axes = len(sizes)
    if params.get("global_pool"):
        params = {**params, "kernel": sizes, "stride": (1,) * axes, "pad": (0,) * axes}
    geometry = zip(
        sizes,
        params["kernel"],
        params.get("stride", (1,) * axes),
        params.get("pad", (0,) * axes),
        strict=True,
    )
    lines = [windows_of(*line, params.get("pooling_convention", "valid")) for line in geometry]
    out = np.empty((*data.shape[:2], *map(len, lines)))
    for place in product(*(range(len(line)) for line in lines)):
        spans = [line[i] for line, i in zip(lines, place, strict=True)]
        window = (
            data[(..., *(slice(a, b) for a, b, _ in spans))].astype("float64").reshape(*data.shape[:2], -1)
        )
        padded = np.prod([n for *_, n in spans])
        count = padded if params.get("count_include_pad", True) else window.shape[2]
        p = params.get("p_value", 1)
        out[(..., *place)] = {
            "max": lambda w: w.max(2),
            "avg": lambda w, n=count: w.sum(2) / n,
            "sum": lambda w: w.sum(2),
            "lp": lambda w, p=p: np.cbrt((w**3).sum(2)) if p == 3 else (w**p).sum(2) ** (1 / p),
        }[params.get("pool_type", "max")](window)
    return out


@pytest.mark.walk
@pytest.mark.parametrize(
    "kind",
    [
        {"pool_type": "max"},
        {"pool_type": "avg"},
        {"pool_type": "avg", "count_include_pad": False},
        {"pool_type": "sum"},
        {"pool_type": "lp", "p_value": 1},
        {"pool_type": "lp", "p_value": 2},
        {"pool_type": "lp", "p_value": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize(("shape", "params"), CASES, ids=str)
def test_values_and_gradients(shape: tuple[int, ...], params: dict[str, Any], kind: dict[str, Any]) -> None:
    size = int(np.prod(shape))
    data = (RNG.permutation(size) - size / 3).reshape(shape) / size  # no two alike
    check_forward(Pooling, [data], pool(data, {**params, **kind}), **params, **kind)
    gradient_check(Pooling, [data], rtol=1e-4, atol=1e-6, **params, **kind)


@pytest.mark.parametrize("pool_type", ["max", "avg", "sum"])
@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-5), ("float16", 1e-3)])
def test_narrow_types_are_as_good_as_they_can_be(pool_type: str, dtype: str, rtol: float) -> None:
    data = RNG.uniform(1, 2, (2, 2, 9, 9)).astype(dtype)
    params = {"kernel": (7, 7), "stride": (2, 2), "pad": (3, 3), "pool_type": pool_type}
    output, *_ = check_forward(Pooling, [data], pool(data, params), rtol=rtol, **params)
    assert output.dtype == dtype


def test_sums_of_half_precision_are_formed_in_single_precision() -> None:
    data = np.ones((1, 1, 4096), np.float16)
    check_forward(Pooling, [data], np.array([[[4096]]]), global_pool=True, pool_type="sum")


@pytest.mark.parametrize(
    ("shape", "params", "expected"),
    [
        ((1, 1, 4), {"kernel": (2,), "stride": (2,)}, [1, 0, 1, 0]),
        ((1, 1, 4), {"kernel": (3,)}, [1, 1, 0, 0]),
        ((1, 1, 3, 3), {"kernel": (2, 2)}, [1, 1, 0, 1, 1, 0, 0, 0, 0]),
        ((1, 1, 2, 2), {"global_pool": True}, [1, 0, 0, 0]),
    ],
    ids=str,
)
def test_the_first_of_equal_elements_gets_the_gradient(shape: Any, params: Any, expected: list[int]) -> None:
    symbol = od.sym.Pooling(od.sym.var("data"), pool_type="max", **params)
    bound = symbol.simple_bind(od.cpu(), data=shape)
    bound.arg_dict["data"][:] = 5
    bound.forward(is_train=True)
    bound.backward([od.nd.array(np.ones(bound.outputs[0].shape))])
    np.testing.assert_array_equal(bound.grad_dict["data"].asnumpy().ravel(), expected)


def test_average_counts_padding_as_mxnet_does() -> None:
    data = np.arange(1.0, 8).reshape(1, 1, 7)
    params = {"kernel": (3,), "stride": (2,), "pad": (1,), "pool_type": "avg"}
    check_forward(Pooling, [data], np.array([[[1, 3, 5, 13 / 3]]]), **params)
    check_forward(Pooling, [data], np.array([[[1.5, 3, 5, 6.5]]]), count_include_pad=False, **params)


def test_a_window_outside_the_data_has_the_lowest_number_as_maximum_and_no_sum() -> None:
    data = np.arange(1.0, 6).reshape(1, 1, 5)
    params = {"kernel": (1,), "stride": (3,), "pooling_convention": "full"}
    (output,) = od.nd.Pooling(od.nd.array(data), **params).asnumpy().ravel()[2:]
    assert output == np.finfo("float32").min
    for pool_type in ("avg", "sum"):
        check_forward(Pooling, [data], np.array([[[1, 4, 0]]]), pool_type=pool_type, **params)


@pytest.mark.parametrize(
    ("pool_type", "values", "gradient"),
    [
        ("max", [6, 8, 8, 14, 16, 16, 14, 16, 16], [0] * 5 + [1, 0, 5] + [0] * 5 + [11, 0, 28]),
        (
            "avg",
            [14 / 9, 10 / 3, 2, 19 / 3, 11, 6, 4.5, 7.5, 4],
            [n / 36 for n in (4, 12, 8, 26, 20, 48, 28, 82, 16, 36, 20, 56, 58, 126, 68, 185)],
        ),
        (
            "sum",
            [14, 30, 12, 57, 99, 36, 27, 45, 16],
            [1, 3, 2, 5, 5, 12, 7, 16, 4, 9, 5, 11, 11, 24, 13, 28],
        ),
    ],
)
def test_the_full_convention_is_mxnets(pool_type: str, values: list[float], gradient: list[float]) -> None:
    data = od.nd.array(np.arange(1, 17).reshape(1, 1, 4, 4))
    data.attach_grad()
    with od.autograd.record():
        out = od.nd.Pooling(
            data,
            kernel=(3, 3),
            stride=(2, 2),
            pad=(1, 1),
            pooling_convention="full",
            pool_type=pool_type,
        )
    out.backward(od.nd.array(np.arange(1, 10).reshape(1, 1, 3, 3)))
    assert data.grad is not None
    np.testing.assert_allclose(out.asnumpy().ravel(), values, rtol=1e-6)
    np.testing.assert_allclose(data.grad.asnumpy().ravel(), gradient, rtol=1e-6)


@pytest.mark.parametrize(("layout", "axes"), [("NWC", 1), ("NHWC", 2), ("NDHWC", 3)])
@pytest.mark.parametrize("pool_type", ["max", "avg"])
def test_channels_may_come_last(layout: str, axes: int, pool_type: str) -> None:
    data = RNG.permutation(2 * 3 * 4**axes).reshape(2, 3, *[4] * axes) / 8
    params = {"kernel": (3,) * axes, "stride": (2,) * axes, "pad": (1,) * axes, "pool_type": pool_type}
    expected = np.moveaxis(pool(data, params), 1, -1)
    last = np.moveaxis(data, 1, -1)
    check_forward(Pooling, [last], expected, layout=layout, **params)
    gradient_check(Pooling, [last], layout=layout, atol=1e-6, **params)
    whole = {"global_pool": True, "pool_type": pool_type, "layout": layout}
    gradient_check(Pooling, [last], atol=1e-6, **whole)


@pytest.mark.parametrize("pool_type", ["max", "avg"])
def test_no_images_give_no_output(pool_type: str) -> None:
    data = np.zeros((0, 2, 4, 4))
    check_forward(Pooling, [data], np.zeros((0, 2, 2, 2)), kernel=(2, 2), stride=(2, 2), pool_type=pool_type)
    gradient_check(Pooling, [data], kernel=(2, 2), stride=(2, 2), pool_type=pool_type)


def test_strided_inputs_are_as_good_as_contiguous_ones() -> None:
    data = RNG.normal(size=(2, 2, 4, 8))[..., ::2]
    params = {"kernel": (2, 2), "stride": (2, 2)}
    check_forward(Pooling, [data], pool(data, params), **params)


def test_linear_pooling_keeps_nothing_for_the_gradient() -> None:
    assert [entry.kind for entry in Pooling(kernel=(2,), pool_type="avg").backward_dependency([True])] == [
        "out_grad"
    ]


def test_strides_and_pads_of_further_axes_are_not_read() -> None:
    longer = Pooling(kernel=(2,), stride=(1, 5), pad=(1, 0, 7)).infer_shape([(1, 1, 4)])
    assert longer == Pooling(kernel=(2,), pad=(1,)).infer_shape([(1, 1, 4)])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "one to three sizes, or global_pool"),
        ({"kernel": (2, 2), "stride": (1,)}, "stride is"),
        ({"kernel": (2,), "layout": "NHWC"}, "layout is 'NHWC'"),
        ({"kernel": (3,), "pad": (1,), "pooling_convention": "same"}, "expected none"),
        ({"kernel": (3,), "pool_type": "lp"}, "there is no p_value"),
        ({"kernel": (3,), "pool_type": "median"}, "pool_type"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamError, match=message):
        Pooling(**params).infer_shape([(1, 1, 8)])


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"kernel \(9,\) exceeds data \(1, 1, 6\)"):
        Pooling(kernel=(9,)).infer_shape([(1, 1, 6)])
    with pytest.raises(ShapeError, match="expected 3 axes"):
        Pooling(kernel=(2,)).infer_shape([(1, 1, 6, 6)])


def test_whole_numbers_are_refused() -> None:
    with pytest.raises(DTypeError, match="cast with astype"):
        Pooling(kernel=(2,)).infer_type([np.dtype("int32")])


def test_runs_imperatively_and_symbolically() -> None:
    data = od.nd.array(RNG.normal(size=(2, 2, 4, 4)))
    eager = od.nd.Pooling(data, kernel=(2, 2)).asnumpy()
    symbol = od.sym.Pooling(od.sym.var("data"), kernel=(2, 2))
    np.testing.assert_array_equal(symbol.bind(od.cpu(), {"data": data}).forward()[0].asnumpy(), eager)
