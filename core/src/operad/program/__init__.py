"""Compiled graphs and how they run: one runner for bound graphs and for recorded ones."""

from operad.program.binding import Binding as Binding
from operad.program.binding import Pool as Pool
from operad.program.code import KeptCalls as KeptCalls
from operad.program.code import SegmentCode as SegmentCode
from operad.program.profile import NodeObserver as NodeObserver
from operad.program.profile import node_profiling as node_profiling
from operad.program.program import Program as Program
from operad.program.program import compile_graph as compile_graph
from operad.program.segment import Segment as Segment
from operad.program.segment import codes as codes
from operad.program.segment import run_kept as run_kept
from operad.program.segment import segments as segments
