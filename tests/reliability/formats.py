"""The formats that operad reads: sound files of each, their readers, and what makes a damaged one plausible.

A checksum hides a reader from damage, and nobody who writes a bad file on purpose gets it wrong. So the
checksums of damaged files are made right again: of PNG's chunks, of gzip, of training states and of records.
"""

from __future__ import annotations

import gzip
import hashlib
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, final

import cv2
import numpy as np

import operad as od
from operad.registry.discovery import read_manifest
from operad_image.listing import read_listed
from operad_module.exact_checkpoint import read as read_checkpoint
from operad_module.state_file import read_state, write_state
from tests.reliability.training import network


@final
class Format(NamedTuple):
    """One kind of file.

    Attributes:
        seeds: Makes sound ones.
        read: Reads what stands at a path.
        repaired: Makes checksums of a damaged one right.
    """

    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    repaired: Callable[[bytes], bytes] = bytes


def _written(write: Callable[[str], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "file")
        write(path)
        return Path(path).read_bytes()


def params_seeds() -> list[bytes]:
    """Files of arrays in every form that is written."""
    arrays = {
        "arg:a": od.nd.array(np.arange(12.0).reshape(3, 4)),
        "aux:b": od.nd.array([1, 2, 3], dtype="int8"),
        "e": od.nd.array(np.float16([0.5])),
        "empty": od.nd.zeros((0, 3)),
        "scalar": od.nd.zeros(()),
    }
    forms = (arrays, list(arrays.values()), arrays["e"])
    return [_written(lambda path, data=data: od.nd.save(path, data)) for data in forms]  # type: ignore[misc]


def json_seeds() -> list[bytes]:
    """Symbol files."""
    x, y = od.sym.var("x", shape=(2, 3)), od.sym.var("y", lr_mult=2.0)
    several = od.sym.Group([od.sym.Concat(x, y, dim=1), od.sym.SliceChannel(x, num_outputs=3)[1]])
    return [symbol.tojson().encode() for symbol in (network(), several, od.sym.tanh(x) * 2.0 + y)]


def read_json(path: Path) -> None:
    """A symbol file, and what a user does next."""
    symbol = od.sym.load(str(path))
    known = dict.fromkeys(symbol.list_arguments()[:1], (2, 1, 12, 12))
    symbol.infer_shape_partial(**known)
    symbol.infer_type(**dict.fromkeys(known, "float32"))
    od.sym.load_json(symbol.tojson())


def metadata_seeds() -> list[bytes]:
    """METADATA and entry_points.txt, the two divided by a form feed."""
    metadata = b"Metadata-Version: 2.1\nName: acme-ops\nVersion: 1.0\nRequires-Dist: operad>=0.2,<1\n\nText\n"
    points = (
        b"[operad.operators]\nacme = acme.ops:Acme\nother = acme.ops:Other\n\n[console_scripts]\na = b:c\n"
    )
    return [metadata + b"\f" + points, metadata.replace(b"\n", b"\r\n") + b"\f" + points]


def read_metadata(path: Path) -> None:
    """Plugin metadata, with the damaged distribution in front of a sound one."""
    info = _distribution(path.parent / "damaged", "acme_ops-1.0")
    metadata, _, points = path.read_bytes().partition(b"\f")
    (info / "METADATA").write_bytes(metadata)
    (info / "entry_points.txt").write_bytes(points)
    manifest = read_manifest()
    owners = {owner.name for owner in manifest.distributions}
    if "sound-ops" not in owners:
        raise AssertionError(f"another distribution was lost: {sorted(owners)}")


def _distribution(folder: Path, name: str) -> Path:
    info = folder / f"{name}.dist-info"
    info.mkdir(exist_ok=True, parents=True)
    return info


def only_distributions_of(folder: Path) -> None:
    """Hide what is installed, which takes longer to read than a case does."""
    sound = _distribution(folder / "sound", "sound_ops-1.0")
    (sound / "METADATA").write_text("Metadata-Version: 2.1\nName: sound-ops\nVersion: 1.0\n")
    (sound / "entry_points.txt").write_text("[operad.operators]\nsound = sound.ops:Sound\n")
    places = [place for place in sys.path if "site-packages" not in place]
    sys.path[:] = [str(folder / "damaged"), str(folder / "sound"), *places]


def _updater() -> od.optimizer.Updater:
    return od.optimizer.get_updater(od.optimizer.Adam())


def states_seeds() -> list[bytes]:
    """States of optimizers, with settings and without."""
    updater = _updater()
    for index in (0, "fc1_weight"):
        updater(index, od.nd.ones((3,)), od.nd.ones((3,)))
    return [updater.get_states(), updater.get_states(dump_optimizer=True)]


def read_states(path: Path) -> None:
    """States, and a step of training with them.

    Settings are put back before it: numbers that a file gives an optimizer are as good as a program's own.
    """
    updater = _updater()
    own = dict(vars(updater.optimizer))
    updater.set_states(path.read_bytes())
    vars(updater.optimizer).update(own)
    for index in list(updater.states):
        updater(index, od.nd.ones((3,)), od.nd.ones((3,)))
    od.nd.waitall()


_STATE_HEAD = len(b"operad training state 1 ") + 65


def resume_seeds() -> list[bytes]:
    """Training states."""
    tree = {
        "unit": "epochs",
        "params": "",
        "state": {"a": [np.arange(3), 1.5, b"x"], "b": {"c": np.float32(2)}},
    }
    return [_written(lambda path: write_state(path, tree))]


def read_resume(path: Path) -> None:
    """A training state, alone and as part of a checkpoint."""
    read_state(path)
    (path.parent / "case-0001.resume").write_bytes(path.read_bytes())
    (path.parent / "case-0001.params").write_bytes(b"")
    read_checkpoint(str(path.parent / "case-0001.resume"))


def _signed(data: bytes) -> bytes:
    body = data[_STATE_HEAD:]
    return b"operad training state 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def idx_seeds() -> list[bytes]:
    """Images and labels of MNIST's format, the two divided by a mark."""
    images = struct.pack(">IIII", 2051, 5, 4, 3) + bytes(range(60))
    return [images + _MARK + struct.pack(">II", 2049, 5) + bytes(5)]


_MARK = b"--------"


def read_idx(path: Path) -> None:
    """Both files, as they are."""
    images, _, labels = path.read_bytes().partition(_MARK)
    _read_mnist(path, images, labels)


def read_idx_gz(path: Path) -> None:
    """Both files, compressed."""
    images, _, labels = path.read_bytes().partition(_MARK)
    _read_mnist(path, gzip.compress(images, 1), gzip.compress(labels, 1))


def _read_mnist(path: Path, images: bytes, labels: bytes) -> None:
    (path.parent / "images").write_bytes(images)
    (path.parent / "labels").write_bytes(labels)
    for _ in od.io.MNISTIter(image=path.parent / "images", label=path.parent / "labels", batch_size=2):
        pass


def gzip_seeds() -> list[bytes]:
    """A compressed CSV file."""
    return [gzip.compress(data, mtime=0) for data in csv_seeds()]


def csv_seeds() -> list[bytes]:
    """Lines of numbers."""
    return [b"1,2,3\n4,5.5,6e-1\n-7,8,9\n" * 5, b"0.25,1,2\r\n" * 3]


def read_csv(path: Path) -> None:
    """A CSV file, compressed or not."""
    for _ in od.io.CSVIter(path, (3,), batch_size=2):
        pass


def libsvm_seeds() -> list[bytes]:
    """Lines of labels and pairs."""
    return [b"1 0:1.5 2:3\n-1 1:2\n0\n" * 4]


def read_libsvm(path: Path) -> None:
    """A LibSVM file."""
    for _ in od.io.LibSVMIter(data_libsvm=path, data_shape=(3,), batch_size=2):
        pass


def _images() -> list[bytes]:
    pixels = np.random.default_rng(0).integers(0, 255, (9, 12, 3)).astype(np.uint8)
    return [_encoded(".jpg", pixels), _encoded(".png", pixels)]


def record_seeds() -> list[bytes]:
    """Records of images, one of them in parts, since it has the magic word."""

    def write(path: str) -> None:
        with od.recordio.MXRecordIO(path, "w") as out:
            for number, image in enumerate(_images()):
                out.write(od.recordio.pack(od.recordio.IRHeader(0, [number, 1.0], number, 0), image))
            out.write(od.recordio.pack(od.recordio.IRHeader(0, 1.0, 7, 0), b"\x0a\x23\xd7\xce" * 9))

    return [_written(write)]


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


def _with_crc(data: bytes) -> bytes:
    body = data[:-4]
    return body + zlib.crc32(body).to_bytes(4, "little")


def list_seeds() -> list[bytes]:
    """Lists of images."""
    return [b"0\t1.0\ta.jpg\n1\t2\t3\tb/c.jpg\n2\t0.5\t../d.jpg\n"]


def read_list(path: Path) -> None:
    """A list, for packing and for reading."""
    (path.parent / "a.jpg").write_bytes(_images()[0])
    images = od.image.ImageIter(1, (3, 8, 8), path_imglist=str(path), path_root=str(path.parent))
    for _ in range(3):
        with suppress(od.OperadError, StopIteration):
            images.next()
    read_listed(str(path))


def initializer_seeds() -> list[bytes]:
    """Texts that describe initializers, which symbol files have of their variables."""
    return [od.initializer.Xavier(magnitude=2).dumps().encode(), od.initializer.Constant(3).dumps().encode()]


def read_initializer(path: Path) -> None:
    """A description as a variable of a symbol has it, and an array that it fills."""
    text = path.read_bytes().decode(errors="surrogateescape")
    described = od.initializer.InitDesc("fc_weight", {"__init__": text})
    od.initializer.Zero()(described, od.nd.zeros((2, 3)))
    od.nd.waitall()


def _encoded(suffix: str, pixels: np.ndarray, *options: int) -> bytes:
    return bytes(cv2.imencode(suffix, pixels, list(options))[1])


def image_seeds(suffix: str, *options: int) -> Callable[[], list[bytes]]:
    """Makes images of a format."""

    def seeds() -> list[bytes]:
        rng = np.random.default_rng(0)
        shapes = [(9, 12, 3), (16, 16, 3), (40, 3, 3)]
        return [_encoded(suffix, rng.integers(0, 255, s).astype(np.uint8), *options) for s in shapes]

    return seeds


def cmyk_seeds() -> list[bytes]:
    """JPEGs of four inks: of a picture of one, made by hand."""
    table = b"\xff\xdb\x00\x43\x00" + bytes([1] * 64)
    start = b"\xff\xc0" + struct.pack(">HBHHB", 20, 8, 16, 16, 4)
    start += b"".join(bytes([c, 0x11, 0]) for c in (1, 2, 3, 4))
    codes = b"".join(
        b"\xff\xc4\x00\x14" + kind + bytes([1] + [0] * 15) + b"\x00" for kind in (b"\x00", b"\x10")
    )
    scan = (
        b"\xff\xda"
        + struct.pack(">HB", 14, 4)
        + b"".join(bytes([c, 0]) for c in (1, 2, 3, 4))
        + b"\x00\x3f\x00"
    )
    adobe = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
    return [b"\xff\xd8" + adobe + table + start + codes + scan + bytes(40) + b"\xff\xd9"]


def read_image(path: Path) -> None:
    """An image in colours, in gray, and as it is."""
    for flag in (1, 0, -1):
        od.image.imread(str(path), flag)


def _with_chunk_checksums(data: bytes) -> bytes:
    """A PNG whose chunks are as long as they say and checked, as far as they follow each other."""
    found, at = bytearray(data), 8
    while at + 12 <= len(found):
        (length,) = struct.unpack_from(">I", found, at)
        end = at + 8 + length
        if end + 4 > len(found):
            break
        found[end : end + 4] = zlib.crc32(bytes(found[at + 4 : end])).to_bytes(4, "big")
        at = end + 4
    return bytes(found)


def _image(suffix: str, *options: int) -> Format:
    return Format(image_seeds(suffix, *options), read_image)


FORMATS: dict[str, Format] = {
    "params": Format(params_seeds, lambda path: od.nd.load(str(path))),
    "json": Format(json_seeds, read_json),
    "metadata": Format(metadata_seeds, read_metadata),
    "states": Format(states_seeds, read_states),
    "resume": Format(resume_seeds, read_resume, _signed),
    "idx": Format(idx_seeds, read_idx),
    "idx-gz": Format(idx_seeds, read_idx_gz),
    "csv": Format(csv_seeds, read_csv),
    "csv-gz": Format(gzip_seeds, read_csv),
    "libsvm": Format(libsvm_seeds, read_libsvm),
    "records": Format(record_seeds, read_records),
    "index": Format(index_seeds, read_index),
    "checksums": Format(checksum_seeds, read_checksums, _with_crc),
    "list": Format(list_seeds, read_list),
    "initializer": Format(initializer_seeds, read_initializer),
    "jpeg": _image(".jpg"),
    "jpeg-progressive": _image(".jpg", cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "jpeg-cmyk": Format(cmyk_seeds, read_image),
    "png": Format(image_seeds(".png"), read_image, _with_chunk_checksums),
    "webp": _image(".webp"),
    "webp-lossless": _image(".webp", cv2.IMWRITE_WEBP_QUALITY, 101),
    "gif": _image(".gif"),
    "bmp": _image(".bmp"),
    "tiff": _image(".tiff"),
    "pnm": _image(".ppm"),
}
"""Each with a row in SECURITY.md."""
