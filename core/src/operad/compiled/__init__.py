"""Compiled functions of arrays: one planned program, and one node of the tape."""

from operad.compiled.function import CompiledFunction as CompiledFunction
from operad.compiled.function import compile as compile
from operad.compiled.function import evaluate as evaluate
