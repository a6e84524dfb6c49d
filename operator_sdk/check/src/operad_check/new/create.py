"""A new package."""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Iterable
from pathlib import Path

from operad_check.new.render import render
from operad_check.new.requests import (
    ScaffoldError,
    checked_together,
    distribution_name,
    known_licence,
    printable,
    request,
    write_requests,
)


def create(
    destination: str | Path,
    name: str | None = None,
    ops: Iterable[tuple[str, str]] = (),
    *,
    licence: str | None = None,
    author: str | None = None,
    ask: bool = False,
) -> list[Path]:
    """Make a package of operators; returns its files.

    Args:
        destination: The folder to make; it may exist where it is empty.
        name: Of the distribution; if left out, the folder's.
        ops: Pairs of an operator's name and its kind, one of `KINDS`.
        licence: One of `LICENCES`; the first if left out.
        author: Whom the licence names; if left out, the user that git or the system knows.
        ask: Ask on the terminal for the name, the operators, the licence and the author where they
            are left out.

    Raises:
        ScaffoldError: A name or the licence cannot be one, or there is something in the folder.
    """
    folder = Path(destination)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        way_out = (
            "--add puts operators into it"
            if (folder / "pyproject.toml").is_file()
            else "name an empty folder"
        )
        raise ScaffoldError(f"new package in {folder}: something is there already; {way_out}")
    answers: dict[str, str] = {}
    if name is not None or not ask:
        answers["name"] = distribution_name(name if name is not None else folder.resolve().name)
    requests = [request(operator, kind) for operator, kind in ops]
    if requests or not ask:
        answers["ops"] = write_requests(checked_together(requests))
    if licence is not None:
        answers["licence"] = known_licence(licence)
    if author is not None or not ask:
        answers["author"] = printable(author or default_author())
    render(answers, folder, ask=ask)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def default_author() -> str:
    """The name that git knows the user by, or else the system."""
    try:
        command = ["git", "config", "user.name"]
        told = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        told = ""
    return told or getpass.getuser()
