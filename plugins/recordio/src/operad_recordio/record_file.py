"""`RecordFile`: the records of a file at given offsets, for any number of threads.

How damage is noticed. A frame that begins without the magic word, or with a flag that cannot stand there, or
that ends behind the file, is damaged. A wrong length is noticed by what follows a record: another head, or
the end of the file. Where neither follows, either this record's length is wrong or the next head is, and the
next head that the file does have decides: one that lies within this record shows that its length is
too large; and where the damaged word is followed by a length that leads to that head or to the end, it is the
next head that is damaged, and this record is whole. All else counts as damage of this record. A wrong length
that leads to another head exactly, and changed bytes within a payload, show in checksums alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Self, final

from operad.errors import FormatError
from operad.files import check_bytes, open_descriptor, translated
from operad_files import reading
from operad_recordio.checksums import Checksums
from operad_recordio.frames import (
    FIRST,
    HEAD_BYTES,
    LAST,
    LENGTH_BITS,
    MAGIC,
    MAGIC_BYTES,
    MAX_LENGTH,
    MIDDLE,
    WHOLE,
    find_head,
    is_head,
    padded,
    unpack_head,
)

Fetch = Callable[[int, int], bytes]
"""Gives so many bytes at an offset; fewer only at the end of the file."""

_SCAN_BYTES = 1 << 18
_LARGE_BYTES = 1 << 20
"""More than this at once counts against the budget of the process."""


@final
class RecordFile:
    """A file of records, opened for reading; its functions keep no position and may run in any thread.

    Args:
        path: The file.
        checksums: Whether to compare every record with the checksums written beside the file.
    Attributes:
        path: The file.
        size: Its bytes when it was opened.
    Raises:
        FormatError: The checksums are no such file, or of a file with another number of bytes.
    """

    def __init__(self, path: str | os.PathLike[str], checksums: bool = False) -> None:
        self.path = os.fspath(path)
        self._checksums = Checksums.of(self.path) if checksums else None
        self._descriptor, self.size = open_descriptor(self.path, f"record file {self.path!r}")

    def close(self) -> None:
        """Close the file; may be called twice."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.close()

    @property
    def is_checked(self) -> bool:
        """True if records are compared with checksums."""
        return self._checksums is not None

    def fetch(self, offset: int, size: int) -> bytes:
        """`size` bytes at `offset`; fewer only at the end of the file."""
        if size > _LARGE_BYTES:
            with reading(size, f"a record of {self.path!r}"):
                return self._fetched(offset, size)
        return self._fetched(offset, size)

    def _fetched(self, offset: int, size: int) -> bytes:
        try:
            found = os.pread(self._descriptor, size, offset)
            if len(found) == size or not found:
                return found
            parts, count = [found], len(found)
            while count < size and (found := os.pread(self._descriptor, size - count, offset + count)):
                parts.append(found)
                count += len(found)
        except OSError:
            with translated(f"record file {self.path!r}", "bytes"):
                raise
        return b"".join(parts)

    def read(self, offset: int, fetch: Fetch | None = None) -> tuple[bytes, int]:
        """The payload of the record at `offset`, and the offset behind the record.

        Args:
            fetch: Gives the file's bytes, where the caller has some of them already.
        Raises:
            FormatError: There is no undamaged record; the message names file, offset and what was expected.
        """
        fetch = fetch or self.fetch
        payload, end, is_split = self._unframed(offset, fetch)
        if self._checksums is not None:
            self._checksums.check(offset, payload)
        elif end < self.size and not self._is_head_at(end, fetch):
            self._judge(offset, end, is_split)
        return payload, end

    def check_end(self, offset: int) -> None:
        """Make sure that the file may end at `offset`.

        Raises:
            FormatError: According to the checksums it had more records.
        """
        if self._checksums is not None:
            self._checksums.check_end(offset)

    def next_head(self, offset: int) -> int:
        """The offset of the first record that begins at `offset` or behind it; `size` where there is none."""
        if self._checksums is not None:
            return min(self._checksums.next_offset(offset), self.size)
        at = padded(offset)
        while at + HEAD_BYTES <= self.size:
            block = self.fetch(at, _SCAN_BYTES + HEAD_BYTES)
            found = find_head(block, 0)
            if found >= 0:
                return at + found
            at += _SCAN_BYTES
        return self.size

    def _unframed(self, offset: int, fetch: Fetch) -> tuple[bytes, int, bool]:
        flag, at, part = self._frame(offset, (WHOLE, FIRST), offset, fetch)
        if flag == WHOLE:
            return part, at, False
        parts = [part]
        while flag != LAST:
            flag, at, part = self._frame(at, (MIDDLE, LAST), offset, fetch)
            parts.append(part)
            check_bytes(at - offset, f"the record at byte {offset} of {self.path!r}")
        return MAGIC_BYTES.join(parts), at, True

    def _frame(self, at: int, flags: tuple[int, int], offset: int, fetch: Fetch) -> tuple[int, int, bytes]:
        head = fetch(at, HEAD_BYTES)
        if len(head) < HEAD_BYTES:
            self._refuse(offset, at, "8 bytes of a head", f"{len(head)} and the end of the file")
        magic, word = unpack_head(head)
        if magic != MAGIC:
            self._refuse(offset, at, f"the magic word {MAGIC:#x}", f"{magic:#x}")
        flag, length = word >> LENGTH_BITS, word & MAX_LENGTH
        if flag not in flags:
            self._refuse(offset, at, f"a flag of {flags[0]} or {flags[1]}", str(flag))
        if flag in (FIRST, MIDDLE) and length % 4:
            self._refuse(offset, at, "a part whose length is a multiple of 4", str(length))
        start = at + HEAD_BYTES
        if start + padded(length) > self.size:
            self._refuse(offset, at, f"{length} bytes", f"{self.size - start} and the end of the file")
        part = fetch(start, length)
        if len(part) < length:  # the file has become shorter
            self._refuse(offset, at, f"{length} bytes", f"{len(part)} and the end of the file")
        return flag, start + padded(length), part

    def _is_head_at(self, at: int, fetch: Fetch) -> bool:
        head = fetch(at, HEAD_BYTES)
        return len(head) == HEAD_BYTES and is_head(head, 0)

    def _judge(self, offset: int, end: int, is_split: bool) -> None:
        """Raise if no head follows a record, unless the fault is in the bytes that follow; see the module."""
        head = self.fetch(end, HEAD_BYTES)
        following = self.next_head(offset + 4)
        if following < end:
            self._refuse(
                offset, end, "the end of the record", f"another record at byte {following} before it"
            )
        if len(head) < HEAD_BYTES:
            return  # reading on says so
        magic, word = unpack_head(head)
        if magic == MAGIC and word >> LENGTH_BITS in (MIDDLE, LAST):
            is_ours = is_split  # a last part that was a middle one, unless the next head's flag is wrong
        else:
            is_ours = not self._leads_on(end + HEAD_BYTES + padded(word & MAX_LENGTH), word, following)
        if is_ours:
            self._refuse(offset, end, f"a record or the end of the file, {self.size} bytes", head.hex())

    def _leads_on(self, at: int, word: int, following: int) -> bool:
        """Return whether `word` may be a head's second word, after which something else stands at `at`."""
        return at == following or (
            word >> LENGTH_BITS == FIRST and at < following and self.fetch(at, 4) == MAGIC_BYTES
        )

    def _refuse(self, offset: int, at: int, expected: str, got: str) -> None:
        raise FormatError(
            f"{self.path!r}: the record at byte {offset} is damaged: expected {expected} at byte {at}, "
            f"got {got}; on_error='skip' goes on with the next record"
        )
