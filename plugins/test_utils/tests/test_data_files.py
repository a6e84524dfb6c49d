from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import UnsupportedError

tu = od.test_utils


def write_mnist(
    folder: Path, ending: str = "", counts: tuple[int, int] = (6, 4)
) -> dict[str, np.ndarray[Any, Any]]:
    """MNIST's four files with random pixels; what they hold, by name."""
    folder.mkdir(exist_ok=True)
    rng, written = np.random.RandomState(0), {}
    for part, count in zip(("train", "t10k"), counts, strict=True):
        for kind, values in (
            ("images-idx3", rng.randint(0, 256, (count, 28, 28))),
            ("labels-idx1", rng.randint(0, 10, count)),
        ):
            head = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
            content, name = head + values.astype(np.uint8).tobytes(), f"{part}-{kind}-ubyte"
            (folder / f"{name}{ending}").write_bytes(gzip.compress(content) if ending else content)
            written[name] = values
    return written


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_iterators_read_local_files(tmp_path: Path) -> None:
    written = write_mnist(tmp_path / "data")
    train, test = tu.get_mnist_iterator(2, (784,))
    assert [(batch.data[0].shape, batch.label[0].shape) for batch in train] == [((2, 784), (2,))] * 3
    labels = np.concatenate([batch.label[0].asnumpy() for batch in test])
    assert sorted(labels) == sorted(written["t10k-labels-idx1-ubyte"])
    images, _ = tu.get_mnist_iterator(2, (1, 28, 28), num_parts=2, part_index=1)
    assert [batch.data[0].shape for batch in images] == [
        (2, 1, 28, 28)
    ]  # as MXNet 1.9.1: 3 rows, one left out


def test_arrays_are_those_of_local_files(tmp_path: Path) -> None:
    written = write_mnist(tmp_path, ".gz")
    found = tu.get_mnist()
    assert {name: (array.shape, array.dtype.name) for name, array in found.items()} == {
        "train_data": ((6, 1, 28, 28), "float32"), "train_label": ((6,), "int8"),
        "test_data": ((4, 1, 28, 28), "float32"), "test_label": ((4,), "int8"),
    }  # fmt: skip
    np.testing.assert_allclose(found["train_data"][:, 0], written["train-images-idx3-ubyte"] / 255, rtol=1e-6)
    np.testing.assert_array_equal(found["test_label"], written["t10k-labels-idx1-ubyte"])


def test_a_file_that_was_downloaded_before_is_found(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("data/words.txt", "other"):
        (tmp_path / name).touch()
    assert tu.download("http://example.org/words.txt", dirname="data") == "data/words.txt"
    assert tu.download("http://example.org/words.txt", fname="other") == "other"
    with pytest.raises(
        UnsupportedError, match=r"fetch http://example.org/words\.txt yourself, and put it at 'words.txt'"
    ):
        tu.download("http://example.org/words.txt")
    with pytest.raises(UnsupportedError, match="again yourself"):
        tu.download("http://example.org/other", overwrite=True)


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (tu.get_mnist, "train-images-idx3-ubyte.gz"), (tu.get_mnist_ubyte, "data/train-images-idx3-ubyte"),
        (tu.get_mnist_pkl, "data/mnist.pkl.gz"), (tu.get_cifar10, "data/cifar/train.rec"),
        (lambda: tu.get_mnist_iterator(2, (784,)), "data/train-images-idx3-ubyte"),
    ],
)  # fmt: skip
def test_a_missing_file_is_named(call: Any, path: str) -> None:
    with pytest.raises(UnsupportedError, match=f"'{path}' is missing, and operad downloads nothing"):
        call()


def test_files_that_are_there_are_enough(tmp_path: Path) -> None:
    (tmp_path / "data" / "cifar").mkdir(parents=True)
    for name in ("mnist.pkl.gz", "cifar/train.rec", "cifar/test.rec", "cifar/train.lst", "cifar/test.lst"):
        (tmp_path / "data" / name).touch()
    tu.get_mnist_pkl()
    tu.get_cifar10()
