"""MXNet's short name of `operad.symbol`: the same module, whichever was imported first."""

import sys

import operad.symbol
from operad.symbol import *  # noqa: F403 - for readers of types; at run time the next line replaces all
from operad.symbol import __getattr__ as __getattr__

sys.modules[__name__] = operad.symbol
