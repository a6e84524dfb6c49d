"""Contracts of operators (`operad.op`), as authors import them, and what plugins add, such as `CustomOp`."""

from typing import Any as _Any

from operad.front import added as _added
from operad.op import *  # noqa: F403 - all of it
from operad.resource import OwnResources as OwnResources  # noqa: PLC0414 - exported
from operad.resource import ResourceRequest as ResourceRequest  # noqa: PLC0414 - exported


def __getattr__(name: str) -> _Any:
    """An attribute that a plugin adds; the package that would is named where none is installed."""
    return _added("operator", name)
