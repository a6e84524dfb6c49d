"""`LibSVMIter`: batches of the lines of LibSVM files, as dense arrays.

Source: LibSVMIter, src/io/iter_libsvm.cc. Differs: batches are dense, since operad has no sparse arrays;
parts are counted in rows, not in bytes; `prefetch_buffer` and `ctx` do nothing, since the files are read
whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, final

import numpy as np

from operad.errors import FormatError, ParamError, ShapeError
from operad_files import expanding, read_lines
from operad_iterators.file_rows import (
    DATA_NAME,
    LABEL_NAME,
    dtype_of,
    files_of,
    label_column,
    part_of,
    shape_of,
)
from operad_iterators.row_iter import FileRowIter
from operad_iterators.table import Column


@final
class LibSVMIter(FileRowIter):
    """Batches of the lines of LibSVM files: labels, then `index:value` for what is not 0.

    Indices count from 0.

    Args:
        data_libsvm: A file, or a folder of files.
        data_shape: Length of one example.
        label_libsvm: A file whose `index:value` pairs are the labels; None: the labels are the numbers
            that the lines of `data_libsvm` begin with.
        label_shape: Length of one label.
        num_parts: Into how many parts the rows are divided.
        part_index: The part that this iterator reads.
        batch_size: Rows in a batch.
        round_batch: Only True, as in MXNet: the next pass begins behind the rows that filled up the
            last batch.
        prefetch_buffer: Accepted and without effect.
        ctx: Likewise; batches are made on the default context.
        dtype: Of data and labels; None: float32.
        data_name: Of the data's variable.
        label_name: Of the labels' variable.
    Raises:
        FormatError: A line is not as described, or has an index beyond its shape; the message says where.
    """

    def __init__(
        self,
        data_libsvm: str | os.PathLike[str],
        data_shape: int | Iterable[int],
        label_libsvm: str | os.PathLike[str] | None = None,
        label_shape: int | Iterable[int] = (1,),
        num_parts: int = 1,
        part_index: int = 0,
        batch_size: int = 1,
        round_batch: bool = True,
        prefetch_buffer: int = 4,
        ctx: str = "gpu",
        dtype: object = None,
        data_name: str = DATA_NAME,
        label_name: str = LABEL_NAME,
    ) -> None:
        who, kind = "LibSVMIter", dtype_of(dtype)
        if not round_batch:
            raise ParamError("LibSVMIter: round_batch is False, and only True is supported")
        width = _width(who, "data_shape", data_shape)
        of_label = _width(who, "label_shape", label_shape)
        separate = label_libsvm is not None and label_libsvm != "NULL"
        files = files_of(who, "data_libsvm", data_libsvm)
        labels, rows = _read(who, files, width, None if separate else of_label, kind)
        if separate:
            assert label_libsvm is not None
            _, labels = _read(who, files_of(who, "label_libsvm", label_libsvm), of_label, None, kind)
            if len(labels) != len(rows):
                raise ShapeError(
                    f"{who}: label_libsvm has {len(labels)} rows, expected {len(rows)} as the data"
                )
        part = part_of(who, len(rows), num_parts, part_index)
        data = Column(data_name, rows[part])
        label = label_column(label_name, labels[part], (of_label,))
        super().__init__([data], [label], batch_size, "round")


def _width(who: str, what: str, given: int | Iterable[int]) -> int:
    shape = shape_of(who, what, given)
    if len(shape) != 1:
        raise ShapeError(f"{who}: {what} is {shape}, expected one axis")
    return shape[0]


def _read(
    who: str, files: list[str], width: int, num_labels: int | None, dtype: np.dtype[Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Labels and dense rows of all lines; `num_labels` None: any number of labels, which are dropped.

    Lines are counted first: a line of four bytes becomes a row of any width. A number beyond the type's range
    is infinite, or 0, whatever NumPy's error state is.
    """
    count = sum(1 for file in files for _ in _lines(who, file))
    columns = width + (num_labels or 0)
    what = f"{who}: {files[0]!r} with {count:,} rows of {columns:,}"
    with expanding(count * columns * dtype.itemsize, what), np.errstate(over="ignore", under="ignore"):
        labels, rows = np.zeros((count, num_labels or 0), dtype), np.zeros((count, width), dtype)
        free = iter(range(count))
        for file in files:
            for number, words in _lines(who, file):
                at = next(free, None)
                try:
                    if at is None:
                        raise ValueError("the file was changed while it was read")
                    before = _parse(words, rows[at])
                    if num_labels is not None:
                        if len(before) != num_labels:
                            raise ValueError(f"it has {len(before)} labels, expected {num_labels}")
                        labels[at] = before
                except (ValueError, OverflowError) as error:
                    raise FormatError(f"{who}: {file!r}, line {number}: {error}") from error
    return labels, rows


def _lines(who: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that has some, with its number."""
    for number, line in read_lines(file, f"{who}: {file!r}", growth=1):
        words = line.split()
        if words:
            yield number, words


def _parse(words: list[str], row: np.ndarray[Any, Any]) -> list[float]:
    """Write what a line says into its row; gives the labels."""
    before = [float(word) for word in words if ":" not in word]
    for word in words[len(before) :]:
        index, _, value = word.partition(":")
        position = int(index)
        if not 0 <= position < len(row):
            raise ValueError(f"index {position} is outside 0 to {len(row) - 1}")
        row[position] = float(value)
    return before
