"""A package brought up to date with the template, its author's changes kept.

Three versions of each file decide: what the old template made of the old answers (the base), what
the newest one makes of the new answers (theirs), and what stands in the folder (ours). Where only
one side changed, that side counts. Where both did, they are merged, and marks are left where both
changed the same lines.

Copier's own update finds the base by checking out an old commit of the template's repository, and
wants the package to be a git repository too. Here the base is rendered from the templates that the
SDK carries, so an update works without a network and in any folder, and other answers (one more
operator) are an update like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, final

from operad_sdk.new.merge import first_mark, merge
from operad_sdk.new.render import TEMPLATES, newest, read_answers, render
from operad_sdk.new.requests import (
    ScaffoldError,
    checked_together,
    known_licence,
    printable,
    read_requests,
    request,
    write_requests,
)


@final
@dataclass(frozen=True, slots=True)
class Update:
    """Result of an update; files by their path in the package.

    Attributes:
        written: New, or replaced where the author had not changed them.
        merged: Changed by the author, and now also by the template.
        conflicts: Changed by both in the same lines, which are marked for the author to choose from.
        removed: No longer part of the template, and not changed by the author.
        kept: No longer part of the template, but changed by the author.
    """

    written: tuple[str, ...]
    merged: tuple[str, ...]
    conflicts: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]


class _FileUpdate(NamedTuple):
    """Decision for one file: the field of `Update` that lists it, and its contents (None: leave it)."""

    outcome: str
    content: bytes | None


def update(
    destination: str | Path,
    ops: Iterable[tuple[str, str]] = (),
    *,
    licence: str | None = None,
    author: str | None = None,
    templates: Path = TEMPLATES,
) -> Update:
    """Bring the package in `destination` up to date with the newest template.

    Files that the author deleted stay deleted.

    Args:
        ops: Operators to add, as for `create`.
        licence: Another licence; `author` likewise.
        templates: The folder of templates.

    Raises:
        ScaffoldError: `operad new` did not make the package, a newer SDK did, an operator is there
            already, marks of an earlier update are, or git is needed and missing.
    """
    folder = Path(destination)
    number, old = read_answers(folder)
    if number > newest(templates) or not (templates / str(number)).is_dir():
        raise ScaffoldError(
            f"update {folder}: it was made from template {number}, which this operad-sdk does not have; "
            "install a newer one"
        )
    new = {**old, **_changes(old, ops, licence, author)}
    with TemporaryDirectory(prefix="operad-new-") as scratch:
        base, theirs = Path(scratch, "base"), Path(scratch, "theirs")
        render(templates, number, old, base)
        render(templates, newest(templates), new, theirs)
        names = sorted(_files(base) | _files(theirs))
        _check_settled(folder, names)
        is_addition = number == newest(templates) and licence is None and author is None
        updates = {
            name: _file_update(folder / name, base / name, theirs / name, is_addition=is_addition)
            for name in names
        }
    for name, update in updates.items():  # only now: until here an error changes nothing
        _apply(update, folder / name)
    return Update(*(_names(updates, outcome) for outcome in Update.__dataclass_fields__))


def _changes(
    old: dict[str, Any], ops: Iterable[tuple[str, str]], licence: str | None, author: str | None
) -> dict[str, str]:
    """Answers that are new."""
    added = [request(operator, kind) for operator, kind in ops]
    changes = {"ops": write_requests(checked_together([*read_requests(old["ops"]), *added]))}
    if licence is not None:
        changes["licence"] = known_licence(licence)
    if author is not None:
        changes["author"] = printable(author)
    return changes


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _file_update(ours_file: Path, base_file: Path, theirs_file: Path, *, is_addition: bool) -> _FileUpdate:
    """Decide what happens to one file."""
    ours, base, theirs = _content(ours_file), _content(base_file), _content(theirs_file)
    if theirs in (ours, base):
        return _FileUpdate("", None)
    if ours == base:
        return _FileUpdate("removed" if theirs is None else "written", theirs)
    if ours is None:
        return _FileUpdate("", None)  # the author deleted it
    if theirs is None:
        return _FileUpdate("kept", None)
    return _merged(ours_file, base_file, theirs_file, is_addition)


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _merged(ours: Path, base: Path, theirs: Path, is_addition: bool) -> _FileUpdate:
    if not base.exists():  # both added it: everything that differs is a conflict
        base.parent.mkdir(parents=True, exist_ok=True)
        base.touch()
        is_addition = False
    content, is_marked = merge(ours, base, theirs, is_addition=is_addition)
    return _FileUpdate("conflicts" if is_marked else "merged", content)


def _check_settled(folder: Path, names: Iterable[str]) -> None:
    """Refuse to merge into a file that an earlier merge left for the author to settle."""
    for name in names:
        line = first_mark(_content(folder / name) or b"")
        if line is not None:
            raise ScaffoldError(
                f"update {folder}: {name} has lines marked <<<<<<< by an earlier update, from line {line}; "
                "choose between them first"
            )


def _apply(update: _FileUpdate, file: Path) -> None:
    if update.content is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(update.content)
    elif update.outcome == "removed":
        file.unlink()


def _names(updates: dict[str, _FileUpdate], outcome: str) -> tuple[str, ...]:
    return tuple(name for name, update in updates.items() if update.outcome == outcome)
