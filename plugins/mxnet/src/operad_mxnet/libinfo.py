"""`mx.libinfo`: where the library lies; here, the folders of the core and its version."""

from __future__ import annotations

from pathlib import Path

import operad
from operad.errors import UnsupportedError

__version__ = operad.__version__


def find_lib_path(prefix: str = "libmxnet") -> list[str]:
    """The folder of the core's modules, in a list: there is no shared library."""
    return [str(Path(operad.__file__).parent)]


def find_include_path() -> str:
    """Raises UnsupportedError: there is nothing to compile against."""
    raise UnsupportedError("find_include_path: there are no headers; write operators with operad_sdk")
