"""Numbers in rows: idx, CSV, LibSVM."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import operad as od


def idx_seeds() -> list[bytes]:
    """Images and labels of MNIST's format, the two divided by a mark."""
    images = struct.pack(">IIII", 2051, 5, 4, 3) + bytes(range(60))
    return [images + _MARK + struct.pack(">II", 2049, 5) + bytes(5)]


_MARK = b"--------"


def read_idx(path: Path) -> None:
    """Both files, as they are."""
    images, _, labels = path.read_bytes().partition(_MARK)
    _read_mnist(path, images, labels)


def read_idx_gz(path: Path) -> None:
    """Both files, compressed."""
    images, _, labels = path.read_bytes().partition(_MARK)
    _read_mnist(path, gzip.compress(images, 1), gzip.compress(labels, 1))


def _read_mnist(path: Path, images: bytes, labels: bytes) -> None:
    (path.parent / "images").write_bytes(images)
    (path.parent / "labels").write_bytes(labels)
    for _ in od.io.MNISTIter(image=path.parent / "images", label=path.parent / "labels", batch_size=2):
        pass


def gzip_seeds() -> list[bytes]:
    """A compressed CSV file."""
    return [gzip.compress(data, mtime=0) for data in csv_seeds()]


def csv_seeds() -> list[bytes]:
    """Lines of numbers."""
    return [b"1,2,3\n4,5.5,6e-1\n-7,8,9\n" * 5, b"0.25,1,2\r\n" * 3]


def read_csv(path: Path) -> None:
    """A CSV file, compressed or not."""
    for _ in od.io.CSVIter(path, (3,), batch_size=2):
        pass


def libsvm_seeds() -> list[bytes]:
    """Lines of labels and pairs."""
    return [b"1 0:1.5 2:3\n-1 1:2\n0\n" * 4]


def read_libsvm_gz(path: Path) -> None:
    """A LibSVM file, compressed."""
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 1, mtime=0))
    read_libsvm(packed)


def read_libsvm(path: Path) -> None:
    """A LibSVM file, for data and for labels."""
    for labels in ({}, {"label_libsvm": path, "label_shape": (3,)}):
        for _ in od.io.LibSVMIter(data_libsvm=path, data_shape=(3,), batch_size=2, **labels):
            pass
