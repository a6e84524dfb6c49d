"""Common parts of kernels of correlations: images' copies, offsets in them, and calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_convolution.direct.correlation import Correlation
from operad_sdk.vector import LANES, data_address

SLACK: Final = 64
"""Elements behind the copied images that vectors may reach."""


def copied_elements(correlation: Correlation, lanes: int) -> int:
    """Elements of an image's copy.

    They are an odd number of vectors, so that several images do not share few lines of a cache.
    """
    return (-(-correlation.channels * correlation.channel_elements // lanes) | 1) * lanes


def image_words(correlation: Correlation, size: int) -> Sequence[int]:
    """The table's words about images and their copies, but for the address."""
    rows, columns = correlation.size
    copied = min(rows, correlation.reach[0] - correlation.before[0])
    return [
        correlation.channels * rows * columns * size,
        correlation.channels,
        rows * columns * size,
        copied,
        columns * size,
        correlation.channel_elements * size,
        correlation.row_columns * size,
        correlation.before[0] * correlation.row_columns * size,
        copied_elements(correlation, LANES[size]) * size,
        *(word for part in correlation.parts() for word in part),
    ]


def output_words(out: NDArray[Any] | int, image_bytes: int) -> tuple[int, int, int]:
    """The table's words about where images' outputs go: an array, or bytes from the beginning of scratch memory.

    In scratch memory each image goes to where the one before it was.
    """
    return (out, 1, 0) if isinstance(out, int) else (data_address(out), 0, image_bytes)


@final
class Run:
    """A kernel with its table, and with what must live as long.

    Attributes:
        table: The table's address.
    """

    def __init__(self, call: Callable[..., None], words: Sequence[int], kept: object) -> None:
        self._call, self._words, self._kept = call, np.array(words, np.int64), kept
        self.table: Final[int] = data_address(self._words)

    @property
    def address(self) -> int:
        """The kernel's address."""
        found = ctypes.cast(self._call, ctypes.c_void_p).value  # type: ignore[arg-type]
        assert found is not None
        return found

    def __call__(self, first: int, last: int, scratch: NDArray[Any]) -> None:
        """Compute some of the images, in memory that no other thread uses meanwhile."""
        self._call(self.table, first, last, data_address(scratch))


def tap_offsets(correlation: Correlation, size: int) -> NDArray[np.int64]:
    """Bytes from the beginning of a copied channel to what each tap reads first."""
    return np.array([correlation.tap_offset(tap) * size for tap in correlation.taps], np.int64)


def position_offsets(correlation: Correlation, size: int) -> NDArray[np.int64]:
    """The same for each channel of a group and tap, from the beginning of a copied group."""
    channels = np.arange(correlation.channels // correlation.groups) * correlation.channel_elements * size
    return (channels[:, None] + tap_offsets(correlation, size)).reshape(-1)
