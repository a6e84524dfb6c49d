"""`mx.name`: the module `operad.symbol.name`, importable by its short name."""

import sys

import operad

sys.modules[__name__] = operad.name
