"""The formats that operad reads: sound files of each, their readers, and what makes a damaged one plausible.

A checksum hides a reader from damage, and nobody who writes a bad file on purpose gets it wrong. So the
checksums of damaged files are made right again: of PNG's chunks, of gzip, of training states and of records.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, final

import cv2

import operad as od
from tests.reliability.seeds import distributions, images, models, records, servers, tables


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


def _image(suffix: str, *options: int) -> Format:
    return Format(images.image_seeds(suffix, *options), images.read_image)


FORMATS: dict[str, Format] = {
    "params": Format(models.params_seeds, lambda path: od.nd.load(str(path))),
    "json": Format(models.json_seeds, models.read_json),
    "json-old": Format(models.old_json_seeds, models.read_old_json),
    "onnx": Format(models.onnx_seeds, lambda path: od.onnx.load(path)),
    "metadata": Format(distributions.metadata_seeds, distributions.read_metadata),
    "states": Format(models.states_seeds, models.read_states),
    "resume": Format(models.resume_seeds, models.read_resume, models.signed),
    "picture": Format(servers.picture_seeds, servers.read_picture),
    "idx": Format(tables.idx_seeds, tables.read_idx),
    "idx-gz": Format(tables.idx_seeds, tables.read_idx_gz),
    "csv": Format(tables.csv_seeds, tables.read_csv),
    "csv-gz": Format(tables.gzip_seeds, tables.read_csv),
    "libsvm": Format(tables.libsvm_seeds, tables.read_libsvm),
    "libsvm-gz": Format(tables.libsvm_seeds, tables.read_libsvm_gz),
    "records": Format(records.record_seeds, records.read_records),
    "index": Format(records.index_seeds, records.read_index),
    "checksums": Format(records.checksum_seeds, records.read_checksums, records.with_crc),
    "list": Format(records.list_seeds, records.read_list),
    "initializer": Format(models.initializer_seeds, models.read_initializer),
    "jpeg": _image(".jpg"),
    "jpeg-progressive": _image(".jpg", cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "jpeg-cmyk": Format(images.cmyk_seeds, images.read_image),
    "png": Format(images.image_seeds(".png"), images.read_image, images.with_chunk_checksums),
    "webp": _image(".webp"),
    "webp-lossless": _image(".webp", cv2.IMWRITE_WEBP_QUALITY, 101),
    "gif": _image(".gif"),
    "bmp": _image(".bmp"),
    "tiff": _image(".tiff"),
    "pnm": Format(images.pnm_seeds, images.read_image),
}
"""Each with a row in SECURITY.md."""
