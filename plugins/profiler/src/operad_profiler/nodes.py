"""The table of nodes: a row for each node and each other operation, and each thread's share of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

from operad_profiler.profiled import ProfiledNode
from operad_profiler.recording import Run, Thread
from operad_profiler.spans import Span

_TITLES: Final = ("node", "operator", "pass", "kernel", "calls", "total us", "us/call", "GFLOP/s", "GB/s")
_BETWEEN: Final = "(in segments, outside nodes)"
_IDLE: Final = "(idle)"


@final
class Row:
    """A node, or another operation, in all threads; what is one row is alike in all that is shown.

    Attributes:
        node: The node; None for operations that are none.
        operator: The operator's name, or the operation's.
        device: Where it ran.
        own_s: Its own time in each thread, in seconds.
    """

    __slots__ = ("_each_s", "device", "node", "operator", "own_s")

    def __init__(self, what: Run | ProfiledNode) -> None:
        self.node = what if isinstance(what, ProfiledNode) else None
        self.operator = what.operator if isinstance(what, ProfiledNode) else what.name
        self.device = str(what.ctx if isinstance(what, ProfiledNode) else what.device)
        self.own_s: dict[Thread, float] = {}
        self._each_s: list[float] = []

    def add(self, span: Span, thread: Thread) -> None:
        """Count a run."""
        self._each_s.append(span.stop_s - span.start_s)
        self.own_s[thread] = self.own_s.get(thread, 0.0) + span.own_s

    def figures(self) -> dict[str, float]:
        """Number of runs, and their times in milliseconds."""
        total = sum(self._each_s) * 1e3
        return {
            "count": len(self._each_s),
            "total": total,
            "min": min(self._each_s) * 1e3,
            "max": max(self._each_s) * 1e3,
            "avg": total / len(self._each_s),
        }

    @property
    def direction(self) -> str | None:
        """Forward or backward, of a node."""
        return None if self.node is None else "backward" if self.node.is_backward else "forward"

    @property
    def gflops_per_s(self) -> float | None:
        """Multiplications and additions of its products, in billions per second."""
        return None if self.node is None else self._per_s(self.node.flops)

    @property
    def gbytes_per_s(self) -> float | None:
        """Bytes of its arrays, in billions per second."""
        return None if self.node is None else self._per_s(self.node.size_bytes)

    def _per_s(self, amount: float | None) -> float | None:
        total_s = sum(self._each_s)
        return None if amount is None or not total_s else amount * len(self._each_s) / total_s / 1e9


@final
class NodeTable:
    """All rows.

    Attributes:
        threads: The threads in which something ran.
        title: The line above the table.
        between_s: Time of each in segments, but in none of their nodes.
        busy_s: Time of each in operations.
    """

    def __init__(self, threads: Sequence[Thread], window_s: float) -> None:
        self.threads = threads
        self.rows: list[Row] = []
        self.between_s = dict.fromkeys(threads, 0.0)
        self.busy_s = dict.fromkeys(threads, 0.0)
        self.title = f"shares of {window_s * 1e3:.3f} ms"
        self._window_s = window_s

    def sort(self, order: Callable[[Row], float], ascending: bool) -> None:
        """Put the rows in order."""
        self.rows.sort(key=order, reverse=not ascending)

    @property
    def idle_s(self) -> dict[Thread, float]:
        """The window without the time in operations, of each thread."""
        # An operation that ends in the moment in which recording ends may reach past the window.
        return {thread: max(0.0, self._window_s - busy_s) for thread, busy_s in self.busy_s.items()}

    def text(self) -> str:
        """Text of the table."""
        names = ", ".join(f"[{number}] {thread.name}" for number, thread in enumerate(self.threads))
        lines = [[*_TITLES, *[f"[{number}] %" for number in range(len(self.threads))]]]
        for row in self.rows:
            figures = row.figures()
            cells = [
                "" if row.node is None else row.node.name, row.operator, row.direction or "",
                "" if row.node is None else row.node.kernel or "", str(figures["count"]),
                f"{figures['total'] * 1e3:.1f}", f"{figures['avg'] * 1e3:.2f}",
                *["" if speed is None else f"{speed:.2f}" for speed in (row.gflops_per_s, row.gbytes_per_s)],
            ]  # fmt: skip
            lines.append([*cells, *self._percent(row.own_s)])
        for title, time_s in ((_BETWEEN, self.between_s), (_IDLE, self.idle_s)):
            cells = [title, "", "", "", "", f"{sum(time_s.values()) * 1e6:.1f}", "", "", ""]
            lines.append([*cells, *self._percent(time_s)])
        return "\n".join([f"{self.title}; threads: {names or 'none'}", *_aligned(lines)])

    def _percent(self, time_s: Mapping[Thread, float]) -> list[str]:
        return [f"{100 * share:.1f}" for share in self._shares(time_s)]

    def _shares(self, time_s: Mapping[Thread, float]) -> list[float]:
        return [time_s.get(thread, 0.0) / (self._window_s or 1.0) for thread in self.threads]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "Nodes": [
                {
                    "Name": None if row.node is None else row.node.name,
                    "Operator": row.operator,
                    "Pass": row.direction,
                    "Kernel": None if row.node is None else row.node.kernel,
                    "Device": row.device,
                    **{column.title(): value for column, value in row.figures().items()},
                    "Bytes": None if row.node is None else row.node.size_bytes,
                    "Flops": None if row.node is None else row.node.flops,
                    "GFLOP/s": row.gflops_per_s,
                    "GB/s": row.gbytes_per_s,
                    "Shares": self._shares(row.own_s),
                }
                for row in self.rows
            ],
            "Threads": [
                {
                    "Name": thread.name,
                    "Window": self._window_s * 1e3,
                    "Busy": self.busy_s[thread] * 1e3,
                    "Outside nodes": self.between_s[thread] * 1e3,
                    "Idle": self.idle_s[thread] * 1e3,
                }
                for thread in self.threads
            ],
        }


def node_table(spans: Mapping[Thread, Sequence[Span]], window_s: float) -> NodeTable:
    """The table of what ran in each thread, in the order in which it first ran."""
    table = NodeTable(sorted(spans), window_s)
    rows: dict[Any, Row] = {}
    for thread, own in spans.items():
        for span in own:
            table.busy_s[thread] += span.own_s
            if span.is_segment:
                table.between_s[thread] += span.own_s
                continue
            what = span.what
            key = what if isinstance(what, ProfiledNode) else (what.name, what.device)
            if key not in rows:
                rows[key] = Row(what)
            rows[key].add(span, thread)
    table.rows = list(rows.values())
    return table


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns of one width: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pads = [str.ljust if column < 4 else str.rjust for column in range(len(widths))]
    return [
        "  ".join(pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)).rstrip()
        for line in lines
    ]
