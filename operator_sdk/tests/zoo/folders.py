"""The zoo's inhabitants that stand in folders, each a list `ZOO` per module."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from operator_sdk.tests.zoo.fault import Fault, Right

_HERE = Path(__file__).parent


def inhabitants(folder: str) -> Iterator[Fault | Right]:
    """Every inhabitant of a folder of the zoo, and of the folders in it."""
    for path in sorted((_HERE / folder).rglob("*.py")):
        module = ".".join(path.relative_to(_HERE).with_suffix("").parts)
        yield from import_module(f"{__package__}.{module}").ZOO
