"""Checksums of a record file, in a file beside it, so that the record file stays as MXNet writes it.

    sidecar := "operadC1" | number of records u64 | bytes of the record file u64
             | offset u64 of each record | crc32 u32 of each payload | crc32 u32 of all this

Everything is little-endian. The sidecar is written when the record file is closed, as a whole or not at all.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from operad.errors import FormatError
from operad.files import write_atomically
from operad_files import read_bytes

SUFFIX: Final = ".crc"
"""Suffix of the sidecar's name behind that of the record file."""

_MARK: Final = b"operadC1"
_HEAD: Final = struct.Struct("<8sQQ")


def write_checksums(path: str, offsets: Sequence[int], sums: Sequence[int], size: int) -> None:
    """Write the sidecar of the record file `path`.

    Args:
        offsets: Of the records, ascending, in bytes.
        sums: The crc32 of each payload.
        size: Bytes of the record file.
    """
    body = b"".join(
        (
            _HEAD.pack(_MARK, len(offsets), size),
            np.asarray(offsets, "<u8").tobytes(),
            np.asarray(sums, "<u4").tobytes(),
        )
    )
    write_atomically(path + SUFFIX, body + zlib.crc32(body).to_bytes(4, "little"))


@final
class Checksums:
    """Content of the sidecar of a record file."""

    def __init__(
        self, path: str, offsets: np.ndarray[Any, Any], sums: np.ndarray[Any, Any], size: int
    ) -> None:
        self._path, self._offsets, self._sums, self._size = path, offsets, sums, size

    @classmethod
    def of(cls, path: str) -> Checksums:
        """Checksums of the record file `path`.

        Raises:
            FormatError: There is no sidecar, or it is damaged.
        """
        sidecar = path + SUFFIX
        if not os.path.exists(sidecar):
            raise FormatError(
                f"{path!r}: there are no checksums {sidecar!r}; write the file with checksums=True, "
                "or make them with recordio.build_index(..., checksums=True)"
            )
        content = read_bytes(sidecar, f"checksums {sidecar!r}")
        body = content[:-4]
        if len(body) < _HEAD.size or zlib.crc32(body).to_bytes(4, "little") != content[-4:]:
            raise FormatError(f"{sidecar!r}: it is no whole file of checksums; make it again")
        mark, count, size = _HEAD.unpack_from(body)
        if mark != _MARK or len(body) != _HEAD.size + 12 * count:
            raise FormatError(f"{sidecar!r}: it is no file of checksums of this version; make it again")
        offsets = np.frombuffer(body, "<u8", count, _HEAD.size)
        return cls(path, offsets, np.frombuffer(body, "<u4", count, _HEAD.size + 8 * count), size)

    def check(self, offset: int, payload: bytes) -> None:
        """Compare the record at `offset`.

        Raises:
            FormatError: It is not what was written.
        """
        number = int(np.searchsorted(self._offsets, offset))
        if number == len(self._offsets) or self._offsets[number] != offset:
            raise FormatError(f"{self._path!r}: according to the checksums no record begins at byte {offset}")
        found = zlib.crc32(payload)
        if found != self._sums[number]:
            raise FormatError(
                f"{self._path!r}: the record at byte {offset} is damaged: expected crc32 "
                f"{self._sums[number]:#010x}, got {found:#010x}; on_error='skip' goes on with the next record"
            )

    def check_end(self, offset: int) -> None:
        """Make sure that the file ends at `offset`, where reading has ended.

        Raises:
            FormatError: It had more records.
        """
        if offset < self._size:
            left = len(self._offsets) - int(np.searchsorted(self._offsets, offset))
            raise FormatError(
                f"{self._path!r}: it ends at byte {offset}, expected {self._size} bytes: "
                f"{left} records are missing"
            )

    def next_offset(self, offset: int) -> int:
        """Offset of the first record at `offset` or behind it; the file's size where there is none."""
        number = int(np.searchsorted(self._offsets, offset))
        return self._size if number == len(self._offsets) else int(self._offsets[number])
