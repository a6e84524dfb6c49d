"""Records of images: encoded and decoded by the package that has the codecs, `operad-image`.

Source: pack_img and unpack_img, python/mxnet/recordio.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import operad
from operad_recordio.header import pack, unpack


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """A record of a header and an image, encoded.

    Args:
        header: An `IRHeader`.
        img: uint8, (height, width, 3) with the channels in OpenCV's order, blue, green, red; or gray,
            (height, width).
        quality: Of a JPEG, 1 to 100; or the compression of a PNG, 0 to 9.
        img_fmt: `.jpg` or `.png`.
    """
    return pack(header, operad.image.codec.encode(_array(img), img_fmt, quality, is_bgr=True))


def unpack_img(s: Any, iscolor: int = -1) -> tuple[Any, np.ndarray[Any, Any]]:
    """The header of a record, and its image.

    Args:
        s: The record.
        iscolor: 1: three channels, in OpenCV's order, blue, green, red; 0: gray; -1: as the image is.
    """
    header, image = unpack(s)
    return header, operad.image.codec.decode(image, channels={0: 1, 1: 3}.get(iscolor), is_bgr=True)


def _array(img: Any) -> np.ndarray[Any, Any]:
    return np.asarray(img.asnumpy() if hasattr(img, "asnumpy") else img)
