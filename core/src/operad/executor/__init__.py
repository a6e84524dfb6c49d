"""Graphs bound to arrays: compile once, push a handful of prepared operations a run."""

from operad.executor.bind import bind as bind
from operad.executor.bind import simple_bind as simple_bind
from operad.executor.executor import Executor as Executor
from operad.executor.training import TrainingProgram as TrainingProgram
from operad.executor.whole_step import UpdateCall as UpdateCall
