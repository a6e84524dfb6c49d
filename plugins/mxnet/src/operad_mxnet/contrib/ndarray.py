"""`mx.contrib.ndarray`: the module `operad.ndarray.contrib`, by its older name."""

import sys

from operad import ndarray

sys.modules[__name__] = ndarray.contrib
