"""`mx.contrib.symbol`: the module `operad.symbol.contrib`, by its older name."""

import sys

from operad import symbol

sys.modules[__name__] = symbol.contrib
