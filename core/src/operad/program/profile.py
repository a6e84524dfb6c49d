"""Times of the nodes inside a segment, for a profiler.

A segment is one loop in C over its calls, which knows no clock. While nodes are observed, segments are
pushed in another form, whose loop reads the clock behind every call. So nothing is asked for each node while
none is observed, and a change takes effect with the next push, also of what was bound before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Final, final

from operad import engine
from operad.device import cpu

if TYPE_CHECKING:
    from operad.program.program import Program


NodeObserver = Callable[["Program", Sequence[int], Sequence[float]], object]
"""Takes a program, the numbers of a segment's nodes, and when the first began and each ended.

Times are those of `time.perf_counter`. Where a node failed, it is the last that has ended.
"""


@final
class _NodeProfiling:
    """The observer of nodes, in the whole process; None: there is none."""

    __slots__ = ("observer",)

    def __init__(self) -> None:
        self.observer: NodeObserver | None = None


node_profiling: Final = _NodeProfiling()


@final
class Timeline:
    """The nodes behind a segment's calls.

    Args:
        program: What they are nodes of.
        node_ids: The node of each call.
    """

    __slots__ = ("_edges", "_node_ids", "_num_calls", "_program")

    def __init__(self, program: Program, node_ids: Sequence[int]) -> None:
        self._program = program
        self._node_ids = tuple(dict.fromkeys(node_ids))
        self._num_calls = len(node_ids)
        # With which call each node begins; at the end of one the next begins.
        self._edges = [
            0,
            *[i for i in range(1, len(node_ids)) if node_ids[i] != node_ids[i - 1]],
            len(node_ids),
        ]

    def report(self, times_s: list[float]) -> None:
        """Tell the observer of a run.

        Args:
            times_s: When the first call began, and when each ended.
        """
        observer = node_profiling.observer
        if observer is None:
            return
        edges = self._edges
        if len(times_s) <= self._num_calls:  # the next call has failed, and is the end of its node
            edges = [edge for edge in edges if edge < len(times_s)] + [len(times_s)]
            times_s.append(perf_counter())
        if len(edges) != len(times_s):  # some nodes have several calls
            times_s = [times_s[edge] for edge in edges]
        try:
            observer(self._program, self._node_ids, times_s)
        except Exception as error:  # noqa: BLE001 - it must not fail the segment; a wait raises it
            node_profiling.observer = None
            _raise_at_a_wait(error)


def _raise_at_a_wait(error: Exception) -> None:
    def fail(_: object) -> None:
        raise error

    engine.get().push_sync(fail, cpu(), name="node_observer")
