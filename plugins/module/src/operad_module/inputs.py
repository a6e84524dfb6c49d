"""Descriptions of inputs: names, shapes, types, and the axis along which a batch is cut.

Source: `_parse_data_desc`, python/mxnet/module/base_module.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import operad as od
from operad.errors import BindError

Shape = tuple[int, ...]


class Described(Protocol):
    """Members of an iterator's `DataDesc`, which is also the pair of its name and shape."""

    @property
    def name(self) -> str:
        """The argument of the symbol."""

    @property
    def shape(self) -> Shape:
        """The shape of a whole batch."""

    @property
    def dtype(self) -> Any:
        """The type of the elements."""

    @property
    def layout(self) -> str | None:
        """One letter per axis, of which `N` is the batch's."""


def described(shapes: Iterable[Any] | None) -> list[Any]:
    """Descriptions of inputs, each of which may be given as a pair of a name and a shape."""
    return [one if hasattr(one, "layout") else od.io.DataDesc(*one) for one in shapes or ()]


def batch_axis(layout: str | None) -> int:
    """The axis of the batch in a layout such as `TNC`; 0 where nothing is said, -1 where there is none."""
    return 0 if layout is None else layout.find("N")


def batch_size(descriptions: Sequence[Described]) -> int:
    """The length of the batch that all inputs have.

    Raises:
        BindError: They differ, or no input has an axis for the batch.
    """
    found: dict[str, int] = {}
    for one in descriptions:
        axis = batch_axis(one.layout)
        if axis >= 0 and one.shape:
            found[one.name] = one.shape[axis]
    if not found:
        raise BindError("bind: no input has an axis for the batch; give one input a layout with 'N'")
    first, size = next(iter(found.items()))
    for name, other in found.items():
        if other != size:
            raise BindError(f"bind: {name!r} has a batch of {other}, expected {size} as {first!r} has")
    return size


def labels_of(batch: Any) -> Sequence[Any]:
    """The labels of a batch, which may be any object that has `data`."""
    return getattr(batch, "label", None) or ()


def even_slices(size: int, workload: Sequence[float]) -> list[slice]:
    """A batch cut into parts in proportion to `workload`, one per context.

    Raises:
        BindError: A part would be empty.
    """
    total, begin, cuts = sum(workload), 0, list[slice]()
    for share, done in enumerate(workload, start=1):
        rest = size - begin
        end = begin + (rest if share == len(workload) else min(round(size * done / total), rest))
        if end <= begin:
            raise BindError(
                f"bind: a batch of {size} is too small for {len(workload)} contexts of workload "
                f"{list(workload)}; give fewer contexts or a larger batch"
            )
        cuts.append(slice(begin, end))
        begin = end
    return cuts


def requests_of(grad_req: Any, names: Sequence[str]) -> dict[str, str]:
    """Requests for gradients by name; `grad_req` has one for all, or one per name, or one per place."""
    if isinstance(grad_req, str):
        return dict.fromkeys(names, grad_req)
    if isinstance(grad_req, Mapping):
        return {name: grad_req.get(name, "null") for name in names}
    return dict(zip(names, grad_req, strict=True))


def part(value: Any, axis: int, cut: slice) -> Any:
    """The part of an array along `axis`; all of it where it has no axis for the batch."""
    if axis < 0:
        return value
    return value[(slice(None),) * axis + (cut,)]


def part_shape(shape: Shape, axis: int, cut: slice) -> Shape:
    """The shape of `part`."""
    if axis < 0 or not shape:
        return shape
    return (*shape[:axis], cut.stop - cut.start, *shape[axis + 1 :])


def part_shapes(inputs: Sequence[Described], cut: slice) -> dict[str, Shape]:
    """The shapes of the parts of all inputs, by name."""
    return {one.name: part_shape(tuple(one.shape), batch_axis(one.layout), cut) for one in inputs}


def shapes_key(*inputs: Sequence[Described]) -> object:
    """Key that inputs of the same names and shapes share; hashable."""
    return tuple((one.name, tuple(one.shape)) for some in inputs for one in some)


def with_shape(one: Described, shape: Sequence[int]) -> Any:
    """The same input in another shape."""
    return od.io.DataDesc(one.name, tuple(shape), one.dtype, one.layout)


def check_described(what: str, given: Sequence[Described], expected: Sequence[str]) -> None:
    """Raise BindError unless the inputs are those expected, in any order."""
    names = [one.name for one in given]
    if sorted(names) != sorted(expected):
        raise BindError(f"bind: {what} describes {names}, expected the module's own {list(expected)}")


def check_names(what: str, given: Sequence[str], known: Sequence[str]) -> str | None:
    """The message that says which of the names given to a module its symbol does not have, if one."""
    for name in given:
        if name not in known:
            endings = ("_weight", "_bias", "_gamma", "_beta")
            meant = [one for one in known if not one.endswith(endings)] or list(known)
            return (
                f"Module: {what}={list(given)!r}, but the symbol has no argument {name!r}; "
                f"did you mean one of {', '.join(meant)}?"
            )
    return None
