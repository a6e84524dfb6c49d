"""Shares of each thread's time: operations, the nodes inside them, and whatever runs inside a node.

A node's operator may run operations of its own, and these may be graphs with nodes. So time belongs to the
span that began last among those that are open: its *own* time. Own times and idle time add up to the window.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, final

from operad_profiler.profiled import ProfiledNode
from operad_profiler.recording import NodeRuns, Run, Thread


@final
class Span:
    """An operation or a node in one thread.

    Attributes:
        what: The operation, or the node.
        own_s: Its time without that of the spans inside it.
        is_segment: Whether it is an operation whose nodes are known.
    """

    __slots__ = ("is_segment", "own_s", "start_s", "stop_s", "what")

    def __init__(self, what: Run | ProfiledNode, start_s: float, stop_s: float) -> None:
        self.what = what
        self.start_s = start_s
        self.stop_s = stop_s
        self.own_s = 0.0
        self.is_segment = False

    @property
    def key(self) -> _Order:
        """Sorts what contains another before it."""
        return _Order(self.start_s, -self.stop_s, isinstance(self.what, ProfiledNode))


@final
class _Order(NamedTuple):
    start_s: float
    minus_stop_s: float
    is_node: bool


def spans_of(runs: Iterable[Run], node_runs: Iterable[NodeRuns]) -> dict[Thread, list[Span]]:
    """Every operation and node, by thread, with its own time."""
    found: dict[Thread, list[Span]] = {}
    for run in runs:
        if run.device is not None:
            found.setdefault(run.thread, []).append(Span(run, run.start_s, run.stop_s))
    for segment in node_runs:
        times_s, own = segment.times_s, found.setdefault(segment.thread, [])
        for node, start_s, stop_s in zip(segment.nodes, times_s, times_s[1:], strict=False):
            own.append(Span(node, start_s, stop_s))
    for spans in found.values():
        spans.sort(key=lambda span: span.key)
        _share_out(spans)
    return found


def _share_out(spans: Iterable[Span]) -> None:
    """Give each span its own time; operations that end in another thread may overlap with what runs here."""
    now_s, open_spans = 0.0, list[Span]()

    def go_on_until(time_s: float) -> None:
        nonlocal now_s
        while open_spans:
            last = open_spans[-1]
            last.own_s += max(0.0, min(last.stop_s, time_s) - now_s)
            now_s = max(now_s, min(last.stop_s, time_s))
            if last.stop_s > time_s:
                break
            open_spans.pop()
        now_s = max(now_s, time_s)

    for span in spans:
        go_on_until(span.start_s)
        if isinstance(span.what, ProfiledNode) and open_spans and isinstance(open_spans[-1].what, Run):
            open_spans[-1].is_segment = True
        open_spans.append(span)
    go_on_until(float("inf"))
