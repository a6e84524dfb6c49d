"""Arranging the arguments of a call as Python would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def arrange(
    name: str,
    inputs: Sequence[str],
    defaults: Mapping[str, Any],
    args: Sequence[Any],
    named: Mapping[str, Any],
) -> list[Any]:
    """Values in the order of `inputs`: positional ones, named ones, then defaults.

    Raises:
        TypeError: One is missing, unknown, given twice, or there are too many.
    """
    if len(args) > len(inputs):
        raise TypeError(f"{name} takes {len(inputs)} arguments ({', '.join(inputs)}), got {len(args)}")
    if len(args) == len(inputs) and not named:
        return list(args)
    values = {**defaults, **dict(zip(inputs, args, strict=False))}
    for key, value in named.items():
        if key not in inputs:
            raise TypeError(f"{name} has no argument {key!r}; it takes {', '.join(inputs)}")
        if key in inputs[: len(args)]:
            raise TypeError(f"{name} got argument {key!r} twice")
        values[key] = value
    missing = [key for key in inputs if key not in values]
    if missing:
        raise TypeError(f"{name} misses argument {', '.join(map(repr, missing))}")
    return [values[key] for key in inputs]
