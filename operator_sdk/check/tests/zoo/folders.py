"""The zoo's inhabitants that stand in folders, each a list `ZOO` per module."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from zlib import crc32

from operator_sdk.check.tests.zoo.fault import Fault, Right

_HERE = Path(__file__).parent


HELD_BACK = "held-back"
"""Added to a folder's name, as in `weighed:held-back`: those of it that are held back."""


def inhabitants(folder: str) -> Iterator[Fault | Right]:
    """Every inhabitant of a folder of the zoo, and of the folders in it.

    Of `weighed/` a third is held back, drawn by a hash of the name; `weighed:held-back` are those.
    """
    folder, _, part = folder.partition(":")
    for path in sorted((_HERE / folder).rglob("*.py")):
        module = ".".join(path.relative_to(_HERE).with_suffix("").parts)
        for one in import_module(f"{__package__}.{module}").ZOO:
            if folder != "weighed" or is_held_back(one.operator.name) == (part == HELD_BACK):
                yield one


def is_held_back(name: str) -> bool:
    """Return whether an inhabitant of `weighed/` is of the third that was drawn."""
    return crc32(name.encode()) % 3 == 0
