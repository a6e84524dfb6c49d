"""`MXIndexedRecordIO`: records with keys.

Source: MXIndexedRecordIO, python/mxnet/recordio.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from operad.errors import ArgumentError, UnsupportedError, class_of_both
from operad.files import translated
from operad_recordio.index import read_index
from operad_recordio.sequential import MXRecordIO

UnknownKeyError = class_of_both(ArgumentError, KeyError)


class MXIndexedRecordIO(MXRecordIO):
    """A file of records, and a text file that says under which key each begins.

    Args:
        idx_path: Path of the index: lines of key, tab and offset in bytes.
        uri: Path of the records.
        flag: `r` to read, `w` to write both files again, `a` to append to both.
        key_type: Makes a key of a text, such as `int` or `str`.
        checksums: As of `MXRecordIO`.
        on_error: Likewise; it is about `read`. `read_idx` raises for the key it cannot give.
        skip_limit: Likewise.
    Attributes:
        idx: Offsets by key.
        keys: In the order of the index.
    Raises:
        FormatError: A line of the index is no key and offset.

    Example:
        >>> import operad as od, os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> names = os.path.join(folder, "two.idx"), os.path.join(folder, "two.rec")
        >>> with od.recordio.MXIndexedRecordIO(*names, "w") as out:
        ...     out.write_idx(7, b"one"), out.write_idx(9, b"two")
        (None, None)
        >>> with od.recordio.MXIndexedRecordIO(*names, "r") as records:
        ...     records.keys, records.read_idx(9)
        ([7, 9], b'two')
    """

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[str], Any] = int,
        *,
        checksums: bool = False,
        on_error: str = "raise",
        skip_limit: int | None = None,
    ) -> None:
        self.idx_path = os.fspath(idx_path)
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.key_type = key_type
        super().__init__(uri, flag, checksums=checksums, on_error=on_error, skip_limit=skip_limit)

    def open(self) -> None:
        """Open both files."""
        super().open()
        self.idx, self.keys = {}, []
        self._lines: list[str] = []
        try:
            if self.writable:
                with translated(f"index {self.idx_path!r}", "a path"):
                    self._index_out = open(self.idx_path, self.flag, encoding="utf-8")  # noqa: SIM115 - `close` does
            if self.flag != "w":
                for key, offset in read_index(self.idx_path, self.key_type):
                    self.idx[key] = offset
                    self.keys.append(key)
        except BaseException:
            super().close()
            raise

    def close(self) -> None:
        """Close both files."""
        if not self.is_open:
            return
        super().close()
        if self.writable:
            lines, self._lines = self._lines, []
            with translated(f"writing {self.idx_path!r}", "a file"), self._index_out as out:
                out.writelines(lines if self._process == os.getpid() else ())

    def seek(self, idx: Any) -> None:
        """Go on reading with the record of a key.

        Raises:
            UnknownKeyError: The index has no such key; it is a `KeyError`.
        """
        offset = self.idx.get(idx)
        if offset is None:
            if self.writable:
                raise UnsupportedError(
                    f"MXIndexedRecordIO: seek: {self.uri!r} is open with flag {self.flag!r}, expected 'r'"
                )
            raise UnknownKeyError(
                f"MXIndexedRecordIO: {self.idx_path!r} has no key {idx!r} among its {len(self.keys)}"
            )
        super().seek(offset)

    def read_idx(self, idx: Any) -> bytes | None:
        """The record of a key.

        Raises:
            UnknownKeyError: The index has no such key.
            FormatError: The record is damaged, or the index leads behind the file.
        """
        self.seek(idx)
        return self.read()

    def write_idx(self, idx: Any, buf: Any) -> None:
        """Append a record under a key."""
        key = self.key_type(idx)
        offset = self.tell()
        self.write(buf)
        self._lines.append(f"{key}\t{offset}\n")
        self.idx[key] = offset
        self.keys.append(key)
