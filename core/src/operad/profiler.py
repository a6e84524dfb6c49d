"""Observer of what the engine runs: the one part of MXNet's `mx.profiler` that needs the engine.

The rest (`set_config`, `start`, `dump`, `Task`, ...) is that of operad-profiler, which keeps what it
observes. `stage`, `laps`, `count_stages` and `stages` are about pipelines, and operad-iterators'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from operad import engine, registry
from operad.device import Context
from operad.program import NodeObserver as NodeObserver
from operad.program import node_profiling

Observer = Callable[[str, Context, float, float], object]


def observe(observer: Observer | None, node_observer: NodeObserver | None = None) -> None:
    """Call `observer(name, ctx, start_s, stop_s)` for each operation from now on; None: for none.

    Times are those of `time.perf_counter`. The call is made by the thread that ran the operation; an error
    of it ends observing, and is raised by a wait. Without an observer it costs nothing: the engine looks at
    one list of reasons against its fast path, and observing is in that list only while it is on.

    Args:
        observer: Called when an operation is done.
        node_observer: Called as `node_observer(program, node_ids, times_s)` when a segment of a bound graph,
            or of a recorded backward pass, has run, just before `observer` is called for the operation that
            the segment is: with its nodes, when the first began and when each ended.
    """
    current = engine.get()
    current.profile_hook = observer
    node_profiling.observer = node_observer
    current.profile_all(observer is not None)


def __getattr__(name: str) -> Any:
    """An attribute that a plugin adds."""
    return registry.get_attribute("profiler", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *registry.attribute_names("profiler")})
