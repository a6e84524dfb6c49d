from __future__ import annotations

import gzip
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import config
from operad.errors import FormatError, LimitError, ParamError, ShapeError

CSV = "1,2,3\n2,3,4\n3,4,5\n4,5,6\n"
SVM = "1.0 0:0.5 2:1.5\n-2.0\n-3.0 0:0.25 1:2.5 2:1.5\n4 2:-1.5\n"


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return written


def passes(iterator: Any, count: int) -> list[Any]:
    """The first value of each row, pad and index of every batch of each pass."""
    found = []
    for _ in range(count):
        found.append(
            [(batch.data[0].asnumpy()[:, 0].tolist(), batch.pad, batch.index.tolist()) for batch in iterator]
        )
        iterator.reset()
    return found


def test_csv_passes_begin_behind_the_rows_that_filled_the_last_batch_up(write: Any) -> None:
    iterator = od.io.CSVIter(data_csv=write("a.csv", CSV), data_shape=(3,), batch_size=3)
    # What MXNet 1.9.1 gives, and beyond it one more pass.
    assert passes(iterator, 3) == [
        [([1, 2, 3], 0, [0, 1, 2]), ([4, 1, 2], 2, [3, 0, 1])],
        [([3, 4, 1], 1, [2, 3, 0])],
        [([2, 3, 4], 0, [1, 2, 3])],
    ]


def test_csv_without_round_batch_fills_up_with_the_first_rows_in_every_pass(write: Any) -> None:
    iterator = od.io.CSVIter(write("a.csv", CSV), (3,), batch_size=3, round_batch=False)
    assert passes(iterator, 2) == [[([1, 2, 3], 0, [0, 1, 2]), ([4, 1, 2], 2, [3, 0, 1])]] * 2


def test_csv_rows_have_the_given_shape_and_labels_theirs(write: Any) -> None:
    data, label = write("b.csv", "1,2,3,4\n5,6,7,8\n"), write("l.csv", "1,2\n3,4\n")
    iterator = od.io.CSVIter(data, (2, 2), label, (2,), batch_size=2)
    batch = iterator.next()
    np.testing.assert_array_equal(batch.data[0].asnumpy(), np.arange(1, 9).reshape(2, 2, 2))
    np.testing.assert_array_equal(batch.label[0].asnumpy(), [[1, 2], [3, 4]])
    assert iterator.provide_data == [("data", (2, 2, 2))]
    assert iterator.provide_label == [("softmax_label", (2, 2))]


def test_csv_labels_are_zero_without_a_file_and_have_one_axis_where_they_are_single(write: Any) -> None:
    data = write("a.csv", CSV)
    assert od.io.CSVIter(data, 3, batch_size=2).next().label[0].asnumpy().tolist() == [0, 0]
    labelled = od.io.CSVIter(data, 3, write("l.csv", "7\n8\n9\n10\n"), batch_size=2, dtype="int32")
    batch = labelled.next()
    assert batch.label[0].asnumpy().tolist() == [7, 8]
    assert batch.data[0].dtype == batch.label[0].dtype == np.int32


def test_csv_reads_all_files_of_a_folder_by_name(write: Any, tmp_path: Path) -> None:
    write("all/b.csv", "3\n")
    write("all/a.csv", "1\n2\n")
    assert passes(od.io.CSVIter(tmp_path / "all", 1, batch_size=3), 1) == [[([1, 2, 3], 0, [0, 1, 2])]]


@pytest.mark.parametrize(
    ("content", "shape", "error", "message"),
    [
        ("1,2,3\n2,3\n", 3, FormatError, "bad.csv' as lines of numbers: .*row 2"),
        ("1,x\n", 2, FormatError, "bad.csv' as lines of numbers"),
        ("", 2, FormatError, "bad.csv' as lines of numbers"),
        ("1,2\n", (2, 2), ShapeError, r"have 2 values, expected 4 for shape \(2, 2\)"),
        ("1,2\n", (0,), ShapeError, "data_shape is .0,., expected positive integers"),
        ("1,2\n", "2", ShapeError, "data_shape is '2', expected positive integers"),
    ],
)
def test_csv_files_that_are_not_as_said_are_refused(
    write: Any, content: str, shape: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        od.io.CSVIter(write("bad.csv", content), shape)


def test_csv_labels_have_to_be_as_many_as_rows(write: Any) -> None:
    with pytest.raises(ShapeError, match="'softmax_label' has 1 rows, expected 4"):
        od.io.CSVIter(write("a.csv", CSV), 3, write("l.csv", "1\n"))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        od.io.CSVIter(tmp_path / "nowhere.csv", 3)


def test_libsvm_lines_become_dense_rows_with_the_labels_before_them(write: Any) -> None:
    iterator = od.io.LibSVMIter(write("a.svm", SVM), (3,), batch_size=3)
    found = [(b.data[0].asnumpy().tolist(), b.label[0].asnumpy().tolist(), b.pad) for b in iterator]
    assert found == [
        ([[0.5, 0, 1.5], [0, 0, 0], [0.25, 2.5, 1.5]], [1, -2, -3], 0),
        ([[0, 0, -1.5], [0.5, 0, 1.5], [0, 0, 0]], [4, 1, -2], 2),
    ]


def test_libsvm_labels_may_be_in_a_file_of_their_own(write: Any) -> None:
    data = write("a.svm", "1 0:0.5\n2 1:1\n3 2:1\n")
    label = write("l.svm", "0 0:5\n0 1:7\n0 0:1\n")
    batch = od.io.LibSVMIter(data, 3, label, 2, batch_size=3).next()
    assert batch.label[0].asnumpy().tolist() == [[5, 0], [0, 7], [1, 0]]


def test_libsvm_parts_have_equally_many_rows(write: Any) -> None:
    data = write("a.svm", SVM)
    parts = [od.io.LibSVMIter(data, 3, num_parts=2, part_index=part, batch_size=2).next() for part in (0, 1)]
    assert [batch.label[0].asnumpy().tolist() for batch in parts] == [[1, -2], [-3, 4]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 3:1", "line 2: index 3 is outside 0 to 2"),
        ("1 0:x", "line 2: could not convert"),
        ("1 2 0:1", "line 2: it has 2 labels, expected 1"),
        ("0:1", "line 2: it has 0 labels, expected 1"),
    ],
)
def test_libsvm_lines_that_are_wrong_are_refused_with_their_number(
    write: Any, line: str, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        od.io.LibSVMIter(write("bad.svm", f"1 0:1\n{line}\n"), 3)


def test_libsvm_refuses_what_mxnet_does_not_have_either(write: Any) -> None:
    data = write("a.svm", SVM)
    with pytest.raises(ParamError, match="round_batch"):
        od.io.LibSVMIter(data, 3, round_batch=False)
    with pytest.raises(ParamError, match="part_index is 2 and num_parts 2"):
        od.io.LibSVMIter(data, 3, num_parts=2, part_index=2)
    with pytest.raises(ShapeError, match="expected one axis"):
        od.io.LibSVMIter(data, (3, 1))


PIXELS = np.arange(20, dtype=np.uint8).reshape(5, 2, 2)


@pytest.fixture
def mnist(write: Any) -> dict[str, Any]:
    image = struct.pack(">IIII", 2051, 5, 2, 2) + PIXELS.tobytes()
    label = struct.pack(">II", 2049, 5) + bytes(range(5))
    return {"image": write("images", gzip.compress(image)), "label": write("labels", label), "batch_size": 2}


def test_mnist_images_are_over_256_and_rows_that_fill_no_batch_are_left_out(mnist: Any) -> None:
    iterator = od.io.MNISTIter(**mnist, shuffle=False)
    batches = list(iterator)
    images = np.concatenate([batch.data[0].asnumpy() for batch in batches])
    np.testing.assert_array_equal(images, PIXELS[:4].reshape(4, 1, 2, 2) / np.float32(256))
    assert [batch.label[0].asnumpy().tolist() for batch in batches] == [[0, 1], [2, 3]]
    assert iterator.provide_data == [("data", (2, 1, 2, 2))]


def test_mnist_images_may_be_flat_and_bytes(mnist: Any) -> None:
    batch = od.io.MNISTIter(**mnist, shuffle=False, flat=True, dtype="uint8").next()
    assert batch.data[0].dtype == np.uint8
    np.testing.assert_array_equal(batch.data[0].asnumpy(), PIXELS[:2].reshape(2, 4))


@pytest.mark.parametrize("shape", [{"input_shape": (1, 2, 2)}, {"data_shape": (4,)}, {"data_shape": 4}])
def test_mnist_shape_that_a_program_gives_leaves_the_axes_to_flat(mnist: Any, shape: Any) -> None:
    # As of MXNet 1.9.1, whose iterators over files ignore arguments that they do not know.
    assert od.io.MNISTIter(**mnist, **shape).provide_data[0].shape == (2, 1, 2, 2)


def test_mnist_shape_of_another_size_is_refused(mnist: Any) -> None:
    with pytest.raises(ShapeError, match=r"data_shape is \(784,\), but images of .* have 2x2 pixels"):
        od.io.MNISTIter(**mnist, data_shape=(784,))


def test_mnist_is_shuffled_in_the_same_order_in_every_pass(mnist: Any) -> None:
    iterator = od.io.MNISTIter(**mnist, seed=4)
    first = [batch.label[0].asnumpy().tolist() for batch in iterator]
    iterator.reset()
    assert [batch.label[0].asnumpy().tolist() for batch in iterator] == first
    for batch, labels in zip(od.io.MNISTIter(**mnist, seed=4), first, strict=True):
        np.testing.assert_array_equal(batch.data[0].asnumpy()[:, 0] * 256, PIXELS[batch.index.astype(int)])
        assert batch.index.tolist() == labels


def test_mnist_parts_divide_the_rows(mnist: Any) -> None:
    # MXNet 1.9.1 gives the same.
    batch = od.io.MNISTIter(**mnist, shuffle=False, num_parts=2, part_index=1).next()
    assert batch.label[0].asnumpy().tolist() == [2, 3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x00\x00\x08\x03", "expected .* an idx file of bytes with 3 axes"),
        (struct.pack(">II", 2049, 5) + bytes(99), "expected .* an idx file of bytes with 3 axes"),
        (struct.pack(">IIII", 2051, 5, 2, 2) + bytes(19), "has 19 bytes of elements, expected 20"),
        (struct.pack(">IIII", 2051, 0, 2, 2), r"has shape \(0, 2, 2\), expected at least one element"),
        (struct.pack(">IIII", 2051, 5, 2, 0), r"has shape \(5, 2, 0\), expected at least one element"),
        (
            gzip.compress(struct.pack(">IIII", 2051, 5, 2, 2) + PIXELS.tobytes(), mtime=0)[:-9],
            "expected a whole gzip file",
        ),
    ],
    ids=["no-sizes", "labels", "short", "no-images", "no-pixels", "short-gzip"],
)
def test_idx_files_that_are_cut_short_or_others_are_refused(
    mnist: Any, write: Any, content: bytes, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        od.io.MNISTIter(**{**mnist, "image": write("bad", content)})


def test_labels_have_to_be_as_many_as_images(mnist: Any, write: Any) -> None:
    with pytest.raises(ShapeError, match="has 2 labels, expected 5"):
        od.io.MNISTIter(**{**mnist, "label": write("few", struct.pack(">II", 2049, 2) + bytes(2))})


def test_gzip_of_sizes_that_are_too_large_is_refused_before_it_is_unpacked(mnist: Any, write: Any) -> None:
    head = struct.pack(">IIII", 2051, 1 << 20, 64, 64)
    bomb = write("bomb", gzip.compress(head + bytes(1 << 20)))
    with pytest.raises(LimitError, match=r"bomb.*\(1048576, 64, 64\).*OPERAD_MAX_EXPANDED_BYTES"):
        od.io.MNISTIter(**{**mnist, "image": bomb})


def test_gzip_that_holds_more_than_its_sizes_is_refused_at_their_end(mnist: Any, write: Any) -> None:
    bomb = write("bomb", gzip.compress(struct.pack(">IIII", 2051, 5, 2, 2) + bytes(1 << 20)))
    with pytest.raises(FormatError, match="has more of elements, expected 20"):
        od.io.MNISTIter(**{**mnist, "image": bomb})


@pytest.mark.parametrize(("dtype", "size"), [("float32", 3), ("float64", 5), ("uint8", 1.5)])
def test_gzip_of_lines_counts_for_the_numbers_that_they_become(
    write: Any, dtype: str, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = write("a.csv", gzip.compress(b"1\n" * 500))
    monkeypatch.setenv("OPERAD_MAX_EXPANDED_BYTES", str(int(1000 * size)))
    config.reload()
    try:
        assert od.io.CSVIter(packed, (1,), dtype=dtype).num_data == 500
        monkeypatch.setenv("OPERAD_MAX_EXPANDED_BYTES", str(int(999 * size)))
        config.reload()
        with pytest.raises(LimitError, match=r"a\.csv.*OPERAD_MAX_EXPANDED_BYTES"):
            od.io.CSVIter(packed, (1,), dtype=dtype)
    finally:
        monkeypatch.undo()
        config.reload()


def test_lines_that_become_wide_rows_are_counted_before_they_are_made(write: Any) -> None:
    path = write("wide", b"1 0:1\n" * 100_000)
    with pytest.raises(LimitError, match=r"wide.*100,000 rows of 100,001.*OPERAD_MAX_EXPANDED_BYTES"):
        od.io.LibSVMIter(data_libsvm=path, data_shape=(100_000,))


@pytest.mark.parametrize("content", [b"\xff\xfe1,2\n", b"1,\0\n", b"1 2:\n", b"1e400,1\n1\n", b"x"])
def test_lines_that_are_no_numbers_are_refused_by_name(write: Any, content: bytes) -> None:
    path = write("bad", content)
    with pytest.raises(FormatError, match="bad"):
        od.io.CSVIter(path, (2,))
    with pytest.raises(FormatError, match="bad"):
        od.io.LibSVMIter(data_libsvm=path, data_shape=(2,))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("kind", ["csv", "libsvm"])
def test_numbers_beyond_the_type_are_infinite_whatever_the_callers_settings_are(
    kind: str, dtype: str, write: Any
) -> None:
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        if kind == "csv":
            batches = od.io.CSVIter(write("a.csv", "1e300,-1e300,1e-300\n"), (3,), dtype=dtype)
        else:
            batches = od.io.LibSVMIter(write("a.svm", "1e300 0:1e300 1:-1e300 2:1e-300\n"), (3,), dtype=dtype)
        assert next(batches).data[0].asnumpy().tolist() == [[np.inf, -np.inf, 0.0]]
