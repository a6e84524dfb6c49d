"""`operad new`: a new package of operators, or further operators in one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import click

from operad import registry
from operad.cli import Listing, Mark, Page
from operad.cli.ops import installed_operators


@final
@dataclass(frozen=True, slots=True)
class Scaffold:
    """Result of `operad new`; files by their path in the package.

    Attributes:
        folder: The package's folder.
        written: Files that are new or changed.
        taken: Of the operators asked for, those that another installed distribution provides, and which.
    """

    folder: str
    written: list[str]
    taken: dict[str, str]

    def show(self, page: Page) -> None:
        """Write the files and the next step."""
        page.text(Mark(self.folder, "name"))
        page.table(("written",), [(file,) for file in self.written])
        for name, distribution in self.taken.items():
            page.text(
                f"note: {distribution} provides {name!r} too; where both are installed, using it is an error "
                "until OPERAD_PREFER says which is meant. Name yours otherwise, unless that is what you want."
            )
        page.text(f"next: cd {self.folder} && pip install -e '.[test]' && pytest")
        page.text("then: replace the example by your own, in src/, tests/, benchmarks/ and README.md")


@final
class MissingExtra(click.ClickException):
    """A library of `operad-check[new]` is missing.

    Attributes:
        exit_code: As where the command line itself cannot be used.
    """

    exit_code = 2


@contextmanager
def _extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("operad"):
            raise
        raise MissingExtra(
            f'this command needs {error.name}, which is not installed; pip install "operad-check[new]"'
        ) from error


@click.command(cls=Listing, result=Scaffold)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--op",
    "ops",
    metavar="NAME:KIND",
    multiple=True,
    help="An operator to create; may be repeated. Kinds: unary, binary, broadcast, reduction, row, property, "
    "stateful, update, random, loss, kernel, kernel-for, cpp-port, mapper, loop. With kernel-for, NAME is an "
    "installed operator of another author.",
)
@click.option("--name", help="Name of the distribution; default: the folder's.")
@click.option("--licence", help="Apache-2.0 (the default), MIT, BSD-3-Clause or proprietary.")
@click.option("--author", help="Copyright holder; default: git's user name.")
@click.option(
    "--add", "is_addition", is_flag=True, help="Add the operators to the package in FOLDER instead."
)
def new(
    folder: Path,
    ops: tuple[str, ...],
    name: str | None,
    licence: str | None,
    author: str | None,
    is_addition: bool,
) -> Scaffold:
    """Create a package of operators in FOLDER, ready to install and test.

    On a terminal it asks for what is not given. With --add the package that is in FOLDER gets the modules,
    tests and entry points of further operators; nothing that its author wrote is replaced.
    """
    requests = [_request(op) for op in ops]
    with _extra():
        from operad_check.new import add, create, package_name  # noqa: PLC0415 - an extra
    if not is_addition:
        ask = not requests and sys.stdin.isatty()
        files = create(folder, name, requests, licence=licence, author=author, ask=ask)
        own = name or folder.resolve().name
    elif (name, licence, author) != (None, None, None):
        raise click.UsageError("--add takes --op alone: a package keeps its name, licence and author")
    else:
        files, own = add(folder, requests), package_name(folder)
    written = [path.relative_to(folder).as_posix() for path in files]
    return Scaffold(str(folder), written, _taken(requests, own))


def _taken(ops: Iterable[tuple[str, str]], own: str) -> dict[str, str]:
    """The installed distributions, other than `own`, that provide operators of these names."""
    from operad_check.new.requests import OF_OTHERS  # noqa: PLC0415 - with it comes copier, of the extra

    mine = {op.distribution for op in installed_operators(plugin=own)}
    found = registry.operators()
    owners = {name: found[name].distribution for name, kind in ops if name in found and kind not in OF_OTHERS}
    return {name: owner for name, owner in owners.items() if owner not in mine}


def _request(text: str) -> tuple[str, str]:
    name, sign, kind = text.rpartition(":")
    if not sign:
        raise click.UsageError(f"--op {text}: expected a name and a kind, such as smooth_l1:unary")
    return name, kind
