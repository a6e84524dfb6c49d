"""The faults of `faults.toml`: they are put into a checkout one by one, and taken out again."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tests.faults.drawing import Edit
from tools.workspace import ROOT

LIST = Path(__file__).with_name("faults.toml")


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """A drawn edit that breaks something.

    Attributes:
        effect: What a user would see.
    """

    edit: Edit
    effect: str


def load(path: Path = LIST) -> list[Fault]:
    """The faults in the order in which they were drawn."""
    entries = tomllib.loads(path.read_text("utf-8"))["fault"]
    return [
        Fault(Edit(each["file"], each["line"], each["before"], each["after"]), each["effect"])
        for each in entries
    ]


def place_of(edit: Edit, source: str) -> int | None:
    """Number from 0 of the line that the edit changes, the nearest of those that are alike; None if gone."""
    alike = [number for number, line in enumerate(source.splitlines()) if line == edit.before]
    return min(alike, key=lambda number: abs(number + 1 - edit.line), default=None)


@contextmanager
def applied(edit: Edit, root: Path = ROOT) -> Iterator[None]:
    """Change the file for the time of the block.

    Raises:
        LookupError: The line is not there any more.
    """
    path = root / edit.file
    source = path.read_text("utf-8")
    number = place_of(edit, source)
    if number is None:
        raise LookupError(f"{edit.file}: {edit.before.strip()!r} is gone; draw another fault")
    lines = source.splitlines(keepends=True)
    lines[number] = edit.after + "\n"
    try:
        path.write_text("".join(lines), "utf-8")
        yield
    finally:
        path.write_text(source, "utf-8")
