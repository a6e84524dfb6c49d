"""Names that no value has yet."""

from __future__ import annotations


def unique(name: str, taken: dict[str, int]) -> str:
    """A name like `name` that is not in `taken`, where it is from now on.

    Args:
        taken: Names, each with the last number that was put behind it, where the next search begins.
    """
    made = name
    while made in taken:
        taken[name] += 1
        made = f"{name}_{taken[name]}"
    taken[made] = 0
    return made
