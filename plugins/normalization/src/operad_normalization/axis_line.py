"""Shape lines of operators that have one vector along an axis of any number."""

from __future__ import annotations

from typing import Final

MAX_AXES: Final = 32
"""Largest number of axes of an array, as in MXNet; it bounds the length of the shape lines."""


def along(axis: int, name: str) -> str:
    """The axes of an array whose axis `axis`, from the end if negative, is `name`: for 2 `a0, a1, C, *S`."""
    if axis >= 0:
        return ", ".join([*(f"a{position}" for position in range(axis)), name, "*S"])
    return ", ".join(["*S", name, *(f"a{position}" for position in range(-1 - axis))])
