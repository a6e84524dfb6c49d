"""Indexes: lines of a key, a tab and the offset of the key's record in bytes.

Source: tools/rec2idx.py, whose keys count from 0.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from operad.errors import FormatError
from operad.files import write_atomically
from operad_files import read_lines
from operad_recordio.checksums import write_checksums
from operad_recordio.cursor import Cursor
from operad_recordio.record_file import RecordFile

_MOST_BYTES: Final = 1 << 63
"""Limit of a file's size."""


def read_index(path: str, key_type: Callable[[str], Any]) -> Iterator[tuple[Any, int]]:
    """Keys and offsets in the order of the index.

    Raises:
        FormatError: A line is no key and offset.
    """
    for number, line in read_lines(path, f"index {path!r}"):
        words = line.strip().split("\t", 2)
        try:
            key, offset = key_type(words[0]), int(words[1])
        except (ValueError, IndexError, OverflowError) as error:
            kind = getattr(key_type, "__name__", key_type)
            raise FormatError(
                f"{path!r}: line {number} is {line!r:.200}, expected a key ({kind}), a tab and an offset; "
                "recordio.build_index makes the index again"
            ) from error
        if not 0 <= offset < _MOST_BYTES or offset % 4:
            raise FormatError(
                f"{path!r}: line {number} has the offset {offset!s:.40}, expected a multiple of 4; "
                "recordio.build_index makes the index again"
            )
        yield key, offset


def build_index(
    rec_path: str | os.PathLike[str],
    idx_path: str | os.PathLike[str] | None = None,
    *,
    checksums: bool = False,
) -> int:
    """Write the index of a record file, with keys that count from 0.

    Args:
        rec_path: The records.
        idx_path: The index; None: as the records, ending in `.idx`.
        checksums: Whether to write checksums beside the records as well.
    Returns:
        The number of records.
    Raises:
        FormatError: A record is damaged; nothing is written.
    """
    path = os.fspath(rec_path)
    index = os.path.splitext(path)[0] + ".idx" if idx_path is None else os.fspath(idx_path)
    offsets: list[int] = []
    sums: list[int] = []
    with RecordFile(path) as file:
        cursor = Cursor(file)
        at = 0
        while (payload := cursor.read()) is not None:
            offsets.append(at)
            if checksums:
                sums.append(zlib.crc32(payload))
            at = cursor.tell()
    lines = "".join(f"{key}\t{offset}\n" for key, offset in enumerate(offsets))
    write_atomically(index, lines.encode())
    if checksums:
        write_checksums(path, offsets, sums, at)
    return len(offsets)
