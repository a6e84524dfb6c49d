"""Data that MXNet's `test_utils` downloads, where the files are here already; nothing is downloaded.

Source: python/mxnet/test_utils.py. Differs: a file that is missing is an error that says where to put it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import operad as od
from operad.errors import UnsupportedError

_MNIST: Final = tuple(
    f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
)
_FOLDER: Final = Path("data")


def download(
    url: str, fname: str | None = None, dirname: str | None = None, overwrite: bool = False, retries: int = 5
) -> str:
    """The path of the file that `url` was downloaded to before.

    Args:
        fname: Its name; None: the last part of `url`.
        dirname: Its folder.
        overwrite: Whether to download it all the same, which is refused.
        retries: Not used.

    Raises:
        UnsupportedError: There is no such file.
    """
    path = os.path.join(dirname or "", fname or url.rsplit("/", maxsplit=1)[-1])
    if overwrite or not os.path.exists(path):
        again = " again" if overwrite else ""
        raise UnsupportedError(
            f"test_utils.download: operad downloads nothing; fetch {url}{again} yourself, and put it "
            f"at {path!r}"
        )
    return path


def get_mnist() -> dict[str, np.ndarray[Any, Any]]:
    """Images and labels of `*-ubyte.gz` in the working folder: images from 0 to 1, of shape (N, 1, 28, 28).

    Raises:
        UnsupportedError: A file is missing.
        FormatError: A file is no idx file of bytes, or is cut short.
    """
    found = {}
    for part, images, labels in (("train", *_MNIST[:2]), ("test", *_MNIST[2:])):
        files = {"image": _present(f"{images}.gz"), "label": _present(f"{labels}.gz")}
        count = od.io.MNISTIter(**files, batch_size=1, shuffle=False).num_data
        whole = next(od.io.MNISTIter(**files, batch_size=count, shuffle=False, dtype="uint8"))
        found[f"{part}_data"] = whole.data[0].asnumpy().astype(np.float32) / 255
        found[f"{part}_label"] = whole.label[0].asnumpy().astype(np.int8)
    return found


def get_mnist_ubyte() -> None:
    """Check that MNIST's four files are in the folder `data`.

    Raises:
        UnsupportedError: One is missing.
    """
    for name in _MNIST:
        _present(str(_FOLDER / name))


def get_mnist_pkl() -> None:
    """Check that `data/mnist.pkl.gz` is there; see `get_mnist_ubyte`."""
    _present(str(_FOLDER / "mnist.pkl.gz"))


def get_cifar10() -> None:
    """Check that record files and lists are in `data/cifar`; see `get_mnist_ubyte`."""
    for name in ("train.rec", "test.rec", "train.lst", "test.lst"):
        _present(str(_FOLDER / "cifar" / name))


def get_mnist_iterator(
    batch_size: int, input_shape: Sequence[int], num_parts: int = 1, part_index: int = 0
) -> tuple[Any, Any]:
    """Iterators over MNIST's files in the folder `data`, for training and for validation.

    Args:
        batch_size: Rows in a batch.
        input_shape: (1, 28, 28) for images; any other number of axes for rows of pixels.
        num_parts: Into how many parts the rows are divided.
        part_index: The part that these iterators read.

    Raises:
        UnsupportedError: A file is missing.
    """
    get_mnist_ubyte()
    images, labels, test_images, test_labels = (str(_FOLDER / name) for name in _MNIST)
    train, test = (
        od.io.MNISTIter(
            image=image,
            label=label,
            input_shape=tuple(input_shape),
            batch_size=batch_size,
            flat=len(input_shape) != 3,
            num_parts=num_parts,
            part_index=part_index,
        )
        for image, label in ((images, labels), (test_images, test_labels))
    )
    return train, test


def _present(path: str) -> str:
    if not os.path.exists(path):
        raise UnsupportedError(
            f"test_utils: {path!r} is missing, and operad downloads nothing; fetch the data yourself, and "
            "put the file there"
        )
    return path
