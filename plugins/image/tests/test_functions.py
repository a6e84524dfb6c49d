from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, ParamError, ShapeError

pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")
turning = pytest.mark.skipif(
    find_spec("operad_spatial_transformer") is None, reason="BilinearSampler, of another plugin, turns images"
)
image = od.image


@pytest.fixture
def noise() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def digest(found: Any) -> str:
    pixels = found.asnumpy() if hasattr(found, "asnumpy") else found
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()[:12]


# What MXNet 1.9.1 gives of the same noise after `random.seed(3)`: sha256 of the pixels, and the box.
RECORDED: dict[str, tuple[Callable[[Any], Any], str, Any]] = {
    "resize_short": (lambda a: image.resize_short(a, 20), "f58b089f631b", None),
    "fixed_crop": (lambda a: image.fixed_crop(a, 3, 4, 20, 10, (15, 12), 1), "35dd981eb4d7", None),
    "random_crop": (lambda a: image.random_crop(a, (20, 10)), "abda38fb3bb0", (15, 18, 20, 10)),
    "random_crop, larger": (lambda a: image.random_crop(a, (70, 30), 1), "359e4208b9c6", (0, 4, 60, 25)),
    "center_crop": (lambda a: image.center_crop(a, (21, 11)), "1a6af148d763", (19, 14, 21, 11)),
    "random_size_crop": (
        lambda a: image.random_size_crop(a, (20, 20), 0.3, (0.7, 1.4), 1),
        "ce7de1f9e0a6",
        (11, 7, 34, 33),
    ),
    "copyMakeBorder": (lambda a: image.copyMakeBorder(a, 1, 2, 3, 4, type=4), "28e492524056", None),
}


@pytest.mark.parametrize("name", RECORDED)
def test_pixels_and_boxes_are_those_of_mxnet(name: str, noise: Any) -> None:
    work, pixels, box = RECORDED[name]
    for given in (od.nd.array(noise, dtype="uint8"), noise):
        random.seed(3)
        found = work(given)
        if box is not None:
            found, where = found
            assert where == box
        assert type(found) is type(given)
        assert digest(found) == pixels


# As MXNet 1.9.1 fills three columns left and right of a row of 0 to 5.
BORDERS = {
    0: [0, 0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0],
    1: [0, 0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5],
    2: [2, 1, 0, 0, 1, 2, 3, 4, 5, 5, 4, 3],
    3: [3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2],
    4: [3, 2, 1, 0, 1, 2, 3, 4, 5, 4, 3, 2],
}


@pytest.mark.parametrize("kind", BORDERS)
def test_borders_are_those_of_mxnet(kind: int) -> None:
    row = od.nd.array(np.arange(6).reshape(1, 6, 1), dtype="uint8")
    assert image.copyMakeBorder(row, 0, 0, 3, 3, type=kind).asnumpy().ravel().tolist() == BORDERS[kind]


def test_a_border_may_have_a_colour() -> None:
    pixels = np.zeros((1, 1, 3), np.uint8)
    assert image.copyMakeBorder(pixels, 0, 0, 1, 0, values=(9, 8, 7))[0, 0].tolist() == [9, 8, 7]
    assert image.copyMakeBorder(pixels, 0, 0, 1, 0, value=5)[0, 0].tolist() == [5, 5, 5]


def test_a_resized_image_may_be_written_to_an_array_that_is_given(noise: Any) -> None:
    out = od.nd.zeros((20, 30, 3), dtype="uint8")
    assert image.imresize(od.nd.array(noise, dtype="uint8"), 30, 20, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), image.imresize(noise, 30, 20))


def test_gray_images_keep_their_axis(noise: Any) -> None:
    assert image.imresize(noise[:, :, :1], 30, 20).shape == (20, 30, 1)


def test_normalizing_leaves_the_image_as_it_is(noise: Any) -> None:
    given = od.nd.array(noise)
    found = image.color_normalize(given, od.nd.array([1, 2, 3]), od.nd.array([2, 3, 4]))
    np.testing.assert_array_equal(given.asnumpy(), noise)
    expected = (noise.astype(np.float32) - np.float32([1, 2, 3])) / np.float32([2, 3, 4])
    np.testing.assert_array_equal(found.asnumpy(), expected)


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (lambda a: image.imresize(a, 0, 3), ParamError, "width 0 and height 3"),
        (lambda a: image.imresize(a, 3, 3, interp=5), ParamError, "interp is 5"),
        (lambda a: image.imresize(a.astype("int64"), 3, 3), DTypeError, "int64, expected one of"),
        (lambda a: image.imresize(a[0], 3, 3), ShapeError, r"shape \(60, 3\)"),
        (
            lambda a: image.fixed_crop(a, 50, 0, 20, 20),
            ShapeError,
            "x 50, y 0 does not lie in an image of width 60",
        ),
        (lambda a: image.copyMakeBorder(a, -1, 0, 0, 0), ParamError, "none below 0"),
        (lambda a: image.copyMakeBorder(a, 1, 0, 0, 0, type=9), ParamError, "type 9, expected 0 to 4"),
        (lambda _: image.imresize([[1]], 3, 3), ArgumentError, "the image is list"),
    ],
)
def test_what_cannot_be_done_is_an_error(work: Any, error: type[Exception], message: str, noise: Any) -> None:
    with pytest.raises(error, match=message):
        work(noise)


@turning
def test_a_quarter_turn_turns_a_square() -> None:
    square = od.nd.array(np.arange(25).reshape(1, 5, 5))
    found = image.imrotate(square, 90).asnumpy()
    np.testing.assert_allclose(found[0], np.rot90(np.arange(25).reshape(5, 5)), atol=1e-4)


@turning
def test_zooming_in_leaves_nothing_of_the_outside_and_zooming_out_all_of_the_image() -> None:
    white = od.nd.ones((2, 1, 21, 31))
    turned = image.imrotate(white, od.nd.array([30, -50]), zoom_in=True).asnumpy()
    np.testing.assert_allclose(turned[:, :, 1:-1, 1:-1], 1, atol=1e-5)
    assert image.imrotate(white, 30).asnumpy()[:, :, 1:-1, 1:-1].min() == 0
    corners = np.zeros((1, 21, 31), np.float32)
    corners[0, [0, 0, -1, -1], [0, -1, 0, -1]] = 1
    assert image.imrotate(od.nd.array(corners), 30, zoom_out=True).asnumpy().sum() > 0
    assert image.imrotate(od.nd.array(corners), 30).asnumpy().sum() == 0


@pytest.mark.parametrize(
    ("source", "angle", "options", "error"),
    [
        (np.ones((1, 4, 4), np.float32), 3, {"zoom_in": True, "zoom_out": True}, ParamError),
        (np.ones((1, 4, 4), np.uint8), 3, {}, DTypeError),
        (np.ones((4, 4), np.float32), 3, {}, ShapeError),
        (np.ones((1, 4, 4), np.float32), [3], {}, ArgumentError),
        (np.ones((2, 1, 4, 4), np.float32), np.array([1, 2, 3]), {}, ShapeError),
    ],
)
def test_what_cannot_be_turned_is_an_error(
    source: Any, angle: Any, options: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="imrotate"):
        image.imrotate(od.nd.array(source, dtype=source.dtype), angle, **options)


@turning
def test_random_rotations_lie_between_their_limits() -> None:
    np.random.seed(0)
    batch = od.nd.ones((2, 1, 5, 5))
    np.testing.assert_allclose(
        image.random_rotate(batch, (90, 90)).asnumpy(), image.imrotate(batch, 90).asnumpy(), atol=1e-6
    )
