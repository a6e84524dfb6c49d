"""MXNet's short name of `operad.symbol`: the same module, whichever was imported first."""

import sys
from typing import TYPE_CHECKING

import operad.symbol
from operad.symbol import __getattr__ as __getattr__

if TYPE_CHECKING:
    from operad.symbol import *  # noqa: F403 - for readers of types

sys.modules[__name__] = operad.symbol
