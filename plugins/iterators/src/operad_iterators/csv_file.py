"""`CSVIter`: batches of the lines of CSV files.

Source: CSVIter, src/io/iter_csv.cc. Differs: without `round_batch` the last batch is filled up with the first
rows, where MXNet leaves rows of the batch before in it; `prefetch_buffer` and `ctx` do nothing, since
the files are read whole.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable
from typing import Any, final

import numpy as np

from operad.errors import FormatError
from operad.files import translated
from operad_files import opened
from operad_iterators.file_rows import (
    DATA_NAME,
    LABEL_NAME,
    data_column,
    dtype_of,
    files_of,
    label_column,
    shape_of,
)
from operad_iterators.row_iter import FileRowIter


@final
class CSVIter(FileRowIter):
    """Batches of the lines of CSV files: numbers between commas, one example per line.

    Args:
        data_csv: A file, or a folder of files.
        data_shape: Of one example.
        label_csv: The labels, likewise; None: every label is 0.
        label_shape: Of one label.
        batch_size: Rows in a batch.
        round_batch: Whether the next pass begins behind the rows that filled up the last batch; else
            every pass begins with the first row.
        prefetch_buffer: Accepted and without effect.
        ctx: Likewise; batches are made on the default context.
        dtype: Of data and labels; None: float32.
        data_name: Of the data's variable.
        label_name: Of the labels' variable.
    Raises:
        FormatError: A file is not made of lines of equally many numbers.
        ShapeError: Lines have another length than the shape says, or labels are more or fewer than rows.
    """

    def __init__(
        self,
        data_csv: str | os.PathLike[str],
        data_shape: int | Iterable[int],
        label_csv: str | os.PathLike[str] | None = None,
        label_shape: int | Iterable[int] = (1,),
        batch_size: int = 1,
        round_batch: bool = True,
        prefetch_buffer: int = 4,
        ctx: str = "gpu",
        dtype: object = None,
        data_name: str = DATA_NAME,
        label_name: str = LABEL_NAME,
    ) -> None:
        who, kind = "CSVIter", dtype_of(dtype)
        shape = shape_of(who, "data_shape", data_shape)
        of_label = shape_of(who, "label_shape", label_shape)
        rows = _read(who, "data_csv", data_csv, kind)
        data = data_column(who, data_name, rows, shape, str(data_csv))
        if label_csv is None or label_csv == "NULL":
            labels = np.zeros((len(rows), *of_label), kind)
        else:
            read = _read(who, "label_csv", label_csv, kind)
            labels = data_column(who, label_name, read, of_label, str(label_csv)).values
        label = label_column(label_name, labels, of_label)
        super().__init__([data], [label], batch_size, "round" if round_batch else "pad")


def _read(who: str, what: str, path: str | os.PathLike[str], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    parts = [_read_file(who, file, dtype) for file in files_of(who, what, path)]
    for file, part in zip(files_of(who, what, path), parts, strict=True):
        if part.shape[1] != parts[0].shape[1]:
            raise FormatError(
                f"{who}: lines of {file!r} have {part.shape[1]} values, "
                f"expected {parts[0].shape[1]} as in the file before"
            )
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _read_file(who: str, file: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    what = f"{who}: {file!r}"
    # Of a comma and a digit one number is made.
    with opened(file, what, growth=1 + dtype.itemsize / 2) as content, translated(what, "lines of numbers"):
        try:
            # A number beyond the type's range is infinite, or 0.
            with warnings.catch_warnings(), np.errstate(over="ignore", under="ignore"):
                warnings.simplefilter("error")  # NumPy warns of a file without lines
                lines = io.TextIOWrapper(content, encoding="utf-8")
                return np.loadtxt(lines, dtype, comments=None, delimiter=",", ndmin=2)
        except (ValueError, UserWarning) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{who}: cannot read {file!r} as lines of numbers: {error}") from error
