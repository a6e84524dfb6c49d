from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_convolution import UpSampling

RNG = np.random.default_rng(2)
LARGE, SMALL = RNG.normal(size=(2, 3, 2, 4)), RNG.normal(size=(2, 1, 1, 2))


def enlarged(images: np.ndarray, times: int) -> np.ndarray:
    return images.repeat(times, 2).repeat(times, 3)


def test_nearest_repeats_pixels() -> None:
    check_forward(UpSampling, [LARGE], enlarged(LARGE, 3), scale=3, sample_type="nearest", num_args=1)
    gradient_check(UpSampling, [LARGE], scale=3, sample_type="nearest", num_args=1)


def test_several_inputs_are_brought_to_one_size_and_concatenated() -> None:
    expected = np.concatenate([enlarged(LARGE, 2), enlarged(SMALL, 4)], axis=1)
    params = {"scale": 2, "sample_type": "nearest", "num_args": 2}
    check_forward(UpSampling, [LARGE, SMALL], expected, **params)
    gradient_check(UpSampling, [LARGE, SMALL], **params)


def test_several_inputs_may_be_added() -> None:
    small = RNG.normal(size=(2, 3, 1, 2))
    params = {"scale": 2, "sample_type": "nearest", "num_args": 2, "multi_input_mode": "sum"}
    check_forward(UpSampling, [LARGE, small], enlarged(LARGE, 2) + enlarged(small, 4), **params)
    gradient_check(UpSampling, [LARGE, small], **params)


def test_bilinear_is_a_transposed_convolution_of_each_channel() -> None:
    data = np.ones((1, 2, 3, 3))
    weight = np.ones((2, 1, 4, 4))
    row = np.array([1, 2, 2, 2, 2, 1])  # MXNet's own example
    expected = np.broadcast_to(np.outer(row, row), (1, 2, 6, 6))
    params = {"scale": 2, "sample_type": "bilinear", "num_filter": 2, "num_args": 2}
    check_forward(UpSampling, [data, weight], expected, **params)
    gradient_check(UpSampling, [RNG.normal(size=(1, 2, 2, 3)), RNG.normal(size=(2, 1, 4, 4))], **params)


def test_the_weight_of_bilinear_follows_from_the_data() -> None:
    symbol = od.sym.UpSampling(od.sym.var("d"), scale=3, sample_type="bilinear", num_filter=2, name="up")
    assert symbol.list_arguments() == ["d", "up_weight"]
    assert symbol.infer_shape(d=(1, 2, 4, 4)) == ([(1, 2, 4, 4), (2, 1, 5, 5)], [(1, 2, 12, 12)], [])


@pytest.mark.parametrize("shape", [(1, 0, 1, 1), (0, 2, 1, 1), (1, 2, 0, 1)])
def test_empty_images_are_upsampled_to_empty_ones(shape: tuple[int, ...]) -> None:
    data, weight, params = (
        np.zeros(shape),
        np.ones((shape[1], 1, 4, 4)),
        {"scale": 2, "sample_type": "bilinear", "num_args": 2},
    )
    expected = np.zeros((*shape[:2], 2 * shape[2], 2 * shape[3]))
    check_forward(UpSampling, [data, weight], expected, **params)
    gradient_check(UpSampling, [data, weight], [data, 0 * weight], **params)


def test_inputs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"arg0 has shape \(1, 4, 4\), expected \(N, C, H, W\)"):
        UpSampling(scale=2, sample_type="nearest", num_args=1).infer_shape([(1, 4, 4)])
    op = UpSampling(scale=2, sample_type="nearest", num_args=2)
    with pytest.raises(ShapeError, match="arg1 has shape"):
        op.infer_shape([(1, 1, 4, 4), (1, 1, 3, 3)])


def test_runs_imperatively_and_symbolically() -> None:
    a, b = od.nd.array(LARGE), od.nd.array(SMALL)
    eager = od.nd.UpSampling(a, b, scale=2, sample_type="nearest").asnumpy()
    symbol = od.sym.UpSampling(od.sym.var("a"), od.sym.var("b"), scale=2, sample_type="nearest")
    np.testing.assert_array_equal(symbol.bind(od.cpu(), {"a": a, "b": b}).forward()[0].asnumpy(), eager)


def test_a_variable_for_the_weight_begins_bilinear() -> None:
    symbol = od.sym.UpSampling(od.sym.var("d"), scale=2, sample_type="bilinear", num_args=2, name="up")
    assert symbol.attr_dict()["up_weight"]["__init__"] == '["bilinear", {}]'
