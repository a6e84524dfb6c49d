"""Arrays that must not share memory, since one is written while another counts on its contents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, final

import numpy as np

from operad.imperative.array import Array


@final
class Access(NamedTuple):
    """One use of an array.

    Attributes:
        what: What errors call the array.
        array: The array.
        request: `read`, or how it is written: `write` or `add`.
    """

    what: str
    array: Array
    request: str


def overlap_check(uses: Iterable[Access]) -> tuple[str, str] | None:
    """Names of a written array and the earlier one that shares memory with it; None if none does.

    Any number of uses may read the same memory, and any number may add to it.
    """
    seen: defaultdict[int, list[Access]] = defaultdict(list)
    for use in uses:
        before = seen[id(use.array._chunk)]
        for other in before:
            is_harmless = use.request == other.request and use.request in ("read", "add")
            if not is_harmless and _overlap(use.array, other.array):
                return use.what, other.what
        before.append(use)
    return None


def _overlap(one: Array, other: Array) -> bool:
    """Return whether two arrays of one chunk have bytes in common."""
    if not one.size:
        return False
    if not isinstance(one._data, np.ndarray):
        return one is other
    return np.shares_memory(one._data, other._data)
