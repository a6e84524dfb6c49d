"""MXNet's short name of `operad.ndarray`: the same module, whichever was imported first."""

import sys

import operad.ndarray
from operad.ndarray import *  # noqa: F403 - for readers of types; at run time the next line replaces all
from operad.ndarray import __getattr__ as __getattr__

sys.modules[__name__] = operad.ndarray
