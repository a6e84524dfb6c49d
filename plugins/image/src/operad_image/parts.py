"""Parts of a record file: what workers pack is joined to the file that one call would pack.

A part is a run of the list's lines. It has files of its own, and beside them the file that says from what it
is made, until `join_parts` has put all parts one after the other. Nothing of PREFIX.rec changes before all
parts are whole, so a worker that fails leaves what was there. Joining is a call of its own: workers need not
wait for one another, and may run on machines that share nothing but the folder.

Source: none; MXNet's im2rec packs in one process, and divides a list into files (`--chunks`).
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from operad.errors import FormatError, ParamError
from operad.files import translated, write_atomically
from operad_files import read_bytes, read_lines
from operad_image.listing import Listed

_PARTIAL: Final = ".partial"


def part_of(images: Sequence[Listed], num_parts: int, part_index: int) -> Sequence[Listed]:
    """Images of one of `num_parts` runs of a list, whose lengths differ by one at most.

    Raises:
        ParamError: There is no such part.
    """
    if not 0 <= part_index < num_parts:
        raise ParamError(f"part {part_index} of {num_parts}: parts count from 0 to num_parts - 1")
    begin, end = (len(images) * part // num_parts for part in (part_index, part_index + 1))
    return images[begin:end]


def files_of(path: str, num_parts: int = 1, part_index: int = 0) -> tuple[str, str, str]:
    """Records and index of a list or of a part of it, and the file that says from what they are made."""
    stem = os.path.splitext(path)[0]
    if num_parts > 1:
        stem += f".part-{part_index}-of-{num_parts}"
    return f"{stem}.rec", f"{stem}.idx", f"{stem}.rec{_PARTIAL}"


def list_digest(path: str) -> str:
    """SHA-256 of a list."""
    return hashlib.sha256(read_bytes(path, f"list {path!r}")).hexdigest()


def content_of(path: str) -> bytes | None:
    """Content of the file that says from what records are made; None: there is none."""
    if not os.path.exists(path):
        return None
    return read_bytes(path, f"{path!r}, which says how packing began,")


def join_parts(path: str) -> int:
    """Join the parts of the list `path`, PREFIX.lst, to PREFIX.rec and PREFIX.idx, and remove them.

    The files have the bytes of those that one call packs.

    Returns:
        The number of records.
    Raises:
        FormatError: A part is missing or not whole, or is made from another list or by other options; nothing
            is changed.
    """
    records, index, _ = files_of(path)
    parts = _whole_parts(path)
    joining, lines, at = f"{records}.joining", [], 0
    with translated(f"joining the parts of {records!r}", "a path"):
        try:
            with open(joining, "wb") as out:
                for part, part_index, _ in parts:
                    for _, line in read_lines(part_index, f"index {part_index!r}"):
                        key, offset = line.split("\t")
                        lines.append(f"{key}\t{int(offset) + at}\n")
                    with open(part, "rb") as file:  # of any size: it is copied in chunks
                        shutil.copyfileobj(file, out, 1 << 20)
                    at = out.tell()
                out.flush()
                os.fsync(out.fileno())
            with suppress(FileNotFoundError):
                os.unlink(index)  # state change: from here on there is no index of the old records
            os.replace(joining, records)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(joining)
        write_atomically(index, "".join(lines).encode())
        for name in (name for files in parts for name in files):
            os.unlink(name)
    return len(lines)


def _whole_parts(path: str) -> list[tuple[str, str, str]]:
    """Files of all parts, in order."""
    pattern = f"{glob.escape(os.path.splitext(path)[0])}.part-*-of-*.rec{_PARTIAL}"
    divisions = sorted({name.rpartition("-of-")[2].partition(".")[0] for name in glob.glob(pattern)}, key=int)
    if not divisions:
        raise FormatError(f"{path!r} has no parts; pack them first: operad launch -n 2 -m operad im2rec ...")
    if len(divisions) > 1:
        raise FormatError(
            f"{path!r} has parts that end in -of-{' and -of-'.join(divisions)}, expected one number of "
            "parts; remove the others"
        )
    num_parts, digest = int(divisions[0]), list_digest(path).encode()
    parts = [files_of(path, num_parts, part) for part in range(num_parts)]
    made_from = content_of(parts[0][2])
    for part, (_, index, partial) in enumerate(parts):
        if not os.path.exists(index):
            raise FormatError(
                f"part {part} of {num_parts} of {path!r} is not whole: there is no {index!r}; pack it again "
                f"by --num-parts {num_parts} --part-index {part}"
            )
        content = content_of(partial) or b""
        if content != made_from or digest not in content:
            raise FormatError(
                f"part {part} of {num_parts} of {path!r} was packed from another list or by other options "
                "than this list and part 0; pack all parts again"
            )
    return parts
