"""The command `operad stubs`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import click

from operad import registry
from operad.cli.calls import call_of
from operad.cli.listing import Listing
from operad.cli.page import Mark, Page
from operad.cli.progress import progress
from operad.cli.stubs.package import Call, stub_package
from operad.errors import OperadError
from operad.files import write_atomically


@final
@dataclass(frozen=True, slots=True)
class Skipped:
    """An operator that has no stub.

    Attributes:
        name: Of the operator.
        reason: Why it could not be loaded or described.
    """

    name: str
    reason: str


@final
@dataclass(frozen=True, slots=True)
class WrittenStubs:
    """Result of `operad stubs`.

    Attributes:
        files: Paths of the files written.
        operators: How many names of operators they declare.
        skipped: The operators that were left out.
    """

    files: list[str]
    operators: int
    skipped: list[Skipped]

    @property
    def exit_code(self) -> int:
        """1 where an operator was left out."""
        return int(bool(self.skipped))

    def show(self, page: Page) -> None:
        """Files that were written, and names that were left out."""
        page.text(f"{self.operators} names of operators in:")
        for file in self.files:
            page.text(Mark(file, "name"))
        if self.skipped:
            page.heading("Left out")
            page.table(("operator", "reason"), [(entry.name, entry.reason) for entry in self.skipped])


@click.command(cls=Listing, result=WrittenStubs)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="typings",
    show_default=True,
    help="Output folder; created if missing.",
)
def stubs(folder: Path) -> WrittenStubs:
    """Write type stubs of the installed operators, and of all that plugins add, for editors and checkers.

    Pyright and Pylance read the folder typings by themselves; for mypy set mypy_path = typings. nd, sym,
    mod, io, metric and the others have types then. Run it again when plugins were installed or removed.
    """
    return write_stubs(folder)


def write_stubs(folder: Path) -> WrittenStubs:
    """Write the stub package `operad` below `folder`; loads every operator."""
    calls, skipped = _calls()
    package = folder / "operad"
    package.mkdir(parents=True, exist_ok=True)
    texts = stub_package(calls)
    for name, text in texts.items():
        write_atomically(package / name, text.encode())
    return WrittenStubs([str(package / name) for name in texts], len(calls), skipped)


def _calls() -> tuple[dict[str, Call], list[Skipped]]:
    """Every operator's call, by each of its names, and those that cannot be described."""
    found, skipped = {}, []
    names = registry.list_operators()
    with progress("reading operators", len(names)) as advance:
        for name in names:
            try:
                op = registry.get(name)
                if not op.num_subgraphs:  # else functions make its graphs: sym.contrib.foreach
                    found[name] = Call(call_of(op), op.__doc__ or "")
            except OperadError as error:
                skipped.append(Skipped(name, str(error).partition("\n")[0]))
            advance(name)
    return found, skipped
