"""Graphs bound to arrays: compile once, push a handful of prepared operations a run."""

from operad.executor.arrays import part_of as part_of
from operad.executor.arrays import set_values as set_values
from operad.executor.bind import bind as bind
from operad.executor.bind import simple_bind as simple_bind
from operad.executor.bound import BoundProgram as BoundProgram
from operad.executor.compiling import compiled as compiled
from operad.executor.executor import Executor as Executor
