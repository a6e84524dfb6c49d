from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_image_transforms import colours
from operad_image_transforms.interpolation import AREA, CUBIC, LANCZOS, LINEAR, NEAREST, weights
from operad_sdk import ParamError, ShapeError

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 6, 3)).astype("uint8")


def called(name: str, data: Any = PIXELS, **params: Any) -> np.ndarray:
    return getattr(od.nd.image, name)(od.nd.array(data, dtype=data.dtype), **params).asnumpy()


def test_a_tensor_has_channels_first_and_numbers_up_to_one() -> None:
    found = called("to_tensor")
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, PIXELS.transpose(2, 0, 1) / 255, rtol=1e-6)


def test_the_gradient_of_a_tensor_has_channels_last_again() -> None:
    image = od.nd.array(PIXELS, dtype="float32")
    image.attach_grad()
    with od.autograd.record():
        tensor = od.nd.image.to_tensor(image)
    head = np.random.default_rng(1).normal(size=tensor.shape).astype("float32")
    tensor.backward(od.nd.array(head))
    np.testing.assert_allclose(image.grad.asnumpy(), head.transpose(1, 2, 0) / 255, rtol=1e-6)


def test_each_channel_has_numbers_of_its_own() -> None:
    found = called("normalize", np.ones((3, 2, 2), "float32"), mean=(0.0, 0.5, 1.0), std=(1.0, 0.5, 2.0))
    np.testing.assert_allclose(found[:, 0, 0], [1, 1, 0])
    with pytest.raises(ShapeError, match="mean has 2 numbers, expected one or as many"):
        called("normalize", np.ones((3, 2, 2), "float32"), mean=(0.0, 0.5))


def test_a_part_outside_the_image_is_refused() -> None:
    np.testing.assert_array_equal(called("crop", x=1, y=2, width=3, height=2), PIXELS[2:4, 1:4])
    with pytest.raises(ShapeError, match="expected at least 7 pixels along axis 1"):
        called("crop", x=4, y=0, width=3, height=2)


def test_mirror_images_keep_their_type() -> None:
    np.testing.assert_array_equal(called("flip_left_right"), PIXELS[:, ::-1])
    np.testing.assert_array_equal(called("flip_top_bottom"), PIXELS[::-1])


@pytest.mark.parametrize("kind", [NEAREST, LINEAR, CUBIC, AREA, LANCZOS])
@pytest.mark.parametrize(("size", "length"), [(5, 5), (6, 3), (3, 7), (1, 4)])
def test_the_weights_of_a_pixel_sum_to_one(kind: int, size: int, length: int) -> None:
    found = weights(size, length, kind, size >= length)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    if size == length:
        np.testing.assert_allclose(found, np.eye(size), atol=1e-12)


def test_by_area_pixels_are_means() -> None:
    found = called("resize", PIXELS.astype("float32"), size=(3, 2), interp=3)
    np.testing.assert_allclose(found, PIXELS.reshape(2, 2, 3, 2, 3).mean(axis=(1, 3)), rtol=1e-5)


def test_the_shorter_edge_is_resized_and_the_ratio_kept() -> None:
    assert called("resize", size=(2,), keep_ratio=True).shape == (2, 3, 3)
    with pytest.raises(ParamError, match="expected \\(width, height\\) or one number"):
        called("resize")


def test_whole_numbers_stop_at_the_ends_of_their_type() -> None:
    assert called("random_brightness", min_factor=9.0, max_factor=9.0).max() == 255
    assert called("random_contrast", min_factor=9.0, max_factor=9.0).min() == 0


def test_no_contrast_is_the_mean_brightness_and_no_saturation_the_gray() -> None:
    gray = PIXELS @ [0.299, 0.587, 0.114]
    image = PIXELS.astype("float32")
    np.testing.assert_allclose(
        called("random_contrast", image, min_factor=0, max_factor=0), gray.mean(), rtol=1e-5
    )
    found = called("random_saturation", image, min_factor=0, max_factor=0)
    np.testing.assert_allclose(found, np.repeat(gray[..., None], 3, 2), rtol=1e-5)


def test_a_third_of_a_turn_exchanges_the_colours() -> None:
    image = PIXELS.astype("float64")
    np.testing.assert_allclose(colours.turned(image, 1 / 3), image[..., [2, 0, 1]], atol=1e-9)
    np.testing.assert_allclose(colours.turned(image, 1.0), image, atol=1e-9)


def test_gray_images_keep_their_one_channel() -> None:
    image = PIXELS[..., :1].astype("float32")
    for name in ("saturation", "hue"):
        np.testing.assert_array_equal(called(f"random_{name}", image, min_factor=0.5, max_factor=0.5), image)


def test_images_of_two_channels_have_no_colours() -> None:
    with pytest.raises(ShapeError, match="channels, is 2, expected 1 or 3"):
        called("random_hue", PIXELS[..., :2], min_factor=0.5, max_factor=0.5)


def test_of_several_images_all_change_alike() -> None:
    images = np.stack([PIXELS] * 2).astype("float32")
    found = called("random_color_jitter", images, brightness=0.5, contrast=0.5, saturation=0.5, hue=0.1)
    np.testing.assert_array_equal(found[0], found[1])
