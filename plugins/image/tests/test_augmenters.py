from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError, UnsupportedError
from plugins.image.tests import pixels

pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")
image = od.image
MEAN = [123.68000030517578, 116.27999877929688, 103.52999877929688]  # in float32
LIGHTING = (0.5, np.array([55.0, 4, 1]), np.array([[-0.5, 0.7, 0.4], [-0.5, 0, -0.8], [-0.5, -0.6, 0.4]]))


@pytest.fixture
def noise() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def seeded() -> None:
    random.seed(3)
    np.random.seed(3)


@pytest.mark.parametrize(
    ("augmenter", "means"),
    [
        # The mean of each channel that MXNet 1.9.1 gives of the same noise after the same seeds.
        (image.ColorJitterAug(0.3, 0.3, 0.3), [136.57623, 137.86163, 135.72784]),
        (image.HueJitterAug(0.5), [126.47732, 128.27249, 127.15295]),
        (image.LightingAug(*LIGHTING), [103.018326, 103.57514, 101.081314]),
    ],
)
def test_colours_are_those_of_mxnet(augmenter: Any, means: list[float], noise: Any) -> None:
    seeded()
    found = augmenter(od.nd.array(noise)).asnumpy()
    np.testing.assert_allclose(found.mean((0, 1)), means, rtol=1e-4)


def test_a_chain_of_augmenters_gives_the_pixels_of_mxnet(noise: Any) -> None:
    chain = image.CreateAugmenter(
        (3, 24, 24),
        resize=30,
        rand_crop=True,
        rand_resize=True,
        rand_mirror=True,
        **pixels.ALL,
        rand_gray=0.5,
        inter_method=1,
    )
    colours = chain[4]
    for _ in range(3):  # augmenters in random order keep the order they were put into
        seeded()
        found = image.SequentialAug(chain)(od.nd.array(noise, dtype="uint8")).asnumpy()
    assert len(colours.ts) == 3
    np.testing.assert_allclose(
        found.ravel()[:6], [0.9771999, 1.1285644, 1.3457707, -0.7427673, -0.629795, -0.4047737], atol=1e-4
    )


def test_augmenters_tell_what_they_are_as_in_mxnet() -> None:
    chain = image.CreateAugmenter((3, 24, 32), resize=30, rand_mirror=True, mean=True, brightness=0.1)
    assert [one.dumps() for one in chain] == [
        '["resizeaug", {"size": 30, "interp": 2}]',
        '["centercropaug", {"size": [32, 24], "interp": 2}]',
        '["horizontalflipaug", {"p": 0.5}]',
        '["castaug", {"type": "float32"}]',
        ["colorjitteraug", ['["brightnessjitteraug", {"brightness": 0.1}]']],
        f'["colornormalizeaug", {{"mean": {MEAN}, "std": null}}]',
    ]


@pytest.mark.parametrize(
    ("augmenter", "shape"),
    [
        (image.ResizeAug(20, 1), (20, 30, 3)),
        (image.ForceResizeAug((20, 30), 1), (30, 20, 3)),
        (image.RandomCropAug((20, 10)), (10, 20, 3)),
        (image.CenterCropAug((20, 10)), (10, 20, 3)),
        (image.RandomSizedCropAug((20, 10), 0.1, (0.5, 2), 1), (10, 20, 3)),
        (image.RandomOrderAug([image.ResizeAug(20), image.CastAug()]), (20, 30, 3)),
    ],
)
def test_augmenters_change_an_array_of_either_kind_and_leave_the_old_one(
    augmenter: Any, shape: tuple[int, ...], noise: Any
) -> None:
    kept = noise.copy()
    for given in (noise, od.nd.array(noise, dtype="uint8")):
        found = augmenter(given)
        assert (type(found), found.shape) == (type(given), shape)
    np.testing.assert_array_equal(noise, kept)


def test_a_mirror_image_and_gray_come_with_their_probability(noise: Any) -> None:
    np.testing.assert_array_equal(image.HorizontalFlipAug(1)(noise), noise[:, ::-1])
    np.testing.assert_array_equal(image.HorizontalFlipAug(0)(noise), noise)
    gray = image.RandomGrayAug(1)(noise.astype(np.float32))
    np.testing.assert_allclose(
        gray, np.repeat(noise @ np.float32([0.21, 0.72, 0.07])[:, None], 3, 2), rtol=1e-5
    )
    np.testing.assert_array_equal(image.RandomGrayAug(0)(noise), noise)


@pytest.mark.parametrize("kind", ["BrightnessJitterAug", "ContrastJitterAug", "SaturationJitterAug"])
def test_a_jitter_of_nothing_changes_nothing(kind: str, noise: Any) -> None:
    found = getattr(image, kind)(0)(noise.astype(np.float32))
    np.testing.assert_allclose(found, noise, atol=1e-4)


def test_an_augmenter_of_ones_own_defines_change_or_call(noise: Any) -> None:
    class Halved(image.Augmenter):  # type: ignore[misc]  # a class of a plugin
        def change(self, image: Any) -> Any:
            return image // 2

    class Called(image.Augmenter):  # type: ignore[misc]  # a class of a plugin
        def __call__(self, src: Any) -> Any:
            assert isinstance(src, od.nd.NDArray)
            return src + 1

    both = image.SequentialAug([Halved(), Called()])
    np.testing.assert_array_equal(both(noise), noise // 2 + 1)
    with pytest.raises(UnsupportedError, match="defines neither change"):
        image.Augmenter()(noise)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"data_shape": (24, 24)}, ShapeError),
        ({"data_shape": (3, 24, 24), "rand_resize": True}, ParamError),
        ({"data_shape": (3, 24, 24), "mean": np.zeros(2)}, ShapeError),
    ],
)
def test_what_makes_no_augmenters_is_refused(options: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="CreateAugmenter"):
        image.CreateAugmenter(**options)
