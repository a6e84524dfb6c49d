"""OpenCV, which resizes, bends and recolours images as MXNet does; an extra, imported where it is needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from operad.errors import PluginError


@cache
def _imported() -> Any:
    return import_module("cv2")  # 0.1 s and 150 MB that plain JPEGs need not pay


def opencv(what: str) -> Any:
    """The module `cv2`.

    Args:
        what: What needs it, for the message.
    Raises:
        PluginError: It is not installed.
    """
    try:
        return _imported()
    except ImportError as error:
        raise PluginError(f"{what} needs OpenCV: pip install 'operad-image[opencv]'") from error
