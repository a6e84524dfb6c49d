"""Records one after another, from the beginning or from a given offset.

Small records are cut out of a block of the file that is read at once; large ones are read straight into
the bytes that are given. After a seek out of the block only as much is read as the record before had, for
who jumps about would not use more; reading on doubles the block. The head that follows a record is read with
the record, for it shows whether the record's length is right, and is not looked at again.
"""

from __future__ import annotations

from typing import Final, Literal, final

from operad.errors import FormatError
from operad_recordio.frames import FIRST, HEAD_BYTES, LENGTH_BITS, MAGIC, unpack_head
from operad_recordio.record_file import RecordFile

OnError = Literal["raise", "skip"]

_BLOCK_BYTES: Final = 1 << 18
_LARGE_BYTES: Final = 1 << 14
"""A record from this size on is not read as part of a block."""


@final
class Cursor:
    """Reads records in the order of the file; of one thread.

    Args:
        file: What to read.
        on_error: What becomes of a damaged record: `raise`, at every read until something else is sought; or
            `skip` it and go on with the next record.
        skip_limit: How many damaged positions to skip before raising; None: any number.
        start: The offset of the first record.
        stop: Records that begin here or behind are not read; None: the end of the file.
    Attributes:
        file: As given.
        skipped: What was wrong at each position that was skipped.
    """

    def __init__(
        self,
        file: RecordFile,
        on_error: OnError = "raise",
        skip_limit: int | None = None,
        start: int = 0,
        stop: int | None = None,
    ) -> None:
        self.skipped: list[str] = []
        self.file, self._on_error, self._skip_limit = file, on_error, skip_limit
        self._stop = file.size if stop is None else stop
        self._at = self._from = start  # `_from`: where the record before began
        self._word = -1  # the second word of the head at `_at`, where it is known to be one; else -1
        self._block, self._block_start = b"", 0
        self._ahead = _BLOCK_BYTES
        self._is_checked = file.is_checked

    def tell(self) -> int:
        """The offset of the next record."""
        return self._at

    def seek(self, offset: int) -> None:
        """Go on with the record at `offset`."""
        if offset != self._at:
            size = self._at - self._from
            self._ahead = HEAD_BYTES if size > _LARGE_BYTES else size + HEAD_BYTES
            self._from = self._at = offset
            self._word = -1

    def read(self) -> bytes | None:
        """The next record; None at the end.

        Raises:
            FormatError: It is damaged, or the file is shorter than its checksums say.
        """
        at = self._at
        if at >= self._stop:
            self._end()
            return None
        start = at - self._block_start
        if start < 0 or start + HEAD_BYTES > len(self._block):
            self._fill(at)
            start = 0
        if self._is_checked or start + HEAD_BYTES > len(self._block):
            return self._read()
        block, word = self._block, self._word
        if word < 0:
            magic, word = unpack_head(block, start)
            if magic != MAGIC:
                return self._read()
        if word < 1 << LENGTH_BITS:  # a whole record
            start += HEAD_BYTES
            end = start + (word + 3 & -4)
            if end + HEAD_BYTES <= len(block):
                magic, following = unpack_head(block, end)
                if magic == MAGIC and following >> LENGTH_BITS <= FIRST:
                    self._from, self._at, self._word = at, self._block_start + end, following
                    return block[start : start + word]
        return self._read()

    def _read(self) -> bytes | None:
        """Read the next record slowly, and treat damage as `on_error` says."""
        while self._at < self._stop:
            at = self._at
            try:
                payload, self._at = self.file.read(at, self._fetch)
            except FormatError as error:
                if self._on_error == "raise":
                    raise
                self._skip(error)
                self._at = self.file.next_head(at + 4)
                self._word = -1
                continue
            self._from, self._word = at, -1
            if self._at - at > _LARGE_BYTES:
                self._ahead = HEAD_BYTES
            return payload
        self._end()
        return None

    def _end(self) -> None:
        if self._at >= self.file.size:
            try:
                self.file.check_end(self.file.size)
            except FormatError as error:
                if self._on_error == "raise":
                    raise
                if str(error) not in self.skipped:
                    self._skip(error)

    def _skip(self, error: FormatError) -> None:
        self.skipped.append(str(error))
        if self._skip_limit is not None and len(self.skipped) > self._skip_limit:
            raise FormatError(
                f"{error}; more damaged places than skip_limit={self._skip_limit} allows"
            ) from error

    def _fetch(self, offset: int, size: int) -> bytes:
        start = offset - self._block_start
        if start >= 0 and start + size <= len(self._block):
            return self._block[start : start + size]
        if size > _LARGE_BYTES:
            return self.file.fetch(offset, size)
        self._ahead = max(size, self._ahead)
        self._fill(offset)
        return self._block[:size]

    def _fill(self, offset: int) -> None:
        self._block, self._block_start = self.file.fetch(offset, self._ahead), offset
        self._ahead = min(2 * self._ahead, _BLOCK_BYTES)
