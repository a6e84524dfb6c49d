"""The engine without an operator: files are read, parsed and summed, each as early as what it needs is there.

    python -m examples.file_sums FOLDER

Each `.csv` file of numbers has two variables: its text and its numbers; the sum of all has one. A function
that fails leaves its variable failed: what reads it is skipped, and a wait for it raises the error.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

from operad import cpu, engine

READ, PARSE, ADD = 0, 1, 2
"""Priorities: what is nearest to the end goes first, so that few texts are held at a time."""


@dataclass
class File:
    """A file on its way.

    Attributes:
        has_text: Orders what reads and writes `text`; `has_numbers` likewise.
    """

    path: Path
    text: str = ""
    numbers: list[float] = field(default_factory=list)
    has_text: engine.Var = field(default_factory=lambda: engine.get().new_variable())
    has_numbers: engine.Var = field(default_factory=lambda: engine.get().new_variable())

    def read(self, _: engine.RunContext) -> None:
        """Read the text."""
        self.text = self.path.read_text(encoding="utf-8")

    def parse(self, _: engine.RunContext) -> None:
        """Make numbers of the text, which is released."""
        self.numbers = [float(word) for word in self.text.replace("\n", ",").split(",") if word.strip()]
        self.text = ""


class Sums:
    """The sum of the numbers of several files."""

    def __init__(self) -> None:
        self.total = 0.0
        self.files: list[File] = []
        self._has_total = engine.get().new_variable()

    def add(self, path: Path) -> None:
        """Have a file read, parsed and added; returns at once."""
        file = File(path)
        self.files.append(file)

        def add(_: engine.RunContext) -> None:
            self.total += sum(file.numbers)

        push, ctx = engine.get().push_sync, cpu()
        push(file.read, ctx, [], [file.has_text], priority=READ, name=f"read {path.name}")
        # A function that changes what a variable stands for reads it, too: without `reads_mutable` it would
        # count as one that writes it again, and run although what it reads was never made.
        changed = [file.has_text, file.has_numbers]
        parse = {"priority": PARSE, "name": f"parse {path.name}", "reads_mutable": [file.has_text]}
        push(file.parse, ctx, [], changed, **parse)
        # invariant: sums are added one at a time, in the order of pushes, so the last digits never differ.
        into = {"priority": ADD, "name": f"add {path.name}", "reads_mutable": True}
        push(add, ctx, [file.has_numbers], [self._has_total], **into)

    def errors(self) -> dict[str, str]:
        """Wait for every file; what went wrong, by file."""
        found = {}
        for file in self.files:
            try:
                engine.get().wait_for_var(file.has_numbers)
            except (OSError, ValueError) as error:
                found[file.path.name] = str(error).splitlines()[0]
        return found

    def wait(self) -> float:
        """The sum.

        Raises:
            OSError: A file could not be read; ValueError: or not parsed.
        """
        engine.get().wait_for_var(self._has_total)
        return self.total


def main() -> None:
    """Sum up a folder, or say which of its files are wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    sums = Sums()
    for path in sorted(parser.parse_args().folder.glob("*.csv")):
        sums.add(path)
    errors = sums.errors()
    for name, error in errors.items():
        print(f"{name}: {error}")
    if not errors:
        print(f"{len(sums.files)} files, sum {sums.wait():g}")


if __name__ == "__main__":
    main()
