"""Images of each format."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

import operad as od
from plugins.image.tests.handmade import cmyk

_COLOURS = ((9, 12, 3), "uint8"), ((16, 16, 3), "uint8"), ((40, 3, 3), "uint8")
_GRAY, _DEEP_GRAY, _ALPHA = ((9, 12, 1), "uint8"), ((9, 12, 1), "uint16"), ((9, 12, 4), "uint8")
_PIXELS = {
    ".jpg": (*_COLOURS, _GRAY),
    ".png": (*_COLOURS, _GRAY, _DEEP_GRAY, _ALPHA),
    ".webp": (*_COLOURS, _ALPHA),
    ".bmp": (*_COLOURS, _GRAY, _ALPHA),
    ".tiff": (*_COLOURS, _GRAY, _DEEP_GRAY, _ALPHA),
    ".pgm": (_GRAY, _DEEP_GRAY),
    ".pbm": (_GRAY,),
}
"""Shapes and types of each format; others have colours alone."""


def image_seeds(suffix: str, *options: int) -> Callable[[], list[bytes]]:
    """Makes images of a format."""

    def seeds() -> list[bytes]:
        rng = np.random.default_rng(0)
        pixels = [rng.integers(0, 255, s).astype(dtype) for s, dtype in _PIXELS.get(suffix, _COLOURS)]
        return [bytes(cv2.imencode(suffix, one, list(options))[1]) for one in pixels]

    return seeds


def pnm_seeds() -> list[bytes]:
    """The three kinds, as bytes and as text."""
    return [
        image
        for suffix in (".ppm", ".pgm", ".pbm")
        for is_binary in (1, 0)
        for image in image_seeds(suffix, cv2.IMWRITE_PXM_BINARY, is_binary)()
    ]


def cmyk_seeds() -> list[bytes]:
    """A JPEG of four inks."""
    return [cmyk(16, 16, 40)]


def small_images() -> list[bytes]:
    """A JPEG and a PNG."""
    return [image_seeds(suffix)()[0] for suffix in (".jpg", ".png")]


def read_image(path: Path) -> None:
    """An image in colours, in gray, and as it is."""
    for flag in (1, 0, -1):
        od.image.imread(str(path), flag)


def with_chunk_checksums(data: bytes) -> bytes:
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
