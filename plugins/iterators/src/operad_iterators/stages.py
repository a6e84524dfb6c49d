"""Times of the stages of a pipeline, from reading a file to moving the weights.

    with stage("read"):
        content = file.read(size_bytes)

Code that does some of the work names the stage, in any thread. Stages of a loader are called "read",
"decode", "augment" and "copy", those of a trainer "wait" (for data) and "compute". Stages may stand inside
each other; each counts all of its time.

While none is counted, a stage costs a call and a `with` over one shared object. Counted, it costs two
readings of the clock and three locks, a few microseconds. Where one thread goes through short stages again
and again, `laps` counts many of them at the price of one:

    with laps("read", "decode") as lap:
        for path in paths:
            content = path.read_bytes()
            lap("read")
            images.append(decode(content))
            lap("decode")
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, NamedTuple, final

from operad.locks import new_lock


class StageFigures(NamedTuple):
    """Counts of a stage.

    Attributes:
        runs: How often it was done.
        total_s: How long in all, over all threads, in seconds.
        threads: How many threads did it at once, at most.
    """

    runs: int
    total_s: float
    threads: int


@final
class _Sum:
    __slots__ = ("active", "runs", "threads", "total_s")

    def __init__(self) -> None:
        self.runs, self.total_s, self.active, self.threads = 0, 0.0, 0, 0


_sums: Final[dict[str, _Sum]] = {}
_lock: Final = new_lock()
_off: Final = nullcontext()
_no_laps: Final = nullcontext(lambda name: None)
_counting: bool = False


@final
class _Laps:
    """Many runs of some stages, one after another in one thread."""

    __slots__ = ("_begun_s", "_own", "_runs", "_totals")

    def __init__(self, names: tuple[str, ...]) -> None:
        with _lock:
            self._own = {name: _sums.setdefault(name, _Sum()) for name in names}
        self._runs, self._totals = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)

    def __enter__(self) -> Callable[[str], None]:
        with _lock:
            for own in self._own.values():
                # The thread does all of them in turn, so each has a part of it all the time: the stage that
                # takes longest per thread is then the one that takes longest.
                own.active += 1
                own.threads = max(own.threads, own.active)
        self._begun_s = time.perf_counter()
        return self._lap

    def _lap(self, name: str) -> None:
        now_s = time.perf_counter()
        self._runs[name] += 1
        self._totals[name] += now_s - self._begun_s
        self._begun_s = now_s

    def __exit__(self, *_: object) -> None:
        with _lock:
            for name, own in self._own.items():
                own.active -= 1
                own.runs += self._runs[name]
                own.total_s += self._totals[name]


def stage(name: str) -> AbstractContextManager[None]:
    """Count the time inside `with` for the stage `name`, if anybody counts."""
    return _one_run(name) if _counting else _off


@contextmanager
def _one_run(name: str) -> Iterator[None]:
    with _Laps((name,)) as lap:
        try:
            yield
        finally:
            lap(name)


def laps(*names: str) -> AbstractContextManager[Callable[[str], None]]:
    """Count the stages `names`, which one thread goes through inside `with`, if anybody counts.

    What `with` gives is called with the name of a stage at its end: the time since the call before is that
    stage's. Each call is one run.
    """
    return _Laps(names) if _counting else _no_laps


def count_stages(on: bool = True) -> None:
    """Begin to count, or leave off; what was counted stays."""
    global _counting
    _counting = on


def stages() -> dict[str, StageFigures]:
    """Counts since the process began, by stage."""
    with _lock:
        done = {name: one for name, one in _sums.items() if one.runs}
        return {name: StageFigures(one.runs, one.total_s, one.threads) for name, one in done.items()}
