"""Graphs bound to arrays: compile once, push a handful of prepared operations a run."""

from operad.executor.arrays import part_of as part_of
from operad.executor.arrays import set_values as set_values
from operad.executor.bind import bind as bind
from operad.executor.bind import simple_bind as simple_bind
from operad.executor.bound import BoundProgram as BoundProgram
from operad.executor.compiled import compiled as compiled
from operad.executor.executor import Executor as Executor
from operad.imperative import ABSENT as ABSENT
from operad.imperative import Access as Access
from operad.imperative import ArraySpec as ArraySpec
from operad.imperative import Invoker as Invoker
from operad.imperative import RunTime as RunTime
from operad.imperative import find_invoker as find_invoker
from operad.imperative import overlap_check as overlap_check
