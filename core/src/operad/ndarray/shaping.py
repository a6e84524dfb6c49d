"""Methods that give an array another shape by an operator or, with `inplace=True`, as a view of its memory.

Source: NDArray.flatten and its kin, python/mxnet/ndarray/ndarray.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, cast

from operad import registry
from operad.imperative import find_invoker
from operad.ndarray.arithmetic import invoke

if TYPE_CHECKING:
    from operad.ndarray.ndarray import NDArray


class Shaping:
    """Mixed into `NDArray`."""

    __slots__ = ()

    def flatten(self, inplace: bool = False) -> NDArray:
        """The array with all axes but the first made one: the operator `Flatten`, in place a view."""
        return self._reshaped("Flatten", {}, inplace)

    def expand_dims(self, axis: int, inplace: bool = False) -> NDArray:
        """The array with a new axis of length 1: the operator `expand_dims`, in place a view."""
        return self._reshaped("expand_dims", {"axis": axis}, inplace)

    def squeeze(self, axis: int | Sequence[int] | None = None, inplace: bool = False) -> NDArray:
        """The array without axes of length 1: the operator `squeeze`, in place a view."""
        return self._reshaped("squeeze", {} if axis is None else {"axis": axis}, inplace)

    def broadcast_to(self, shape: Iterable[int]) -> NDArray:
        """The values repeated along axes of length 1, also along new ones before the first axis."""
        target, x = tuple(map(index, shape)), cast("NDArray", self)
        for _ in range(len(target) - x.ndim):
            x = x.expand_dims(0)
        return invoke("broadcast_to", (x,), {"shape": target})

    def _reshaped(self, op: str, params: dict[str, Any], inplace: bool) -> NDArray:
        x = cast("NDArray", self)
        if not inplace:
            return invoke(op, (x,), params)
        found, _ = find_invoker(registry.get(op), params)
        return x.reshape(found.plan((x,)).out_specs[0].shape)
