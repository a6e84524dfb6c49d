"""Packing the images of a list into a record file and its index.

Threads read, resize and encode; records are written in the order of the list. While a file is being packed
there is no index, and a file beside it says from what it is made. Packing the same again goes on behind the
last whole record; anything else starts over.

Workers that divide a list pack one part each (`parts`).

Source: image_encode and write_worker, tools/im2rec.py.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, final

import numpy as np

import operad
from operad.errors import FormatError, OperadError, OutOfMemoryError
from operad.files import translated, write_atomically
from operad.interrupts import block_signals
from operad_files import read_bytes
from operad_image.codec import decode, encode
from operad_image.listing import Listed, read_listed
from operad_image.parts import content_of, files_of, list_digest, part_of
from operad_image.paths import inside
from operad_image.pixels import resize, shorter_edge


@final
@dataclass(frozen=True, slots=True)
class Packing:
    """Options for packing images.

    Attributes:
        root: The folder in which the list's paths begin.
        resize: Resize the shorter edge to this; 0: do not.
        center_crop: Crop to the central square first.
        quality: JPEG quality, 1 to 100, or PNG compression, 0 to 9.
        encoding: `.jpg` or `.png`.
        channels: 3: colours; 1: gray; None: as the image has them.
        pass_through: Pack the files without decoding them.
        pack_label: Pack all labels of an image, not the first alone.
        skips_errors: Leave out what cannot be read, instead of stopping.
    """

    root: str
    resize: int = 0
    center_crop: bool = False
    quality: int = 95
    encoding: str = ".jpg"
    channels: int | None = 3
    pass_through: bool = False
    pack_label: bool = False
    skips_errors: bool = False

    def record(self, image: Listed) -> bytes:
        """The record of one image.

        Raises:
            FormatError: Its file cannot be decoded; the message names it.
            OSError: It cannot be read.
        """
        path = inside(self.root, image.path, f"the list, number {image.number},")
        content = read_bytes(path, f"image {path!r}")
        if not self.pass_through:
            try:
                content = encode(self._changed(decode(content, self.channels)), self.encoding, self.quality)
            except (FormatError, OutOfMemoryError) as error:
                raise type(error)(f"{path!r}: {error}") from error
        label = image.labels if self.pack_label and len(image.labels) > 1 else image.labels[0]
        return bytes(operad.recordio.pack(operad.recordio.IRHeader(0, label, image.number, 0), content))

    def _changed(self, pixels: Any) -> Any:
        height, width = pixels.shape[:2]
        if self.center_crop and height != width:
            edge = min(height, width)
            top, left = (height - edge) // 2, (width - edge) // 2
            pixels = pixels[top : top + edge, left : left + edge]
        if self.resize:
            height, width = shorter_edge(pixels, self.resize)
            pixels = resize(pixels, width, height)
        return np.ascontiguousarray(pixels)


def pack_list(
    path: str,
    packing: Packing,
    num_threads: int = 1,
    advance: Callable[[str], None] = lambda done: None,
    begin_anew: bool = False,
    num_parts: int = 1,
    part_index: int = 0,
) -> tuple[int, list[str]]:
    """Pack the images of the list `path`, PREFIX.lst, into PREFIX.rec and PREFIX.idx, or a part of them.

    Args:
        num_threads: That read and encode.
        advance: Called after each image with what was packed, those of an earlier call among them.
        begin_anew: Whether to pack again what an interrupted call has packed.
        num_parts: Of which this call packs one, into PREFIX.part-R-of-N.rec and .idx; 1: the whole list.
        part_index: From 0.
    Returns:
        How many records the file has, and what was wrong with images that were left out.
    Raises:
        FormatError: An image is damaged, or the list; unless `packing` skips errors.
        ParamError: There is no such part.
    """
    images = part_of(read_listed(path), num_parts, part_index)
    records, index, partial = files_of(path, num_parts, part_index)
    made_from = json.dumps([asdict(packing), list_digest(path)]).encode()
    done = 0
    if not begin_anew and os.path.exists(records) and content_of(partial) == made_from:
        done = _whole_records(records, images)
    else:
        write_atomically(partial, made_from)
        with translated(f"writing {records!r}", "a path"), open(records, "wb"):
            pass
    with translated(f"removing {index!r}", "a path"), suppress(FileNotFoundError):
        os.unlink(index)
    failures: list[str] = []
    for image in images[:done]:
        advance(image.path)
    with (
        operad.recordio.MXRecordIO(records, "a") as out,
        ThreadPoolExecutor(num_threads, initializer=block_signals) as threads,
    ):
        for image, made in _in_order(threads, packing.record, images[done:], 4 * num_threads):
            try:
                out.write(made.result())
            except (OperadError, OSError) as error:
                if not packing.skips_errors:
                    threads.shutdown(wait=False, cancel_futures=True)
                    raise
                failures.append(str(error))
            advance(image.path)
    count = _write_index(records, index)
    if num_parts == 1:
        with translated(f"removing {partial!r}", "a path"):
            os.unlink(partial)
    return count, failures


def _in_order(
    threads: ThreadPoolExecutor, work: Callable[[Listed], bytes], images: Sequence[Listed], ahead: int
) -> Iterator[tuple[Listed, Future[bytes]]]:
    """Each image with what becomes of it; at most `ahead` of them in memory."""
    left = iter(images)
    begun = deque((image, threads.submit(work, image)) for image in islice(left, ahead))
    while begun:
        yield begun.popleft()
        begun.extend((image, threads.submit(work, image)) for image in islice(left, 1))


def _whole_records(path: str, images: Sequence[Listed]) -> int:
    """Cut a half-written record off, and say how many images of the list need no more packing."""
    position_of = {image.number: position for position, image in enumerate(images)}
    done = end = 0
    with operad.recordio.RecordFile(path) as file:
        try:
            while end < file.size:
                payload, following = file.read(end)
                header, _ = operad.recordio.unpack(payload)
                done, end = position_of[header.id] + 1, following
        except (FormatError, KeyError):
            pass  # from here on it is packed again
    with translated(f"writing {path!r}", "a path"):
        os.truncate(path, end)
    return done


def _write_index(records: str, index: str) -> int:
    lines = []
    with operad.recordio.MXRecordIO(records, "r") as file:
        at = 0
        for payload in file:
            header, _ = operad.recordio.unpack(memoryview(payload))
            lines.append(f"{header.id}\t{at}\n")
            at = file.tell()
    write_atomically(index, "".join(lines).encode())
    return len(lines)
