"""What was recorded as a file in Chrome's trace format, for `chrome://tracing` or ui.perfetto.dev."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Final, final

from operad.files import write_atomically
from operad_profiler.recording import Moment, Run, check_process, config, forget, moments, runs, stop

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


@final
class _Trace:
    """Makes Chrome's events: those of each record, and one for the name of each thread."""

    def __init__(self) -> None:
        self._threads: dict[str, int] = {}

    def events(self) -> Iterator[dict[str, Any]]:
        for number, run in enumerate(runs):
            yield from self._of_run(number, run)
        for moment in moments:
            yield self._of_moment(moment)
        for thread, number in self._threads.items():
            yield {
                "name": "thread_name",
                "ph": "M",
                "pid": os.getpid(),
                "tid": number,
                "args": {"name": thread},
            }

    def _common(self, record: Run | Moment) -> dict[str, Any]:
        tid = self._threads.setdefault(record.thread, len(self._threads))
        return {"name": record.name, "cat": record.category, "pid": os.getpid(), "tid": tid}

    def _of_run(self, number: int, run: Run) -> Iterator[dict[str, Any]]:
        common = self._common(run)
        if run.is_async:
            yield {**common, "ph": "b", "id": number, "ts": run.start_s * 1e6}
            yield {**common, "ph": "e", "id": number, "ts": run.stop_s * 1e6}
            return
        args = {} if run.device is None else {"args": {"device": run.device}}
        duration = (run.stop_s - run.start_s) * 1e6
        yield {**common, "ph": "X", "ts": run.start_s * 1e6, "dur": duration, **args}

    def _of_moment(self, moment: Moment) -> dict[str, Any]:
        common = {**self._common(moment), "ts": moment.at_s * 1e6}
        if moment.value is None:
            return {**common, "ph": "i", "s": _SCOPES[moment.scope]}
        return {**common, "ph": "C", "args": {moment.name: moment.value}}
