"""`MNISTIter`: batches of images and labels in idx files, the format of MNIST.

    idx := 0 u8 | 0 u8 | element type u8 | number of axes u8 | length of each axis u32, big-endian | elements

Source: MNISTIter, src/io/iter_mnist.cc. Differs: files may be compressed; `index` has the rows' numbers.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterable
from typing import Any, BinaryIO, Final, final

import numpy as np

from operad.errors import FormatError, ShapeError
from operad_files import expanding, opened
from operad_iterators.file_rows import DATA_NAME, LABEL_NAME, dtype_of, part_of, shape_of
from operad_iterators.row_iter import FileRowIter
from operad_iterators.table import Column

_BYTES: Final = 8
"""idx's number for unsigned bytes."""


@final
class MNISTIter(FileRowIter):
    """Batches of gray images and their labels.

    Rows at the end that do not fill a batch are left out.

    Args:
        image: The idx file of the images, perhaps compressed by gzip.
        label: That of the labels.
        batch_size: Rows in a batch.
        shuffle: Visit the rows in a random order, the same in every pass.
        flat: Give an image as one axis instead of (1, height, width).
        seed: Of the order.
        silent: Accepted and without effect: nothing is printed.
        num_parts: Into how many parts the rows are divided.
        part_index: The part that this iterator reads.
        prefetch_buffer: Accepted and without effect.
        ctx: Likewise; batches are made on the default context.
        dtype: Of images and labels; None: float32. Floating types have the pixels over 256, others the
            pixels as they are.
        data_name: Of the images' variable.
        label_name: Of the labels' variable.
        data_shape: What the program takes for an image's shape; `flat` decides on the axes, as in MXNet.
        input_shape: Another name of it.
    Raises:
        FormatError: A file is no idx file of bytes, or is cut short.
        ShapeError: There are more or fewer labels than images, or images have another number of pixels
            than the shape says.
    """

    def __init__(
        self,
        image: str | os.PathLike[str] = "./train-images-idx3-ubyte",
        label: str | os.PathLike[str] = "./train-labels-idx1-ubyte",
        batch_size: int = 128,
        shuffle: bool = True,
        flat: bool = False,
        seed: int = 0,
        silent: bool = False,
        num_parts: int = 1,
        part_index: int = 0,
        prefetch_buffer: int = 4,
        ctx: str = "gpu",
        dtype: object = None,
        data_name: str = DATA_NAME,
        label_name: str = LABEL_NAME,
        data_shape: int | Iterable[int] | None = None,
        input_shape: int | Iterable[int] | None = None,
    ) -> None:
        who, kind = "MNISTIter", dtype_of(dtype)
        images, labels = read_idx(who, image, 3, kind), read_idx(who, label, 1, kind)
        if len(images) != len(labels):
            raise ShapeError(
                f"{who}: {str(label)!r} has {len(labels)} labels, "
                f"expected {len(images)} as {str(image)!r} has images"
            )
        part = part_of(who, len(images), num_parts, part_index)
        images, labels = images[part], labels[part]
        height, width = images.shape[1:]
        for what, given in (("data_shape", data_shape), ("input_shape", input_shape)):
            if given is not None and math.prod(shape_of(who, what, given)) != height * width:
                raise ShapeError(
                    f"{who}: {what} is {given!r}, but images of {str(image)!r} have {height}x{width} pixels"
                )
        pixels = images.reshape((-1, height * width) if flat else (-1, 1, height, width)).astype(kind)
        if kind.kind == "f":
            pixels /= 256
        super().__init__(
            [Column(data_name, pixels)], [Column(label_name, labels.astype(kind))], batch_size, "discard"
        )
        if shuffle:
            self._order.permute(np.random.default_rng(seed).permutation(self.num_data))
            self.reset()


def read_idx(
    who: str, path: str | os.PathLike[str], num_axes: int, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """The elements of an idx file; refuses sizes whose arrays of `dtype` would be too large."""
    what = f"{who}: {str(path)!r}"
    with opened(path, what, growth=1) as file:
        head = file.read(4 + 4 * num_axes)
        expected = struct.pack(">BBBB", 0, 0, _BYTES, num_axes)
        if len(head) < 4 + 4 * num_axes or head[:4] != expected:
            raise FormatError(
                f"{what} begins with {head[:4]!r}, expected {expected!r}: "
                f"an idx file of bytes with {num_axes} axes"
            )
        shape = struct.unpack_from(f">{num_axes}I", head, 4)
        size = math.prod(shape)
        if not size:
            raise FormatError(f"{what} has shape {shape}, expected at least one element")
        with expanding(size * (1 + dtype.itemsize), f"{what} of shape {shape}"):
            content = _exactly(file, size)
            if len(content) != size or file.read(1):
                more = "more" if len(content) == size else f"{len(content)} bytes"
                raise FormatError(f"{what} has {more} of elements, expected {size} for shape {shape}")
        return np.frombuffer(content, np.uint8).reshape(shape)


def _exactly(file: BinaryIO, size: int) -> bytes:
    """`size` bytes, or as many as there are; memory is asked for as they come."""
    parts = []
    while size and (part := file.read(min(size, 1 << 24))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
