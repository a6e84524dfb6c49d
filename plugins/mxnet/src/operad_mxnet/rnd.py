"""`mx.rnd`: the module `operad.random`, by its short name."""

import sys

import operad.random

sys.modules[__name__] = operad.random
