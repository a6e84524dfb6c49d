"""The last step: pixels of an image, mirrored or not, become numbers in their place of a batch.

One loop that numba compiles goes over the pixels once; without numba NumPy goes over them once per channel.
"""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np

from operad.errors import ParamError, ShapeError
from operad_image.codec import Image
from operad_image.options import Finish
from operad_image.transform import Part, Rng
from operad_sdk import CompiledLoops

_LOOPS: Final = CompiledLoops("operad_image.compiled")


@final
class Finisher:
    """Writes images into batches.

    Args:
        who: The iterator, for messages.
        wanted: The parameters.
        shape: Channels, height and width of an image.
        dtype: Of the batch. Only floating types are normalized; of others the pixels stay as they are, and
            int8, which ends there, has at most 127.
    Raises:
        ParamError: Pixels would be normalized into a type that does not hold that.
        ShapeError: The mean image has another shape.
    """

    def __init__(self, who: str, wanted: Finish, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._wanted = wanted
        self.is_random = bool(
            wanted.rand_mirror or wanted.max_random_contrast or wanted.max_random_illumination
        )
        channels = shape[0]
        means = (wanted.mean_r, wanted.mean_g, wanted.mean_b, wanted.mean_a)
        deviations = (wanted.std_r, wanted.std_g, wanted.std_b, wanted.std_a)
        self._mean = np.array(means[:channels], np.float32)
        self._std = np.array(deviations[:channels], np.float32)
        self._image = _mean_image(who, wanted.mean_img, shape) if wanted.mean_img else None
        self._is_floating = dtype.kind == "f"
        self._is_clipped = dtype == np.int8
        self._is_compiled = dtype == np.float32 and channels == 3 and self._image is None
        self._shape, self._dtype = shape, dtype
        self._is_ready = not self._is_compiled
        is_normalized = bool(
            any(self._mean) or any(self._std != 1) or wanted.scale != 1 or self._image is not None
        )
        if not all(self._std):
            raise ParamError(f"{who}: std is {self._std.tolist()}, expected none of 0")
        is_normalized |= bool(wanted.max_random_contrast or wanted.max_random_illumination)
        if not self._is_floating and is_normalized:
            raise ParamError(
                f"{who}: mean, std, scale, contrast and illumination need a floating dtype, got {dtype}"
            )

    def compile(self) -> bool:
        """Compile the functions that `write` calls; return whether this call compiled any.

        `write` would do it too, but the time that takes is no part of an image's.
        """
        if self._is_ready:
            return False
        slot = np.empty(self._shape, self._dtype)
        is_slow = _LOOPS.pay(slot.size, slot)
        if is_slow:
            channels, height, width = self._shape
            self.write(Part(np.zeros((height, width, channels), np.uint8)), slot, np.random.default_rng(0))
        self._is_ready = True
        return is_slow

    def write(self, part: Part, slot: np.ndarray[Any, Any], rng: Rng) -> None:
        """Write a part of an image, uint8, into `slot`, (channels, height, width)."""
        wanted = self._wanted
        mirrored = wanted.mirror or (wanted.rand_mirror and rng.random() < 0.5)
        factor, offset = np.float32(wanted.scale), np.float32(0)
        if wanted.max_random_contrast:
            factor *= np.float32(1 + rng.uniform(-1, 1) * wanted.max_random_contrast)
        if wanted.max_random_illumination:
            offset = np.float32(rng.uniform(-1, 1) * wanted.max_random_illumination * wanted.scale)
        if self._is_compiled and _LOOPS.pay(slot.size, slot):
            image, top, left = part
            rows = image.reshape(len(image), -1)
            _LOOPS.normalize(rows, top, left, mirrored, self._mean, factor / self._std, offset, slot)
            return
        _, height, width = slot.shape
        image = part.image[part.top : part.top + height, part.left : part.left + width]
        planes = (image[:, ::-1] if mirrored else image).transpose(2, 0, 1)
        if not self._is_floating:
            slot[...] = np.minimum(planes, 127) if self._is_clipped else planes
        elif self._image is not None:
            mean = self._image[:, :, ::-1] if mirrored else self._image  # it is mirrored with the image
            slot[...] = (planes - mean) * factor + offset
        else:
            self._look_up(planes, factor, offset, slot)

    def _look_up(self, planes: Image, factor: Any, offset: Any, slot: np.ndarray[Any, Any]) -> None:
        """Fill the slot by a table for each channel, as pixels have 256 values."""
        values = np.arange(256, dtype=np.float32)
        for plane, mean, std, out in zip(planes, self._mean, self._std, slot, strict=True):
            table = ((values - mean) * (factor / std) + offset).astype(slot.dtype)
            np.take(table, plane, out=out, mode="clip")


def _mean_image(who: str, path: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    from operad import nd  # noqa: PLC0415 - one file in a program's life

    loaded = nd.load(path)
    (array,) = loaded.values() if isinstance(loaded, dict) else loaded
    found: np.ndarray[Any, Any] = array.asnumpy()
    if found.shape != shape:
        raise ShapeError(f"{who}: mean_img {path!r} has shape {found.shape}, expected {shape}")
    return found
