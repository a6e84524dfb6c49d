"""`MXRecordIO`: records written or read one after another.

Source: MXRecordIO, python/mxnet/recordio.py. Differs: damage is an error that names file and offset, or is
skipped; there are checksums, `tell` and `seek`, appending, and a context manager; a writer is not pickled,
since opening the file again would empty it; a child of a fork never writes what its parent has in memory.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Self, cast

from operad.errors import EngineError, FormatError, ParamError, UnsupportedError
from operad.files import translated
from operad_recordio.checksums import SUFFIX, write_checksums
from operad_recordio.cursor import Cursor, OnError
from operad_recordio.frames import as_bytes, framed
from operad_recordio.record_file import RecordFile

_FLUSH_BYTES: Final = 1 << 18


class MXRecordIO:
    """A file of records.

    In a process that was forked, reading starts over with `reset`; until then `read` refuses, as in MXNet.
    A pickled reader is opened again, at the first record, where it is unpickled.

    Args:
        uri: Path of the file.
        flag: `r` to read, `w` to write a new file in its place, `a` to append to a file that ends with a
            whole record.
        checksums: Reading: compare every record with the checksums beside the file, `uri` + ".crc". Writing:
            make them. The file itself is the same either way.
        on_error: What becomes of a damaged record: `raise` an error, or `skip` it.
        skip_limit: How many damaged positions `skip` allows; None: any number.
    Attributes:
        uri: The path.
        flag: As given.
        writable: Whether the flag is not `r`.
        is_open: Whether it is open.
    Raises:
        FormatError: Reading comes to a damaged record.
        OSError: The file cannot be opened.

    Example:
        >>> import operad as od, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "two.rec")
        >>> with od.recordio.MXRecordIO(path, "w") as out:
        ...     out.write(b"one"), out.write(b"two")
        (None, None)
        >>> with od.recordio.MXRecordIO(path, "r") as records:
        ...     list(records)
        [b'one', b'two']
    """

    def __init__(
        self,
        uri: str | os.PathLike[str],
        flag: str,
        *,
        checksums: bool = False,
        on_error: str = "raise",
        skip_limit: int | None = None,
    ) -> None:
        self.is_open = False
        who = type(self).__name__
        if flag not in ("r", "w", "a"):
            raise ParamError(f"{who}: flag is {flag!r}, expected 'r' to read, 'w' to write or 'a' to append")
        if flag == "a" and checksums:
            raise ParamError(f"{who}: flag 'a' with checksums; write them of the whole file with build_index")
        if on_error not in ("raise", "skip"):
            raise ParamError(f"{who}: on_error is {on_error!r}, expected 'raise' or 'skip'")
        self.uri = os.fspath(uri)
        self.flag = flag
        self.writable = flag != "r"
        self._checksums, self._on_error, self._skip_limit = checksums, cast("OnError", on_error), skip_limit
        self.open()

    def open(self) -> None:
        """Open the file: at its first record, or empty."""
        if self.writable:
            with translated(f"record file {self.uri!r}", "a path"):
                self._out = open(self.uri, f"{self.flag}b", buffering=0)  # noqa: SIM115 - `close` closes it
                self._written = os.fstat(self._out.fileno()).st_size
            self._pending = bytearray()
            self._offsets: list[int] = []
            self._sums: list[int] = []
        else:
            self._cursor = Cursor(RecordFile(self.uri, self._checksums), self._on_error, self._skip_limit)
            self._file = self._cursor.file
        self._process = os.getpid()
        self.is_open = True

    def close(self) -> None:
        """Write what is left, and close the file. May be called twice; `reset` opens it again."""
        if not self.is_open:
            return
        self.is_open = False
        if not self.writable:
            self._file.close()
            return
        if self._process != os.getpid():
            self._out.close()  # what is pending is the parent's to write
            return
        try:
            self._flush()
        finally:
            self._out.close()
        if self._checksums:
            write_checksums(self.uri, self._offsets, self._sums, self._written)
        else:  # those of the file that stood here before
            with translated(f"removing {self.uri + SUFFIX!r}", "a path"), suppress(FileNotFoundError):
                os.unlink(self.uri + SUFFIX)

    def reset(self) -> None:
        """Go back to the first record; empties a file that is open with flag `w`."""
        self.close()
        self.open()

    def write(self, buf: Any) -> None:
        """Append a record.

        Args:
            buf: Its bytes; anything that has some.
        """
        self._require("write", writable=True)
        payload = as_bytes(type(self).__name__, buf)
        if self._checksums:
            self._offsets.append(self._written)
            self._sums.append(zlib.crc32(payload))
        frame = framed(payload)
        self._written += len(frame)
        self._pending += frame
        if len(self._pending) >= _FLUSH_BYTES:
            self._flush()

    def read(self) -> bytes | None:
        """The next record; None at the end."""
        if not self.is_open or self.writable or self._process != os.getpid():
            self._require("read", writable=False)
        return self._cursor.read()

    def tell(self) -> int:
        """The offset of the next record, in bytes."""
        self._require("tell", writable=self.writable)
        return self._written if self.writable else self._cursor.tell()

    def seek(self, offset: int) -> None:
        """Go on reading at a record's offset, as `tell` gave it."""
        if not self.is_open or self.writable or self._process != os.getpid():
            self._begin_in_child()
            self._require("seek", writable=False)
        if not 0 <= offset <= self._file.size:
            raise ParamError(
                f"{type(self).__name__}: seek to byte {offset} of {self.uri!r}, which has {self._file.size}"
            )
        self._cursor.seek(offset)

    def state_dict(self) -> dict[str, Any]:
        """Position of a reader, for `load_state_dict` of another one of the same file."""
        self._require("state_dict", writable=False)
        return {"offset": self._cursor.tell(), "size": self._file.size}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the record that came next where `state_dict` was called.

        Raises:
            FormatError: It is the state of a file of another size.
        """
        self._begin_in_child()
        self._require("load_state_dict", writable=False)
        if state.get("size") != self._file.size:
            raise FormatError(
                f"{type(self).__name__}: the state is of a file of {state.get('size')} bytes, "
                f"and {self.uri!r} has {self._file.size}"
            )
        self._cursor.seek(int(state["offset"]))

    @property
    def skipped(self) -> list[str]:
        """Faults at the positions that `on_error="skip"` has passed over."""
        return [] if self.writable else list(self._cursor.skipped)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.read, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable:
            raise UnsupportedError(
                f"{type(self).__name__}: {self.uri!r} is open for writing and cannot be pickled, "
                "for opening it again would empty it; close it, and open it for reading"
            )
        return {name: value for name, value in vars(self).items() if name not in ("_cursor", "_file")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, is_open=False)
        if state["is_open"]:
            self.open()

    def _begin_in_child(self) -> None:
        if self.is_open and not self.writable and self._process != os.getpid():
            self.reset()

    def _require(self, what: str, writable: bool) -> None:
        who = type(self).__name__
        if not self.is_open:
            raise EngineError(f"{who}: {what}: {self.uri!r} is closed; reset() opens it again")
        if self.writable != writable:
            raise UnsupportedError(
                f"{who}: {what}: {self.uri!r} is open with flag {self.flag!r}, "
                f"expected {'w' if writable else 'r'!r}"
            )
        if self._process != os.getpid():
            raise EngineError(
                f"{who}: {what}: {self.uri!r} was opened by the process that forked this one; "
                + (
                    "open another file here"
                    if writable
                    else "call reset() here to read from the first record"
                )
            )

    def _flush(self) -> None:
        with translated(f"writing {self.uri!r}", "a file"):
            while self._pending:
                del self._pending[: self._out.write(self._pending)]
