"""Contracts of operators (`operad.op`), as authors import them, and what plugins add, such as `CustomOp`."""

import warnings as _warnings
from typing import Any as _Any

from operad.front import added as _added
from operad.op import *  # noqa: F403 - all of it
from operad.op import ArgumentSlot as _ArgumentSlot
from operad.resource import OwnResources as OwnResources  # noqa: PLC0414 - exported
from operad.resource import ResourceRequest as ResourceRequest  # noqa: PLC0414 - exported


def __getattr__(name: str) -> _Any:
    """An attribute that a plugin adds; the package that would is named where none is installed."""
    if name == "Place":
        _warnings.warn(
            "operad.operator.Place is ArgumentSlot since operad 0.3; the old name ends with 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        return _ArgumentSlot
    return _added("operator", name)
