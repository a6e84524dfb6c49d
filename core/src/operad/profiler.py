"""What the engine runs, as it runs: the one part of MXNet's `mx.profiler` that needs the engine.

The rest (`set_config`, `start`, `dump`, `Task`, ...) is that of operad-profiler, which keeps what it
observes. `stage`, `laps`, `count_stages` and `stages` are about pipelines: see `operad.stages`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from operad import engine, faces, registry
from operad.context import Context
from operad.stages import StageFigures as StageFigures
from operad.stages import count_stages as count_stages
from operad.stages import laps as laps
from operad.stages import stage as stage
from operad.stages import stages as stages

Observer = Callable[[str, Context, float, float], object]


def observe(observer: Observer | None) -> None:
    """Call `observer(name, ctx, start_s, stop_s)` for each operation from now on; None: for none.

    Times are those of `time.perf_counter`. The call is made by the thread that ran the operation; an error
    of it ends observing, and is raised by a wait. Without an observer it costs nothing: the engine looks at
    one list of reasons against its fast path, and observing is in that list only while it is on.
    """
    current = engine.get()
    current.profile_hook = observer
    current.profile_all(observer is not None)


def __getattr__(name: str) -> Any:
    """What plugins add."""
    return faces.on_face("profiler", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *registry.names_on_face("profiler")})
