"""Record files with what stands beside them, and lists of images."""

from __future__ import annotations

import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np

import operad as od
from operad_image.listing import read_listed
from tests.reliability.seeds.images import small_images
from tests.reliability.seeds.written import written


def record_seeds() -> list[bytes]:
    """Records of images, one of them in parts, since it has the magic word."""

    def write(path: str) -> None:
        with od.recordio.MXRecordIO(path, "w") as out:
            for number, image in enumerate(small_images()):
                out.write(od.recordio.pack(od.recordio.IRHeader(0, [number, 1.0], number, 0), image))
            out.write(od.recordio.pack(od.recordio.IRHeader(0, 1.0, 7, 0), b"\x0a\x23\xd7\xce" * 9))

    return [written(write)]


def read_records(path: Path) -> None:
    """Records one after another, by an index made of them, in parts, and as images."""
    _close_after(path, on_error="skip")
    for part in range(2):
        list(od.recordio.RecordPart(path, 2, part, on_error="skip"))
    with suppress(od.OperadError, StopIteration):
        od.image.ImageIter(1, (3, 8, 8), label_width=2, path_imgrec=str(path)).next()
    with suppress(od.OperadError, StopIteration):
        od.image.ImageDetIter(1, (3, 8, 8), path_imgrec=str(path)).next()
    od.recordio.build_index(path, path.parent / "made.idx", checksums=True)
    _close_after(path, checksums=True)


def _close_after(path: Path, **options: object) -> None:
    with od.recordio.MXRecordIO(path, "r", **options) as records:
        for payload in records:
            header, _ = od.recordio.unpack(payload)
            np.asarray(header.label)


def index_seeds() -> list[bytes]:
    """Indexes of record files."""
    return [b"0\t0\n1\t340\n2\t704\n"]


def read_index(path: Path) -> None:
    """An index, for one record after another and for images."""
    records = path.parent / "sound.rec"
    records.write_bytes(record_seeds()[0])
    with od.recordio.MXIndexedRecordIO(path, records, "r") as found:
        for key in found.keys:
            with suppress(od.OperadError):
                found.read_idx(key)
    with suppress(StopIteration):
        od.image.ImageIter(
            1, (3, 8, 8), label_width=2, path_imgrec=str(records), path_imgidx=str(path)
        ).next()


def checksum_seeds() -> list[bytes]:
    """Checksums of a record file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.rec"
        path.write_bytes(record_seeds()[0])
        od.recordio.build_index(path, checksums=True)
        return [(path.parent / "a.rec.crc").read_bytes()]


def read_checksums(path: Path) -> None:
    """The checksums of a sound record file."""
    records = path.parent / "sound.rec"
    records.write_bytes(record_seeds()[0])
    (path.parent / "sound.rec.crc").write_bytes(path.read_bytes())
    _close_after(records, checksums=True)


def with_crc(data: bytes) -> bytes:
    """Checksums with the checksum of their own."""
    body = data[:-4]
    return body + zlib.crc32(body).to_bytes(4, "little")


def list_seeds() -> list[bytes]:
    """Lists of images."""
    return [b"0\t1.0\ta.jpg\n1\t2\t3\tb/c.jpg\n2\t0.5\t../d.jpg\n"]


def read_list(path: Path) -> None:
    """A list, for packing and for reading."""
    (path.parent / "a.jpg").write_bytes(small_images()[0])
    images = od.image.ImageIter(1, (3, 8, 8), path_imglist=str(path), path_root=str(path.parent))
    for _ in range(3):
        with suppress(od.OperadError, StopIteration):
            images.next()
    read_listed(str(path))
