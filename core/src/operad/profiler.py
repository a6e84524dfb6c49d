"""Records what the engine runs, when and where, for Chrome's trace viewer (MXNet's `mx.profiler`).

    od.profiler.set_config(filename="profile.json", aggregate_stats=True)
    od.profiler.start()
    ...
    od.waitall()
    od.profiler.stop()
    print(od.profiler.dumps())
    od.profiler.dump()

While it is off it costs nothing: the engine looks at one list of reasons against its fast path, and the
profiler is in that list only while it runs.

`stage`, `count_stages` and `stages` are about pipelines: see `operad.stages`.

Source: python/mxnet/profiler.py. Differs: engine operations are recorded, and nothing else; so what MXNet
lets one choose among (`profile_symbolic`, `profile_imperative`, `profile_memory`, `profile_api`) is taken
and changes nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from operad import engine
from operad.context import Context
from operad.errors import ParamError
from operad.stages import StageFigures as StageFigures
from operad.stages import count_stages as count_stages
from operad.stages import stage as stage
from operad.stages import stages as stages

_IGNORED: Final = (
    "profile_all", "profile_symbolic", "profile_imperative", "profile_memory", "profile_api",
    "profile_process", "continuous_dump", "dump_period", "gpu_memory_profile_filename_prefix",
)  # fmt: skip
_COLUMNS: Final = ("count", "total", "min", "max", "avg")


class _Run(NamedTuple):
    """One run of an operation; times in seconds of `time.perf_counter`."""

    name: str
    device: str
    thread: str
    start_s: float
    stop_s: float


_config: Final[dict[str, Any]] = {"filename": "profile.json", "aggregate_stats": False}
_runs: Final[list[_Run]] = []


def set_config(**options: Any) -> None:
    """Choose what `dump` and `dumps` do.

    Args:
        filename: File that `dump` writes; "profile.json" if never given.
        aggregate_stats: Whether `dumps` may be called; False if never given.
        options: MXNet's other options are taken and change nothing.

    Raises:
        ParamError: An option is none of MXNet's.
    """
    for name, value in options.items():
        if name in _config:
            _config[name] = value
        elif name not in _IGNORED:
            known = ", ".join([*_config, *_IGNORED])
            raise ParamError(f"profiler.set_config: unknown option {name!r}; expected one of {known}")


def set_state(state: str = "stop") -> None:
    """Begin to record ("run") or end it ("stop").

    Raises:
        ParamError: `state` is neither.
    """
    if state not in ("run", "stop"):
        raise ParamError(f"profiler.set_state: state is {state!r}, expected 'run' or 'stop'")
    current = engine.get()
    current.profile_hook = _record if state == "run" else None
    current.profile_all(state == "run")


def start() -> None:
    """Begin to record."""
    set_state("run")


def stop() -> None:
    """End recording; what was recorded stays for `dump` and `dumps`."""
    set_state("stop")


pause = stop
resume = start


def dump(finished: bool = True) -> None:
    """Write what was recorded to the configured file, in Chrome's trace format (`chrome://tracing`).

    Args:
        finished: Whether to end recording and forget what was written.
    """
    import json  # noqa: PLC0415 - lazy: `import operad` need not pay for it

    if finished:
        stop()
    with open(_config["filename"], "w", encoding="utf-8") as file:
        json.dump({"traceEvents": list(_trace(_runs)), "displayTimeUnit": "ms"}, file)
    if finished:
        _runs.clear()


def dumps(reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False) -> str:
    """Statistics of what was recorded, one line or object for each operation; times in milliseconds.

    Args:
        reset: Whether to forget what was recorded.
        format: "table" or "json".
        sort_by: "total", "avg", "min", "max" or "count".
        ascending: Whether the smallest comes first.

    Raises:
        ParamError: An argument is none of these, or `aggregate_stats` was not configured.
    """
    if not _config["aggregate_stats"]:
        raise ParamError("profiler.dumps needs profiler.set_config(aggregate_stats=True)")
    if format not in ("table", "json") or sort_by not in _COLUMNS:
        raise ParamError(
            f"profiler.dumps: format is {format!r} and sort_by {sort_by!r}, "
            f"expected 'table' or 'json' and one of {', '.join(_COLUMNS)}"
        )
    found = sorted(_statistics(_runs).items(), key=lambda item: item[1][sort_by], reverse=not ascending)
    if reset:
        _runs.clear()
    if format == "json":
        import json  # noqa: PLC0415 - as in `dump`

        return json.dumps(dict(found), indent=4)
    lines = [f"{'name':<40}" + "".join(f"{column:>12}" for column in _COLUMNS)]
    for name, figures in found:
        times = "".join(f"{figures[column]:>12.4f}" for column in _COLUMNS[1:])
        lines.append(f"{name:<40}{figures['count']:>12}{times}")
    return "\n".join(lines)


def _record(name: str, ctx: Context, start_s: float, stop_s: float) -> None:
    _runs.append(_Run(name, str(ctx), threading.current_thread().name, start_s, stop_s))


def _statistics(runs: Iterable[_Run]) -> dict[str, dict[str, float]]:
    times: dict[str, list[float]] = {}
    for run in runs:
        times.setdefault(run.name, []).append((run.stop_s - run.start_s) * 1e3)
    return {
        name: {
            "count": len(each),
            "total": sum(each),
            "min": min(each),
            "max": max(each),
            "avg": sum(each) / len(each),
        }
        for name, each in times.items()
    }


def _trace(runs: Iterable[_Run]) -> Iterable[dict[str, Any]]:
    """Chrome's events: one for each run, and one for the name of each thread."""
    threads: dict[str, int] = {}
    for run in runs:
        yield {
            "name": run.name,
            "cat": "operator",
            "ph": "X",
            "ts": run.start_s * 1e6,
            "dur": (run.stop_s - run.start_s) * 1e6,
            "pid": os.getpid(),
            "tid": threads.setdefault(run.thread, len(threads)),
            "args": {"device": run.device},
        }
    for thread, number in threads.items():
        args = {"name": thread}
        yield {"name": "thread_name", "ph": "M", "pid": os.getpid(), "tid": number, "args": args}
