"""MXNet's short name of `operad.ndarray`: the same module, whichever was imported first."""

import sys
from typing import TYPE_CHECKING

import operad.ndarray
from operad.ndarray import __getattr__ as __getattr__

if TYPE_CHECKING:
    from operad.ndarray import *  # noqa: F403 - for readers of types

sys.modules[__name__] = operad.ndarray
