"""Names that no value has yet."""

from __future__ import annotations


def unique(name: str, taken: set[str]) -> str:
    """A name like `name` that is not in `taken`, where it is from now on."""
    made, count = name, 0
    while made in taken:
        count += 1
        made = f"{name}_{count}"
    taken.add(made)
    return made
