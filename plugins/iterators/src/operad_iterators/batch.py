"""Batches of iterators, and descriptions of a batch's arrays that are known beforehand.

Source: DataDesc and DataBatch, python/mxnet/io/io.py.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """The name, shape, element type and layout of one array of every batch.

    It unpacks to the name and the shape, and equals the tuple of these two.

    Args:
        name: Of the variable that the array is bound to.
        shape: Of the array, the batch's axis included.
        dtype: Element type.
        layout: One letter per axis; `N` marks the axis of the batch.

    Example:
        >>> import operad as od
        >>> name, shape = od.io.DataDesc("data", (32, 3, 28, 28))
        >>> name, shape
        ('data', (32, 3, 28, 28))
    """

    name: str
    shape: tuple[int, ...]
    dtype: Any
    layout: str | None

    def __new__(  # noqa: D102 - see the class
        cls, name: str, shape: tuple[int, ...], dtype: Any = np.float32, layout: str | None = "NCHW"
    ) -> Self:
        made = super().__new__(cls, name, shape)
        made.dtype = dtype
        made.layout = layout
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.name, self.shape, self.dtype, self.layout

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The axis of `layout` that counts the batch: where its `N` is; 0 for None, -1 without an `N`."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(
        shapes: Iterable[tuple[str, tuple[int, ...]]], types: Iterable[tuple[str, Any]] | None = None
    ) -> list[DataDesc]:
        """Descriptions from lists of (name, shape) and of (name, type); float32 without `types`.

        Raises:
            ArgumentError: `types` lacks a name.
        """
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        known: Mapping[str, Any] = dict(types)
        described = list(shapes)
        for name, _ in described:
            if name not in known:
                raise ArgumentError(f"get_list: {name!r} has a shape and no type; types has {sorted(known)}")
        return [DataDesc(name, shape, known[name]) for name, shape in described]


@final
@dataclass(eq=False, repr=False)
class DataBatch:
    """The arrays of one batch.

    Attributes:
        data: The inputs.
        label: The labels; empty or None where there are none.
        pad: How many rows at the end only fill the batch up.
        index: Numbers of the rows in the data, where the iterator knows them.
        bucket_key: Which symbol a bucketing module runs the batch through.
        provide_data: What `data` is, where it differs between batches.
        provide_label: What `label` is, likewise.
    """

    data: Sequence[NDArray]
    label: Sequence[NDArray] | None = None
    pad: int | None = None
    index: np.ndarray[Any, Any] | None = None
    bucket_key: Any = None
    provide_data: Sequence[DataDesc] | None = None
    provide_label: Sequence[DataDesc] | None = None

    def __post_init__(self) -> None:
        _check_list("data", self.data)
        if self.label is not None:
            _check_list("label", self.label)

    def __str__(self) -> str:
        shapes = [array.shape for array in self.data]
        labels = None if self.label is None else [array.shape for array in self.label]
        return f"DataBatch: data shapes: {shapes} label shapes: {labels}"


def _check_list(what: str, given: object) -> None:
    if not isinstance(given, (list, tuple)):
        raise ArgumentError(f"DataBatch: {what} is {type(given).__name__}, expected a list of NDArrays")
