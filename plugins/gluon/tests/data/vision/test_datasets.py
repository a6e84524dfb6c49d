from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import operad as od
from operad.errors import FormatError, OperadError

vision = od.gluon.data.vision


def write_mnist(folder: Path, images: int = 3, labels: int = 3) -> None:
    pixels = bytes(i % 251 for i in range(images * 784))
    (folder / "train-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, images, 28, 28) + pixels)
    (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, labels) + bytes(range(labels)))


def test_unpacked_files_of_mnist_are_read(tmp_path: Path) -> None:
    write_mnist(tmp_path)
    image, label = vision.MNIST(str(tmp_path))[1]
    assert (image.shape, str(image.dtype), int(label)) == ((28, 28, 1), "uint8", 1)
    assert image[0, 1, 0].asscalar() == (784 + 1) % 251


def test_other_numbers_of_labels_than_images_are_refused(tmp_path: Path) -> None:
    write_mnist(tmp_path, labels=2)
    with pytest.raises(FormatError, match=r"MNIST: .*has 2 labels for 3 images"):
        vision.MNIST(str(tmp_path))


def test_the_folder_of_the_archive_is_found(tmp_path: Path) -> None:
    inside = tmp_path / "cifar-100-binary"
    inside.mkdir()
    (inside / "test.bin").write_bytes(bytes([3, 50]) + bytes(3072))
    assert vision.CIFAR100(str(tmp_path), fine_label=True, train=False)[0][1] == 50


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_batch.bin").write_bytes(bytes(3000))
    with pytest.raises(FormatError, match=r"has 3000 bytes, expected a multiple of 3073"):
        vision.CIFAR10(str(tmp_path), train=False)


@pytest.mark.parametrize(
    ("make", "name", "advice"),
    [(vision.MNIST, "train-images-idx3-ubyte.gz", "put it there"),
     (vision.FashionMNIST, "train-images-idx3-ubyte.gz", "put it there"),
     (vision.CIFAR10, "data_batch_1.bin", "unpack cifar-10-binary.tar.gz there"),
     (vision.CIFAR100, "train.bin", "unpack cifar-100-binary.tar.gz there")],
)  # fmt: skip
def test_a_missing_file_says_where_to_put_it(make: Any, name: str, advice: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        make(str(tmp_path / "no"))
    assert isinstance(raised.value, OperadError)
    for part in (make.__name__, name, str(tmp_path / "no"), "downloads nothing", advice):
        assert part in str(raised.value)
