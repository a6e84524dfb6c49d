"""Modules that MXNet's `test_utils` imports, and that programs take from it."""

from __future__ import annotations

from typing import Final

MODULES: Final = {
    "bz2": "bz2", "errno": "errno", "gzip": "gzip", "json": "json", "logging": "logging", "mx": "operad",
    "nd": "operad.nd", "np": "numpy", "npt": "numpy.testing", "numbers": "numbers", "os": "os",
    "platform": "platform", "rnd": "random", "struct": "struct", "sys": "sys", "time": "time",
    "traceback": "traceback", "zipfile": "zipfile",
}  # fmt: skip
"""Modules by name, which programs have by `from mxnet.test_utils import *`."""
