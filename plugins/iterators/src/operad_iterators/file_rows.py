"""Arguments that iterators over files share."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from operad.dtypes import as_dtype
from operad.errors import FormatError, ParamError, ShapeError
from operad.files import translated
from operad_iterators.checks import is_count
from operad_iterators.table import Column

DATA_NAME = "data"
LABEL_NAME = "softmax_label"


def shape_of(who: str, what: str, given: object) -> tuple[int, ...]:
    """The shape of one example.

    Raises:
        ShapeError: It is not made of positive integers.
    """
    lengths = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for length in lengths:
        if not is_count(length):
            raise ShapeError(f"{who}: {what} is {given!r}, expected positive integers, such as (3, 28, 28)")
    return tuple(int(length) for length in lengths)


def dtype_of(given: object) -> np.dtype[Any]:
    """The element type of batches; float32 for None."""
    return np.dtype(np.float32 if given is None else as_dtype(given))


def files_of(who: str, what: str, path: str | os.PathLike[str]) -> list[str]:
    """The file `path`, or all files of the folder `path` in the order of their names.

    Raises:
        FormatError: The folder has no files.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        return [name]
    with translated(f"{who}: {what} {name!r}", "a folder"):
        found = sorted(entry.path for entry in os.scandir(name) if entry.is_file())
    if not found:
        raise FormatError(f"{who}: {what} is {name!r}, a folder without files")
    return found


def part_of(who: str, count: int, num_parts: int, part_index: int) -> slice:
    """The rows of one part of `num_parts`, which have equally many rows; what does not divide is left out.

    Raises:
        ParamError: There is no such part.
    """
    if num_parts < 1 or not 0 <= part_index < num_parts:
        raise ParamError(
            f"{who}: part_index is {part_index} and num_parts {num_parts}, "
            "expected 0 <= part_index < num_parts"
        )
    size = count // num_parts
    return slice(part_index * size, (part_index + 1) * size)


def label_column(name: str, labels: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Column:
    """A column of labels; labels of shape (1,) make batches without a second axis, as in MXNet."""
    return Column(name, labels.reshape((len(labels), *(() if shape == (1,) else shape))))


def data_column(
    who: str, name: str, rows: np.ndarray[Any, Any], shape: tuple[int, ...], source: str
) -> Column:
    """A column whose rows have `shape`.

    Raises:
        ShapeError: Rows of the file `source` have another size.
    """
    if rows.shape[1] != math.prod(shape):
        raise ShapeError(
            f"{who}: rows of {source!r} have {rows.shape[1]} values, "
            f"expected {math.prod(shape)} for shape {shape}"
        )
    return Column(name, rows.reshape((len(rows), *shape)))
