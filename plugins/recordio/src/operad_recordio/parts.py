"""`RecordPart`: part r of n of the records of some files, every record in exactly one part.

    step := the bytes of all files over n, rounded up, and up to a multiple of 4
    part r has the records that begin at a byte from step * r on and before step * (r + 1)

Bytes are counted through all files, one behind the other. A record that a cut divides belongs to the part
in which it begins.

Source: InputSplitBase::ResetPartition, dmlc-core, src/io/input_split_base.cc.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from operad.errors import ParamError
from operad_recordio.cursor import Cursor, OnError
from operad_recordio.frames import FIRST, HEAD_BYTES, LENGTH_BITS, MAGIC, MAX_LENGTH, padded, unpack_head
from operad_recordio.record_file import RecordFile


@final
class RecordPart:
    """One part of the records of some files; an iterable of their payloads.

    Args:
        uris: The files, in order; or the path of one.
        num_parts: Into how many parts they are divided.
        part_index: Which part this is, from 0.
        checksums: As of `MXRecordIO`.
        on_error: Likewise.
        skip_limit: Likewise, for each file.
    Attributes:
        files: The opened files.
        spans: Of each file the first byte at which a record of this part may begin, and the byte behind the
            last one.
        skipped: What was wrong at each place that the last iteration has passed over.
    """

    def __init__(
        self,
        uris: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        num_parts: int = 1,
        part_index: int = 0,
        *,
        checksums: bool = False,
        on_error: OnError = "raise",
        skip_limit: int | None = None,
    ) -> None:
        if num_parts < 1 or not 0 <= part_index < num_parts:
            raise ParamError(
                f"RecordPart: part_index is {part_index} and num_parts {num_parts}, "
                "expected 0 <= part_index < num_parts"
            )
        paths = [uris] if isinstance(uris, (str, os.PathLike)) else list(uris)
        self.files = [RecordFile(path, checksums) for path in paths]
        self._on_error, self._skip_limit = on_error, skip_limit
        self.skipped: list[str] = []
        total = sum(file.size for file in self.files)
        step = padded(-(-total // num_parts))
        first, last = step * part_index, step * (part_index + 1)
        self.spans: list[tuple[int, int]] = []
        begin = 0
        for file in self.files:
            self.spans.append((max(first - begin, 0), min(max(last - begin, 0), file.size)))
            begin += file.size

    def __iter__(self) -> Iterator[bytes]:
        self.skipped = []
        for file, (first, stop) in zip(self.files, self.spans, strict=True):
            if first < stop:
                cursor = Cursor(file, self._on_error, self._skip_limit, file.next_head(first), stop)
                while (payload := cursor.read()) is not None:
                    yield payload
                self.skipped += cursor.skipped

    def offsets(self) -> list[np.ndarray[Any, Any]]:
        """Of each file the offsets, in bytes, at which the records of this part begin.

        Heads are read and payloads are not. Where a head is damaged the next one is looked for.
        """
        return [_offsets(file, *span) for file, span in zip(self.files, self.spans, strict=True)]

    def close(self) -> None:
        """Close the files; may be called twice."""
        for file in self.files:
            file.close()


def _offsets(file: RecordFile, first: int, stop: int) -> np.ndarray[Any, Any]:
    found: list[int] = []
    at = file.next_head(first) if first < stop else stop
    block, start = b"", 0
    while at < stop:
        if not 0 <= at - start <= len(block) - HEAD_BYTES:
            # Small records come many to a block; of large ones not more is read than a page.
            gap = at - found[-1] if found else 0
            block, start = file.fetch(at, 1 << 12 if gap > 1 << 12 else 1 << 18), at
        if len(block) < HEAD_BYTES:
            break
        magic, word = unpack_head(block, at - start)
        end = at + HEAD_BYTES + padded(word & MAX_LENGTH)
        if magic != MAGIC or end > file.size:
            # Kept where a record was expected, so that reading it says what is wrong.
            found.append(at)
            at = file.next_head(at + 4)
            continue
        if word >> LENGTH_BITS <= FIRST:
            found.append(at)
        at = end
    return np.array(found, np.int64)
