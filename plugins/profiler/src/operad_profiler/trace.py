"""File of the records in Chrome's trace format, for `chrome://tracing` or ui.perfetto.dev."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Iterator
from typing import Any, Final, final

from operad.files import write_atomically
from operad_profiler.recording import (
    Moment,
    NodeRuns,
    Run,
    Thread,
    check_process,
    config,
    forget,
    moments,
    named,
    node_runs,
    runs,
    stop,
)

_SCOPES: Final = {"process": "p", "thread": "t", "global": "g"}


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write what was recorded to the configured file.

    Args:
        finished: Whether to end recording and forget what was written.
        profile_process: "worker", as in `set_state`.
    """
    check_process("dump", profile_process)
    if finished:
        stop()
    trace = {"traceEvents": list(_Trace().events()), "displayTimeUnit": "ms"}
    write_atomically(config["filename"], json.dumps(trace).encode())
    if finished:
        forget()


@atexit.register
def _dump_the_rest() -> None:
    """Write what is left of a recording for a file that the program has named."""
    if "filename" in named and (runs or node_runs or moments):
        dump()


@final
class _Trace:
    """Makes Chrome's events: those of each record, and one for the name of each thread."""

    def __init__(self) -> None:
        self._threads: dict[Thread, int] = {}

    def events(self) -> Iterator[dict[str, Any]]:
        for number, run in enumerate(runs):
            yield from self._of_run(number, run)
        for segment in node_runs:
            yield from self._of_nodes(segment)
        for moment in moments:
            yield self._of_moment(moment)
        for thread, number in self._threads.items():
            yield {
                "name": "thread_name",
                "ph": "M",
                "pid": os.getpid(),
                "tid": number,
                "args": {"name": thread.name},
            }

    def _common(self, record: Run | Moment) -> dict[str, Any]:
        return {"name": record.name, "cat": record.category, **self._where(record.thread)}

    def _where(self, thread: Thread) -> dict[str, Any]:
        return {"pid": os.getpid(), "tid": self._threads.setdefault(thread, len(self._threads))}

    def _of_nodes(self, segment: NodeRuns) -> Iterator[dict[str, Any]]:
        """One event for each node; they stand inside that of the operation, by their times."""
        times_s = segment.times_s
        for node, start_s, stop_s in zip(segment.nodes, times_s, times_s[1:], strict=False):
            args = {
                "operator": node.operator,
                "pass": "backward" if node.is_backward else "forward",
                "kernel": node.kernel,
                "device": str(node.ctx),
                "bytes": node.size_bytes,
                "flops": node.flops,
            }
            yield {
                "name": node.name, "cat": "node", **self._where(segment.thread), "ph": "X",
                "ts": start_s * 1e6, "dur": (stop_s - start_s) * 1e6,
                "args": {name: value for name, value in args.items() if value is not None},
            }  # fmt: skip

    def _of_run(self, number: int, run: Run) -> Iterator[dict[str, Any]]:
        common = self._common(run)
        if run.is_async:
            yield {**common, "ph": "b", "id": number, "ts": run.start_s * 1e6}
            yield {**common, "ph": "e", "id": number, "ts": run.stop_s * 1e6}
            return
        args = {} if run.device is None else {"args": {"device": str(run.device)}}
        duration = (run.stop_s - run.start_s) * 1e6
        yield {**common, "ph": "X", "ts": run.start_s * 1e6, "dur": duration, **args}

    def _of_moment(self, moment: Moment) -> dict[str, Any]:
        common = {**self._common(moment), "ts": moment.at_s * 1e6}
        if moment.value is None:
            return {**common, "ph": "i", "s": _SCOPES[moment.scope]}
        return {**common, "ph": "C", "args": {moment.name: moment.value}}
