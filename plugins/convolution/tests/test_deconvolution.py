from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_convolution import Deconvolution

RNG = np.random.default_rng(11)


def spread(data: Any, weight: Any, size: int, stride: int, dilate: int, pad: int, groups: int) -> Any:
    """The definition in one dimension: every element of the data adds a multiple of its filter."""
    kernel = weight.shape[2]
    out = np.zeros((len(data), weight.shape[1] * groups, size + 2 * pad + stride * data.shape[2]))
    per_group = (data.shape[1] // groups, weight.shape[1])
    for channel in range(data.shape[1]):
        first = channel // per_group[0] * per_group[1]
        for place in range(data.shape[2]):
            for tap in range(kernel):
                share = data[:, channel, place, None] * weight[channel, :, tap]
                out[:, first : first + per_group[1], place * stride + tap * dilate] += share
    return out[:, :, pad : pad + size]


@pytest.mark.parametrize(
    ("params", "size", "pad"),
    [
        ({}, 6, 0),
        ({"stride": (2,), "adj": (1,)}, 10, 0),
        ({"stride": (2,), "pad": (1,)}, 7, 1),
        ({"stride": (3,), "dilate": (2,), "num_group": 2}, 14, 0),
        ({"stride": (2,), "target_shape": (8,), "pad": (7,)}, 8, 1),
        ({"stride": (2,), "target_shape": (5,)}, 5, 2),
        ({"target_shape": (0,)}, 6, 0),
    ],
)
def test_values_and_gradients(params: dict[str, Any], size: int, pad: int) -> None:
    groups = params.get("num_group", 1)
    data, weight, bias = RNG.normal(size=(2, 2, 4)), RNG.normal(size=(2, 4 // groups, 3)), RNG.normal(size=4)
    stride, dilate = (params.get(name, (1,))[0] for name in ("stride", "dilate"))
    expected = spread(data, weight, size, stride, dilate, pad, groups)
    given = {"kernel": (3,), "num_filter": 4, **params}
    check_forward(Deconvolution, [data, weight], expected, **given)
    check_forward(Deconvolution, [data, weight, bias], expected + bias[:, None], no_bias=False, **given)
    gradient_check(Deconvolution, [data, weight, bias], atol=1e-6, no_bias=False, **given)


@pytest.mark.parametrize("shape", [(2, 2, 3, 2), (1, 2, 2, 2, 3)])
def test_gradients_in_two_and_three_dimensions(shape: tuple[int, ...]) -> None:
    axes = len(shape) - 2
    params = {"kernel": (2,) * axes, "stride": (2,) * axes, "pad": (1,) * axes, "adj": (1,) * axes}
    data, weight = RNG.normal(size=shape), RNG.normal(size=(2, 3, *(2,) * axes))
    gradient_check(Deconvolution, [data, weight], atol=1e-6, num_filter=3, **params)


def test_half_precision_is_computed_in_single_precision() -> None:
    data, weight = np.ones((1, 64, 4), np.float16), np.full((64, 1, 1), 33, np.float16)
    expected = np.full((1, 1, 4), 64 * 33)
    check_forward(Deconvolution, [data, weight], expected, kernel=(1,), num_filter=1)


def test_shapes_follow_from_the_data_and_from_the_output() -> None:
    op = Deconvolution(kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=6, num_group=2)
    assert op.infer_shape([(5, 4, 8, 9), None])[:2] == ([(5, 4, 8, 9), (4, 3, 4, 4)], [(5, 6, 16, 18)])
    assert op.infer_shape_backward([None, (4, 3, 4, 4)], [(5, 6, 16, 18)])[0] == (5, 4, 8, 9)


@pytest.mark.parametrize("shape", [(1, 0, 1, 1), (0, 1, 2, 2), (1, 1, 1, 0), (1, 1, 0, 1)])
def test_empty_images_give_zeros(shape: tuple[int, ...]) -> None:
    weight, params = np.ones((shape[1], 2, 2, 2)), {"kernel": (2, 2), "num_filter": 2}
    (output,) = check_forward(Deconvolution, [np.zeros(shape), weight], **params)
    np.testing.assert_array_equal(output, np.zeros(output.shape))
    gradient_check(Deconvolution, [np.zeros(shape), weight], [np.zeros(shape), 0 * weight], **params)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParamError, match="adj is"):
        Deconvolution(kernel=(3,), num_filter=1, adj=(1,))
    with pytest.raises(ShapeError, match="more than data"):
        Deconvolution(kernel=(3,), num_filter=1, target_shape=(9,)).infer_shape([(1, 1, 4), None])
    with pytest.raises(ShapeError, match=r"stride \(1,\) cannot reach from data"):
        Deconvolution(kernel=(3,), num_filter=1, target_shape=(5,)).infer_shape([(1, 1, 4), None])
    with pytest.raises(ShapeError, match="one axis each"):
        Deconvolution(kernel=(3,), num_filter=1, target_shape=(4,)).infer_shape([(1, 1, 4, 4), None])


def test_runs_imperatively_and_symbolically() -> None:
    arrays = {
        "data": od.nd.array(RNG.normal(size=(2, 2, 4))),
        "weight": od.nd.array(RNG.normal(size=(2, 3, 3))),
    }
    eager = od.nd.Deconvolution(**arrays, kernel=(3,), num_filter=3).asnumpy()
    symbol = od.sym.Deconvolution(*map(od.sym.var, arrays), kernel=(3,), num_filter=3)
    np.testing.assert_array_equal(symbol.bind(od.cpu(), arrays).forward()[0].asnumpy(), eager)
