"""Recording of operations, nodes and annotations: its start, its end, and the records.

Source: python/mxnet/profiler.py. Differs: operations of the engine, nodes of bound graphs and of recorded
backward passes, and a program's own annotations are recorded, and nothing else; so what MXNet lets one
choose among (`profile_symbolic`, `profile_imperative`, `profile_memory`, `profile_api`) is taken and changes
nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Final, NamedTuple, final

from operad import profiler
from operad.context import Context
from operad.errors import ParamError
from operad.program import Program
from operad_profiler.profiled import ProfiledNode, profiled_nodes

_IGNORED: Final = (
    "profile_all", "profile_symbolic", "profile_imperative", "profile_memory", "profile_api",
    "profile_process", "continuous_dump", "dump_period", "gpu_memory_profile_filename_prefix",
)  # fmt: skip


@final
class Thread(NamedTuple):
    """A thread; names need not differ."""

    name: str
    ident: int


@final
class Run(NamedTuple):
    """Something that took a while; times in seconds of `time.perf_counter`.

    Attributes:
        category: "operator", or the domain of what a program annotates.
        device: Where an operation ran; None for what a program annotates.
        is_async: Whether it may have ended in another thread, beside others that it does not contain.
    """

    name: str
    category: str
    device: Context | None
    thread: Thread
    start_s: float
    stop_s: float
    is_async: bool = False


@final
class NodeRuns(NamedTuple):
    """One run of a segment, node by node.

    Attributes:
        nodes: The nodes in order; after a failure more than have run.
        times_s: When the first began, and when each ended.
    """

    nodes: Sequence[ProfiledNode]
    times_s: Sequence[float]
    thread: Thread


@final
class Moment(NamedTuple):
    """Something that a program noted at one time: the value of a counter, or None for a mark.

    Attributes:
        scope: Whom a mark concerns: "process", "thread" or "global".
    """

    name: str
    category: str
    thread: Thread
    at_s: float
    value: float | None
    scope: str


class _Here(threading.local):
    """The calling thread, found once."""

    def __init__(self) -> None:
        self.thread = Thread(threading.current_thread().name, threading.get_ident())


_here: Final = _Here()
config: Final[dict[str, Any]] = {"filename": "profile.json", "aggregate_stats": False, "max_events": None}
named: Final[set[str]] = set()
"""Options that a program has given."""
runs: Final[list[Run]] = []
node_runs: Final[list[NodeRuns]] = []
moments: Final[list[Moment]] = []
_windows: Final[list[tuple[float, float]]] = []
"""The times, from and to, in which was recorded; without the one that is open."""
_open_since_s: Final[list[float]] = []
"""Start of the open recording; empty: there is none. Emptied by one `pop`, so that one thread ends it."""
_count: Final = {"events": 0}
"""Number of recorded operations and nodes; threads that count at once may lose a few."""


def set_config(**kwargs: Any) -> None:
    """Choose what `dump` and `dumps` do.

    Args:
        filename: File that `dump` writes; "profile.json" if never given. If given, what was recorded and not
            written is written when the process ends.
        aggregate_stats: Whether `dumps` may be called; False if never given.
        max_events: About how many operations and nodes to record: then recording ends by itself, for each
            keeps 40 to 200 bytes. None, if never given: no limit. Not in MXNet.
        kwargs: MXNet's other options are taken and change nothing.

    Raises:
        ParamError: An option is none of MXNet's.
    """
    for name, value in kwargs.items():
        if name in config:
            config[name] = value
            named.add(name)
        elif name not in _IGNORED:
            known = ", ".join([*config, *_IGNORED])
            raise ParamError(f"profiler.set_config: unknown option {name!r}; expected one of {known}")


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Begin to record ("run") or end it ("stop").

    Args:
        state: One of these.
        profile_process: "worker"; a server's process has a profiler of its own.

    Raises:
        ParamError: An argument is something else.
    """
    if state not in ("run", "stop"):
        raise ParamError(f"profiler.set_state: state is {state!r}, expected 'run' or 'stop'")
    check_process("set_state", profile_process)
    if state == "run":
        if not _open_since_s:
            _open_since_s.append(now_s())
        profiler.observe(_record, _record_nodes)
        return
    profiler.observe(None)
    try:
        since_s = _open_since_s.pop()
    except IndexError:  # nothing is recorded, or another thread has just ended it
        return
    _windows.append((since_s, now_s()))


def check_process(call: str, profile_process: str) -> None:
    """Raise ParamError unless the process meant is this one."""
    if profile_process != "worker":
        raise ParamError(
            f"profiler.{call}: profile_process is {profile_process!r}, expected 'worker'; "
            "call it in the server's own process"
        )


def start() -> None:
    """Begin to record."""
    set_state("run")


def stop() -> None:
    """End recording; what was recorded stays for `dump` and `dumps`."""
    set_state("stop")


def pause(profile_process: str = "worker") -> None:
    """Record nothing until `resume`."""
    set_state("stop", profile_process)


def resume(profile_process: str = "worker") -> None:
    """Go on after `pause`."""
    set_state("run", profile_process)


def is_recording() -> bool:
    """Return whether anything is recorded now."""
    return bool(_open_since_s)


def window_s() -> float:
    """Length of the recorded windows, in seconds."""
    open_windows = [(start_s, now_s()) for start_s in _open_since_s]
    return sum(stop_s - start_s for start_s, stop_s in (*_windows, *open_windows))


def is_full() -> bool:
    """Return whether recording has ended because of `max_events`."""
    return config["max_events"] is not None and _count["events"] >= config["max_events"]


def forget() -> None:
    """Drop what was recorded."""
    if is_recording():
        _open_since_s[:] = [now_s()]
    for recorded in (runs, node_runs, moments, _windows):
        recorded.clear()
    _count["events"] = 0


def this_thread() -> Thread:
    """The calling thread."""
    return _here.thread


def now_s() -> float:
    """The time of the trace, in seconds."""
    return perf_counter()


def _record(name: str, ctx: Context, start_s: float, stop_s: float) -> None:
    if _takes(start_s, 1):
        runs.append(Run(name, "operator", ctx, _here.thread, start_s, stop_s))


def _record_nodes(program: Program, node_ids: Sequence[int], times_s: Sequence[float]) -> None:
    if _takes(times_s[0], len(times_s) - 1):
        node_runs.append(NodeRuns(profiled_nodes(program, node_ids), times_s, _here.thread))


def _takes(start_s: float, num_events: int) -> bool:
    """Count a record that began at `start_s` if it belongs to the open window; return whether it does.

    No record crosses the edge of a window, so busy and idle time add up to the window.
    """
    for since_s in _open_since_s:
        if start_s >= since_s:
            if is_full():
                stop()
                return False
            _count["events"] += num_events
            return True
    return False
