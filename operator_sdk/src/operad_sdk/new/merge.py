"""Two changed versions of a file made one.

`git merge-file` finds what each side changed. It calls it a conflict when one side changes a line and
the other adds lines next to it, and that is what happens most: an author rewrites the README's row of
an operator, and one more operator adds the next row. Here both count. What is left as a conflict are
lines that both changed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple, final

from operad_sdk.new.requests import ScaffoldError

_LABELS: Final = ("yours", "the template you started from", "the newest template")
_OPENING: Final = f"<<<<<<< {_LABELS[0]}".encode()
_CLOSING: Final = f">>>>>>> {_LABELS[2]}".encode()
_MARK: Final = 40
"""Length of git's marks here; no line of a file looks like one."""

Lines = list[bytes]


@final
class _Conflict(NamedTuple):
    """Lines that both sides changed, or changed next to each other."""

    ours: Lines
    base: Lines
    theirs: Lines


def merge(ours: Path, base: Path, theirs: Path, *, is_addition: bool) -> tuple[bytes, bool]:
    """The merged content, and whether lines are marked in it for the author to choose from.

    Args:
        is_addition: The template is the same, and theirs has more operators. Lines that both added at
            one position are then both kept.

    Raises:
        ScaffoldError: git is missing, or cannot merge.
    """
    merged: Lines = []
    is_marked = False
    for part in _parts(_run_git(ours, base, theirs)):
        if not isinstance(part, _Conflict):
            merged.append(part)
        elif (settled := _settled(part, is_addition)) is not None:
            merged += settled
        else:
            merged += _marked(part)
            is_marked = True
    return b"".join(merged), is_marked


def first_mark(content: bytes) -> int | None:
    """Number of the first line that an earlier merge marked; None if there is none."""
    lines = content.splitlines()
    return lines.index(_OPENING) + 1 if _OPENING in lines else None


def _run_git(ours: Path, base: Path, theirs: Path) -> bytes:
    labels = [word for label in _LABELS for word in ("-L", label)]
    command = ["git", "merge-file", "--stdout", "--diff3", f"--marker-size={_MARK}", *labels]
    try:
        done = subprocess.run([*command, str(ours), str(base), str(theirs)], check=False, capture_output=True)
    except FileNotFoundError:
        raise ScaffoldError(f"update {ours}: you and the template changed it; install git to merge") from None
    if done.returncode < 0 or done.returncode > 127:  # else it is the number of conflicts
        raise ScaffoldError(f"update {ours}: git merge-file failed: {done.stderr.decode().strip()}")
    return done.stdout


def _parts(text: bytes) -> Iterator[bytes | _Conflict]:
    """Lines and conflicts, in order."""
    rest = iter(text.splitlines(keepends=True))
    for line in rest:
        if not line.startswith(b"<" * _MARK):
            yield line
            continue
        yield _Conflict(*(list(_until(rest, sign)) for sign in (b"|", b"=", b">")))


def _until(lines: Iterable[bytes], sign: bytes) -> Iterator[bytes]:
    for line in lines:
        if line.startswith(sign * _MARK):
            return
        yield line


def _settled(conflict: _Conflict, is_addition: bool) -> Lines | None:
    """Both changes, if the template's only adds lines before or after those that the author changed."""
    ours, base, theirs = conflict
    if not base:
        return ours + theirs if is_addition else None
    if theirs[: len(base)] == base:
        return ours + theirs[len(base) :]
    if theirs[-len(base) :] == base:
        return theirs[: -len(base)] + ours
    return None


def _marked(conflict: _Conflict) -> Lines:
    """Both versions between marks, less the lines at either end that they share."""
    ours, theirs = conflict.ours, conflict.theirs
    before = _shared(ours, theirs)
    after = _shared(ours[before:][::-1], theirs[before:][::-1])
    ends = (ours[:before], ours[len(ours) - after :])
    ours, theirs = (side[before : len(side) - after] for side in (ours, theirs))
    return [*ends[0], _OPENING + b"\n", *ours, b"=======\n", *theirs, _CLOSING + b"\n", *ends[1]]


def _shared(one: Lines, other: Lines) -> int:
    """Number of lines with which both versions begin."""
    pairs = zip(one, other, strict=False)  # the rest of the longer one is not shared
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
