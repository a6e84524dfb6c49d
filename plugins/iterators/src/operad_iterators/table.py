"""Arrays in the host's memory, whose rows become batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from operad import Context, NDArray, nd
from operad.errors import ArgumentError, ShapeError
from operad_iterators.batch import DataDesc
from operad_iterators.order import Indices
from operad_iterators.stages import stage


@final
class Column:
    """One array of the data.

    Args:
        name: Of the variable that its batches are bound to.
        values: Its rows, which are not written to.
        ctx: Where batches are made; None: on the default context.
        layout: For its description.
    """

    def __init__(
        self, name: str, values: np.ndarray[Any, Any], ctx: Context | None = None, layout: str | None = "NCHW"
    ) -> None:
        self.name, self.values, self._ctx, self._layout = name, values, ctx, layout

    def rows(self, indices: Indices) -> NDArray:
        """The rows of those numbers as a new array."""
        with stage("read"):
            first, last = int(indices[0]), int(indices[-1])
            in_sequence = last - first == len(indices) - 1 and bool((np.diff(indices) == 1).all())
            chosen = self.values[first : last + 1] if in_sequence else self.values[indices]
        with stage("copy"):
            return nd.array(chosen, ctx=self._ctx, dtype=chosen.dtype)

    def place(self, order: Indices) -> None:
        """Take the rows as given in that order, and so put each at its number."""
        placed = np.empty_like(self.values)
        placed[order] = self.values
        self.values = placed

    def whole(self) -> NDArray:
        """All rows as a new array."""
        return nd.array(self.values, ctx=self._ctx, dtype=self.values.dtype)

    def description(self, batch_size: int) -> DataDesc:
        """Description of the column's batches."""
        shape = (batch_size, *self.values.shape[1:])
        return DataDesc(self.name, shape, self.values.dtype.type, self._layout)


def columns(who: str, what: str, given: object, default_name: str, layout: str | None) -> list[Column]:
    """One column per array of `given`: an array, a list of arrays, a dict of names and arrays, or None.

    A list may also be of pairs of a name and an array, as `NDArrayIter.data` gives them.

    A dict is taken in the order of its names. NumPy's arrays become float32, as in MXNet 1.x; an
    `NDArray` keeps its type and its context.

    Raises:
        ArgumentError: `given` is something else.
        ShapeError: An array has no axes.
    """
    return [_column(who, what, name, value, layout) for name, value in _named(who, given, default_name)]


def init_data(data: object, allow_empty: bool, default_name: str) -> list[tuple[str, NDArray]]:
    """Names and arrays of what `NDArrayIter` takes for data; programs of MXNet call it `io._init_data`.

    Raises:
        ArgumentError: There is no array, and `allow_empty` is false; or `data` is something else.
    """
    found = columns("_init_data", "data", data, default_name, None)
    if not found and not allow_empty:
        raise ArgumentError(f"_init_data: data is {data!r}, expected at least one array")
    return [(column.name, column.whole()) for column in found]


def check_lengths(who: str, found: Sequence[Column]) -> int:
    """Number of rows, which all columns share.

    Raises:
        ShapeError: They differ.
    """
    count = len(found[0].values)
    for column in found[1:]:
        if len(column.values) != count:
            raise ShapeError(
                f"{who}: {column.name!r} has {len(column.values)} rows, "
                f"expected {count} as {found[0].name!r} has"
            )
    return count


def _named(who: str, given: object, default_name: str) -> list[tuple[str, Any]]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise ArgumentError(f"{who}: the name {name!r} of an array is not a string")
        return sorted(given.items())
    if not isinstance(given, (list, tuple)):
        return [(default_name, given)]
    if given and all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) for one in given):
        return list(given)
    if len(given) == 1:
        return [(default_name, given[0])]
    return [(f"_{number}_{default_name}", value) for number, value in enumerate(given)]


def _column(who: str, what: str, name: str, value: Any, layout: str | None) -> Column:
    if not (hasattr(value, "shape") and hasattr(value, "__array__")):
        raise ArgumentError(
            f"{who}: {what} {name!r} is {type(value).__name__}, expected an NDArray, a NumPy array, "
            "a list of them, or a dict with them as values"
        )
    if not value.shape:
        raise ShapeError(f"{who}: {what} {name!r} has no axes, expected one row per example")
    if isinstance(value, NDArray):
        return Column(name, value.asnumpy(), value.context, layout)
    return Column(name, np.array(value, np.float32), None, layout)
