"""`RecordPart`: part r of n of the records of some files, every record in exactly one part.

    step := the bytes of all files over n, rounded up, and up to a multiple of 4
    part r has the records that begin at a byte from step * r on and before step * (r + 1)

Bytes are counted through all files, one behind the other. A record that a cut divides belongs to the part
in which it begins.

Source: InputSplitBase::ResetPartition, dmlc-core, src/io/input_split_base.cc.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np

from operad.errors import FormatError, ParamError
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
        skipped: What was wrong at each position that the last iteration has passed over.
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

    def __iter__(self) -> PartReader:
        """An iterator from the first record on, which has `state_dict` and `load_state_dict`."""
        self.skipped = []
        spans = [
            (file, *span) for file, span in zip(self.files, self.spans, strict=True) if span[0] < span[1]
        ]
        return PartReader(spans, self._on_error, self._skip_limit, self.skipped)

    def offsets(self) -> list[np.ndarray[Any, Any]]:
        """Offsets in each file, in bytes, at which the records of this part begin.

        Heads are read and payloads are not. Where a head is damaged the next one is looked for.
        """
        return [_offsets(file, *span) for file, span in zip(self.files, self.spans, strict=True)]

    def close(self) -> None:
        """Close the files; may be called twice."""
        for file in self.files:
            file.close()


@final
class PartReader(Iterator[bytes]):
    """Gives the records of spans of files one after another.

    Args:
        spans: Files, each with the first byte at which a record may begin, and the byte behind the last one.
        on_error: As of `RecordPart`.
        skip_limit: Likewise.
        skipped: Gets what was wrong at each position that is passed over.
    """

    def __init__(
        self,
        spans: Sequence[tuple[RecordFile, int, int]],
        on_error: OnError,
        skip_limit: int | None,
        skipped: list[str],
    ) -> None:
        self._spans, self._on_error, self._skip_limit = spans, on_error, skip_limit
        self._skipped = skipped
        self._number = 0  # of the span that `_cursor` reads
        self._cursor: Cursor | None = None

    def __next__(self) -> bytes:
        cursor = self._cursor
        while cursor is None or (payload := cursor.read()) is None:
            if cursor is not None:
                self._skipped += cursor.skipped
                self._number, self._cursor = self._number + 1, None
            if self._number == len(self._spans):
                raise StopIteration
            cursor = self._begin()
        return payload

    def state_dict(self) -> dict[str, Any]:
        """Position, for `load_state_dict` of an iterator over the same part of the same files."""
        offset = None if self._cursor is None else self._cursor.tell()
        return {"spans": self._lengths(), "number": self._number, "offset": offset}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the record that came next where `state_dict` was called.

        Raises:
            FormatError: It is the state of another part, or of other files.
        """
        if state.get("spans") != self._lengths():
            raise FormatError(
                f"RecordPart: the state is of a part with {state.get('spans')} bytes of its files, "
                f"and this one has {self._lengths()}"
            )
        self._number, self._cursor = int(state["number"]), None
        if state["offset"] is not None:
            self._begin().seek(int(state["offset"]))

    def _begin(self) -> Cursor:
        file, first, stop = self._spans[self._number]
        self._cursor = Cursor(file, self._on_error, self._skip_limit, file.next_head(first), stop)
        return self._cursor

    def _lengths(self) -> list[int]:
        return [stop - first for _, first, stop in self._spans]


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
