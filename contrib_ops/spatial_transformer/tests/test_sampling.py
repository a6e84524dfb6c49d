"""Grids and sampling: what must hold whatever the images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_check.testing import gradient_check
from operad_spatial_transformer import BilinearSampler, SpatialTransformer

RNG = np.random.default_rng(5)
IDENTITY = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
AFFINE = {"transform_type": "affine", "sampler_type": "bilinear"}


def image(*shape: int) -> od.NDArray:
    return od.nd.array(RNG.normal(size=shape))


def test_the_identity_gives_the_image() -> None:
    data = image(2, 3, 5, 4)
    theta = od.nd.array([IDENTITY] * 2)
    out = od.nd.SpatialTransformer(data, theta, target_shape=(5, 4), **AFFINE)
    np.testing.assert_allclose(out.asnumpy(), data.asnumpy(), atol=1e-6)


def test_a_flow_of_0_gives_the_image() -> None:
    data = image(1, 2, 3, 4)
    grid = od.nd.GridGenerator(od.nd.array(np.zeros((1, 2, 3, 4))), transform_type="warp")
    np.testing.assert_allclose(od.nd.BilinearSampler(data, grid).asnumpy(), data.asnumpy(), atol=1e-6)


def test_a_flow_of_1_moves_the_image_by_a_pixel() -> None:
    data = image(1, 1, 3, 4)
    flow = np.zeros((1, 2, 3, 4))
    flow[:, 0] = 1
    grid = od.nd.GridGenerator(od.nd.array(flow), transform_type="warp")
    out = od.nd.BilinearSampler(data, grid).asnumpy()
    np.testing.assert_allclose(out[..., :-1], data.asnumpy()[..., 1:], atol=1e-6)
    np.testing.assert_array_equal(out[..., -1], 0)


def test_half_a_turn_twice_gives_the_image() -> None:
    data, turn = image(1, 1, 4, 3), od.nd.array([[-1, 0, 0, 0, -1, 0]])
    for_once = od.nd.SpatialTransformer(data, turn, target_shape=(4, 3), **AFFINE)
    np.testing.assert_allclose(for_once.asnumpy(), data.asnumpy()[..., ::-1, ::-1], atol=1e-6)


def test_a_transformer_is_a_grid_and_a_sampler() -> None:
    data, theta = image(2, 2, 4, 5), od.nd.array(RNG.normal(size=(2, 6)))
    results = []
    for is_one in (True, False):
        for array in (data, theta):
            array.attach_grad()
        with od.autograd.record():
            if is_one:
                out = od.nd.SpatialTransformer(data, theta, target_shape=(3, 4), **AFFINE)
            else:
                grid = od.nd.GridGenerator(theta, transform_type="affine", target_shape=(3, 4))
                out = od.nd.BilinearSampler(data, grid)
        out.backward()
        results.append([out.asnumpy(), data.grad.asnumpy(), theta.grad.asnumpy()])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradients_between_pixels_are_derivatives() -> None:
    data = RNG.normal(size=(2, 2, 3, 4))
    grid = (RNG.integers(-1, 4, size=(2, 2, 3, 2)) + RNG.uniform(0.2, 0.8, size=(2, 2, 3, 2))) * 0.5 - 1
    gradient_check(BilinearSampler, [data, grid])


def test_a_pixel_beyond_the_edge_counts_as_0_even_where_the_image_is_nan() -> None:
    data = od.nd.array([[[[float("nan"), 1.0]]]])
    grid = od.nd.array([[[[2.0]], [[0.0]]]])  # half a pixel to the right of the last
    np.testing.assert_array_equal(od.nd.BilinearSampler(data, grid).asnumpy(), [[[[0.5]]]])


def test_many_points_on_one_pixel_are_all_summed() -> None:
    data = od.nd.array(np.ones((1, 1, 2, 2)), dtype="float16")
    data.attach_grad()
    with od.autograd.record():
        out = od.nd.BilinearSampler(data, od.nd.array(-np.ones((1, 2, 50, 50)), dtype="float16"))
    out.backward()
    np.testing.assert_array_equal(data.grad.asnumpy(), [[[[2500, 0], [0, 0]]]])


@pytest.mark.parametrize("target_shape", [(), (0, 3), (2,), (1, 2, 3)])
def test_a_target_without_height_and_width_is_refused(target_shape: tuple[int, ...]) -> None:
    params: dict[str, Any] = {"target_shape": target_shape}
    with pytest.raises(ParamError, match=r"'target_shape' is .* expected height and width"):
        od.nd.GridGenerator(od.nd.array([IDENTITY]), transform_type="affine", **params)
    with pytest.raises(ParamError, match=r"'target_shape' is .* expected height and width"):
        SpatialTransformer(**AFFINE, **params)


def test_an_image_without_pixels_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"data has shape \(1, 1, 0, 2\), expected at least one pixel"):
        BilinearSampler().infer_shape([(1, 1, 0, 2), (1, 2, 3, 3)])


@pytest.mark.parametrize("target", [(1, 1), (1, 3), (3, 1)])
def test_an_axis_of_one_pixel_is_sampled_in_the_middle(target: tuple[int, int]) -> None:
    image = np.arange(9.0).reshape(1, 1, 3, 3)
    data, loc = od.nd.array(image), od.nd.array([[1, 0, 0, 0, 1, 0]])
    loc.attach_grad()
    options = {"target_shape": target, "transform_type": "affine", "sampler_type": "bilinear"}
    with od.autograd.record():
        found = od.nd.SpatialTransformer(data, loc, **options)
    found.backward()
    rows, columns = ([1] if length == 1 else [0, 1, 2] for length in target)
    np.testing.assert_array_equal(found.asnumpy()[0, 0], image[0, 0][np.ix_(rows, columns)])
    assert np.isfinite(loc.grad.asnumpy()).all()
    flow = od.nd.zeros((1, 2, *target))
    flow.attach_grad()
    with od.autograd.record():
        grid = od.nd.GridGenerator(flow, transform_type="warp")
    grid.backward()
    assert np.isfinite(flow.grad.asnumpy()).all()
    ends = [np.linspace(-1, 1, length) if length > 1 else [0] for length in target]
    np.testing.assert_allclose(grid.asnumpy()[0, 1, :, 0], ends[0])
    np.testing.assert_allclose(grid.asnumpy()[0, 0, 0], ends[1])


def test_places_in_wide_images_keep_the_digits_of_the_grid() -> None:
    random = np.random.default_rng(11)
    image = random.normal(size=(1, 2, 3, 4000)).astype(np.float32)
    grid = random.uniform(-1, 1, (1, 2, 5, 7)).astype(np.float32)
    found = od.nd.BilinearSampler(od.nd.array(image), od.nd.array(grid)).asnumpy()
    wide = [od.nd.array(array, dtype="float64") for array in (image, grid)]
    np.testing.assert_allclose(found, od.nd.BilinearSampler(*wide).asnumpy(), atol=1e-6)
