"""`operad new`: a new package of operators, or an older one brought up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

import click

from operad import registry
from operad.cli import Listing, Mark, Page
from operad.cli.ops import installed_operators
from operad_sdk.commands.extras import extra


@final
@dataclass(frozen=True, slots=True)
class Scaffold:
    """Result of `operad new`; files by their path in the package.

    Attributes:
        folder: The package's folder.
        written: Files that are new, or replaced where the author had not changed them.
        merged: Files that the author and the template had both changed.
        conflicts: Files that both had changed in the same lines, which are marked in the file.
        removed: Files that the template no longer has, not changed by the author.
        kept: Files that the template no longer has, but changed by the author.
        taken: Of the operators asked for, those that another installed distribution provides, and which.
    """

    folder: str
    written: list[str]
    merged: list[str]
    conflicts: list[str]
    removed: list[str]
    kept: list[str]
    taken: dict[str, str]

    @property
    def exit_code(self) -> int:
        """1 if the author has to choose between lines."""
        return int(bool(self.conflicts))

    def show(self, page: Page) -> None:
        """Write the files, grouped by what was done with them, and the next step."""
        page.text(Mark(self.folder, "name"))
        rows = [
            (Mark(label, "bad" if label == "conflict" else "plain"), file)
            for label, files in (
                ("written", self.written),
                ("merged", self.merged),
                ("conflict", self.conflicts),
                ("removed", self.removed),
                ("kept", self.kept),
            )
            for file in files
        ]
        page.table(("what", "file"), rows)
        for name, distribution in self.taken.items():
            page.text(
                f"note: {distribution} provides {name!r} too; where both are installed, using it is an error "
                "until OPERAD_PREFER says which is meant. Name yours otherwise, unless that is what you want."
            )
        if not rows:
            page.text("nothing to change")
        elif self.conflicts:
            page.text(f"choose between the lines marked <<<<<<< and >>>>>>> in {', '.join(self.conflicts)}")
        elif not self.merged + self.removed + self.kept:
            page.text(f"next: cd {self.folder} && pip install -e '.[test]' && pytest")
            page.text("then: replace the example by your own, in src/, tests/, benchmarks/ and README.md")


@click.command(cls=Listing, result=Scaffold)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--op",
    "ops",
    metavar="NAME:KIND",
    multiple=True,
    help="An operator to make; may be repeated. Kinds: unary, binary, broadcast, reduction, property, "
    "stateful, update, random, loss, kernel, kernel-for, cpp-port, mapper. With kernel-for, NAME is an "
    "installed operator of another author.",
)
@click.option("--name", help="Of the distribution; left out: the folder's.")
@click.option("--licence", help="Apache-2.0 (the default), MIT, BSD-3-Clause or proprietary.")
@click.option("--author", help="Whom the licence names; left out: the user that git knows.")
@click.option("--update", "is_update", is_flag=True, help="Bring the package in FOLDER up to date instead.")
def new(
    folder: Path,
    ops: tuple[str, ...],
    name: str | None,
    licence: str | None,
    author: str | None,
    is_update: bool,
) -> Scaffold:
    """Make a package of operators in FOLDER, ready to install and test.

    On a terminal it asks for what is not given. With --update the package gets what changed in the
    template since it was made, and the operators of further --op; what its author changed is kept.
    """
    requests = [_request(op) for op in ops]
    if not is_update:
        return _created(folder, requests, name, licence, author)
    if name is not None:
        raise click.UsageError("--name and --update: a package keeps its name")
    return _updated(folder, requests, licence, author)


def _created(
    folder: Path, ops: list[tuple[str, str]], name: str | None, licence: str | None, author: str | None
) -> Scaffold:
    with extra("new"):
        from operad_sdk.new import create  # noqa: PLC0415 - an extra
    ask = not ops and sys.stdin.isatty()
    files = create(folder, name, ops, licence=licence, author=author, ask=ask)
    written = [path.relative_to(folder).as_posix() for path in files]
    return Scaffold(str(folder), written, [], [], [], [], _taken(ops, name or folder.resolve().name))


def _updated(folder: Path, ops: list[tuple[str, str]], licence: str | None, author: str | None) -> Scaffold:
    with extra("new"):
        from operad_sdk.new import package_name, update  # noqa: PLC0415 - an extra
    done = update(folder, ops, licence=licence, author=author)
    return Scaffold(
        str(folder),
        list(done.written),
        list(done.merged),
        list(done.conflicts),
        list(done.removed),
        list(done.kept),
        _taken(ops, package_name(folder)),
    )


def _taken(ops: Iterable[tuple[str, str]], own: str) -> dict[str, str]:
    """The installed distributions, other than `own`, that provide operators of these names."""
    from operad_sdk.new.requests import OF_OTHERS  # noqa: PLC0415 - with it comes copier, of the extra

    mine = {op.distribution for op in installed_operators(plugin=own)}
    found = registry.operators()
    owners = {name: found[name].distribution for name, kind in ops if name in found and kind not in OF_OTHERS}
    return {name: owner for name, owner in owners.items() if owner not in mine}


def _request(text: str) -> tuple[str, str]:
    name, sign, kind = text.rpartition(":")
    if not sign:
        raise click.UsageError(f"--op {text}: expected a name and a kind, such as smooth_l1:unary")
    return name, kind
