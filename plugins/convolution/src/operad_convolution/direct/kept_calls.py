"""Bound kernels of earlier calls: a bound graph calls its operators with the same arrays in each run.

Binding asks each array for its address and each pair for an overlap, which takes as long as a small kernel.
Array objects are compared, not addresses: an array has one piece of memory for as long as it lives.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple, final

from numpy.typing import NDArray

from operad_sdk.vector import BoundKernel
from operad_sdk.vector.settings import is_checked

_MOST_KEPT: Final = 64
_WAITS: Final = 16
"""Calls that keep nothing, after one whose kernels were kept in vain."""


class _Kept(NamedTuple):
    """Kernels, and the arrays that they were bound to; without any where arrays were seen only once.

    Attributes:
        waits: Calls that keep nothing: imperative ones have new arrays with the ids of earlier ones.
    """

    arrays: Sequence[weakref.ref[NDArray[Any]]] = ()
    kernels: Sequence[BoundKernel] = ()
    waits: int = 0


@final
class KeptCalls:
    """Kernels bound to arrays, by the arrays; they do not keep the arrays' memory."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}

    def bound(
        self, key: Hashable, arrays: Sequence[NDArray[Any] | None], bind: Callable[[], Sequence[BoundKernel]]
    ) -> Sequence[BoundKernel]:
        """The kernels for these arrays.

        Args:
            key: Determines, with the arrays, all that `bind` does.
            arrays: All that the kernels read and write, but for memory of their own. The caller holds them.
            bind: Makes the kernels, bound to these very arrays; without any where it had to copy some.
        """
        key = key, *map(id, arrays)
        found = self._kept.get(key)
        if found is None or found.waits:
            # Most arrays of imperative calls are never seen again, so that references are made later.
            if found is None and len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = _Kept() if found is None else found._replace(waits=found.waits - 1)
            return bind()
        there = [array for array in arrays if array is not None]
        # The id of an array that is gone may be another one's.
        if found.kernels and all(ref() is each for ref, each in zip(found.arrays, there, strict=True)):
            return found.kernels
        if found.kernels:
            self._kept[key] = _Kept(waits=_WAITS)
            return bind()
        kernels = bind()
        if kernels and not is_checked():
            for kernel in kernels:
                kernel.release(there)
            self._kept[key] = _Kept([weakref.ref(each) for each in there], kernels)
        return kernels
