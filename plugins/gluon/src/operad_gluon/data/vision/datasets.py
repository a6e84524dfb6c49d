"""Datasets of images in local files.

Source: python/mxnet/gluon/data/vision/datasets.py. Differs: nothing is downloaded; files that are missing are
an error that says where to put them. Files of MNIST may be unpacked.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import operad
import operad as od
from operad import nd
from operad.errors import FormatError
from operad_gluon.data.dataset import Dataset, RecordFileDataset, _DownloadedDataset
from operad_gluon.local_files import existing

__all__ = ["CIFAR10", "CIFAR100", "MNIST", "FashionMNIST", "ImageFolderDataset", "ImageRecordDataset"]

Transform = Callable[..., Any] | None
StrPath = str | os.PathLike[str]

_SUFFIXES: Final = (".jpg", ".jpeg", ".png")
_PIXELS: Final = (3, 32, 32)


def _folder(name: str) -> str:
    return os.path.join(operad.base.data_dir(), "datasets", name)


class MNIST(_DownloadedDataset):
    """Handwritten digits: images of (28, 28, 1) bytes, and labels from 0 to 9.

    Args:
        root: Folder of the files, `train-images-idx3-ubyte.gz` and its like.
        train: The training set, otherwise the test set.
        transform: Takes an image and its label, and returns the sample.
    Raises:
        OperadError: A file is missing; a `FileNotFoundError` too.
    """

    _title = "MNIST"

    def __init__(
        self, root: StrPath = _folder("mnist"), train: bool = True, transform: Transform = None
    ) -> None:
        self._train = train
        super().__init__(root, transform)

    def _get_data(self) -> None:
        # The package of iterators, which no other dataset needs.
        from operad.io.mnist_files import read_idx  # type: ignore[import-not-found]  # noqa: PLC0415

        part = "train" if self._train else "t10k"
        names = f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"
        paths = [existing(self._title, self._root, [f"{name}.gz", name]) for name in names]
        images, labels = (
            read_idx(self._title, path, axes, np.dtype(np.uint8))
            for path, axes in zip(paths, (3, 1), strict=True)
        )
        if len(images) != len(labels):
            raise FormatError(f"{self._title}: {paths[1]} has {len(labels)} labels for {len(images)} images")
        self._data = nd.array(images[..., np.newaxis], dtype=np.uint8)
        self._label = labels.astype(np.int32)


class FashionMNIST(MNIST):
    """Articles of clothing, in the format of MNIST.

    Args:
        root: Folder of the files.
        train: The training set, otherwise the test set.
        transform: Takes an image and its label, and returns the sample.
    """

    _title = "FashionMNIST"

    def __init__(
        self, root: StrPath = _folder("fashion-mnist"), train: bool = True, transform: Transform = None
    ) -> None:
        super().__init__(root, train, transform)


class CIFAR10(_DownloadedDataset):
    """Photographs: images of (32, 32, 3) bytes, and labels from 0 to 9.

    Args:
        root: Folder of the files of bytes, `data_batch_1.bin` and its like, or of the archive's own folder.
        train: The training set, otherwise the test set.
        transform: Takes an image and its label, and returns the sample.
    Raises:
        OperadError: A file is missing; a `FileNotFoundError` too.
        FormatError: A file is no sequence of images.
    """

    _title = "CIFAR10"
    _archive = "cifar-10-binary.tar.gz"
    _inside = "cifar-10-batches-bin"
    _train_files: tuple[str, ...] = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
    _test_files: tuple[str, ...] = ("test_batch.bin",)
    _label_bytes = 1
    _label_at = 0

    def __init__(
        self, root: StrPath = _folder("cifar10"), train: bool = True, transform: Transform = None
    ) -> None:
        self._train = train
        super().__init__(root, transform)

    def _read_batch(self, filename: StrPath) -> tuple[Any, Any]:
        content = np.frombuffer(od.files.read_bytes(filename, f"{self._title}: {str(filename)!r}"), np.uint8)
        row = self._label_bytes + int(np.prod(_PIXELS))
        if not content.size or content.size % row:
            raise FormatError(
                f"{self._title}: {str(filename)!r} has {content.size} bytes, expected a multiple of {row}"
            )
        rows = content.reshape(-1, row)
        images = rows[:, self._label_bytes :].reshape(-1, *_PIXELS).transpose(0, 2, 3, 1)
        return images, rows[:, self._label_at].astype(np.int32)

    def _get_data(self) -> None:
        names = self._train_files if self._train else self._test_files
        parts = [self._read_batch(self._path(name)) for name in names]
        images, labels = (np.concatenate(column) for column in zip(*parts, strict=True))
        self._data = nd.array(images, dtype=np.uint8)
        self._label = labels

    def _path(self, name: str) -> Path:
        places = [name, os.path.join(self._inside, name)]
        return existing(self._title, self._root, places, f"unpack {self._archive} there")


class CIFAR100(CIFAR10):
    """Photographs: images of (32, 32, 3) bytes, and labels of 20 coarse or 100 fine classes.

    Args:
        root: Folder of `train.bin` and `test.bin`, or of the archive's own folder.
        fine_label: Labels from 0 to 99, otherwise from 0 to 19.
        train: The training set, otherwise the test set.
        transform: Takes an image and its label, and returns the sample.
    """

    _title = "CIFAR100"
    _archive = "cifar-100-binary.tar.gz"
    _inside = "cifar-100-binary"
    _train_files = ("train.bin",)
    _test_files = ("test.bin",)
    _label_bytes = 2

    def __init__(
        self,
        root: StrPath = _folder("cifar100"),
        fine_label: bool = False,
        train: bool = True,
        transform: Transform = None,
    ) -> None:
        self._label_at = int(fine_label)
        super().__init__(root, train, transform)


class ImageRecordDataset(RecordFileDataset):
    """The images of a RecordIO file that `operad image pack` or MXNet's im2rec wrote, with their labels.

    Args:
        filename: The file; its index lies beside it, with the suffix `.idx`.
        flag: 1: colour images; 0: gray ones.
        transform: Takes an image and its label, and returns the sample.
    """

    def __init__(self, filename: StrPath, flag: int = 1, transform: Transform = None) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx: int) -> Any:
        header, content = od.recordio.unpack(super().__getitem__(idx))
        sample = od.image.imdecode(content, self._flag), header.label
        return sample if self._transform is None else self._transform(*sample)


class ImageFolderDataset(Dataset):
    """The images in the folders below one; a folder is a class, and its number in order of names the label.

    Args:
        root: The folder of folders.
        flag: 1: colour images; 0: gray ones.
        transform: Takes an image and its label, and returns the sample.
    Attributes:
        synsets: Names of the classes, by label.
        items: Path and label of each image.
    """

    def __init__(self, root: StrPath, flag: int = 1, transform: Transform = None) -> None:
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        for folder in sorted(existing("ImageFolderDataset", self._root, ["."]).iterdir()):
            if folder.is_dir():
                self._add(folder)
            else:
                warnings.warn(f"Ignoring {folder}, which is not a directory.", stacklevel=2)

    def _add(self, folder: Path) -> None:
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() in _SUFFIXES:
                self.items.append((str(path), len(self.synsets)))
            else:
                warnings.warn(
                    f"Ignoring {path} of type {path.suffix}. Only support {', '.join(_SUFFIXES)}",
                    stacklevel=3,
                )
        self.synsets.append(folder.name)

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        image = od.image.imread(path, self._flag)
        return (image, label) if self._transform is None else self._transform(image, label)

    def __len__(self) -> int:
        return len(self.items)
