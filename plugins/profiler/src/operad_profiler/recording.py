"""What is recorded, and when.

Source: python/mxnet/profiler.py. Differs: operations of the engine and a program's own annotations are
recorded, and nothing else; so what MXNet lets one choose among (`profile_symbolic`, `profile_imperative`,
`profile_memory`, `profile_api`) is taken and changes nothing.
"""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any, Final, NamedTuple, final

from operad import profiler
from operad.context import Context
from operad.errors import ParamError

_IGNORED: Final = (
    "profile_all", "profile_symbolic", "profile_imperative", "profile_memory", "profile_api",
    "profile_process", "continuous_dump", "dump_period", "gpu_memory_profile_filename_prefix",
)  # fmt: skip


@final
class Run(NamedTuple):
    """Something that took a while; times in seconds of `time.perf_counter`.

    Attributes:
        category: "operator", or the domain of what a program annotates.
        device: Where an operator ran; None for what a program annotates.
        thread: The name of the thread.
        is_async: Whether it may have ended in another thread, beside others that it does not contain.
    """

    name: str
    category: str
    device: str | None
    thread: str
    start_s: float
    stop_s: float
    is_async: bool = False


@final
class Moment(NamedTuple):
    """Something that a program noted at one time: the value of a counter, or None for a mark.

    Attributes:
        scope: Whom a mark concerns: "process", "thread" or "global".
    """

    name: str
    category: str
    thread: str
    at_s: float
    value: float | None
    scope: str


config: Final[dict[str, Any]] = {"filename": "profile.json", "aggregate_stats": False}
runs: Final[list[Run]] = []
moments: Final[list[Moment]] = []
_state: Final = {"is_on": False}


def set_config(**kwargs: Any) -> None:
    """Choose what `dump` and `dumps` do.

    Args:
        filename: File that `dump` writes; "profile.json" if never given.
        aggregate_stats: Whether `dumps` may be called; False if never given.
        kwargs: MXNet's other options are taken and change nothing.

    Raises:
        ParamError: An option is none of MXNet's.
    """
    for name, value in kwargs.items():
        if name in config:
            config[name] = value
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
    _state["is_on"] = state == "run"
    profiler.observe(_record if state == "run" else None)


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
    """Whether anything is recorded now."""
    return _state["is_on"]


def forget() -> None:
    """Drop what was recorded."""
    runs.clear()
    moments.clear()


def thread_name() -> str:
    """The name of the calling thread."""
    return threading.current_thread().name


def now_s() -> float:
    """The time of the trace, in seconds."""
    return perf_counter()


def _record(name: str, ctx: Context, start_s: float, stop_s: float) -> None:
    runs.append(Run(name, "operator", str(ctx), thread_name(), start_s, stop_s))
