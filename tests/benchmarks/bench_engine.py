"""What the dependency engine costs: pushes, waits and the inline path, with functions that do nothing.

The peer of the inline path is the bare call of the same function; the difference is the engine's overhead.
"""

from __future__ import annotations

from collections.abc import Callable

from operad.context import cpu
from operad.engine import Engine, NaiveEngine, ThreadedEngine
from tests.benchmarks.case import Case

_MANY = 2000


def _nothing(*_: object) -> None:
    """The function that is pushed."""


def _dependent(engine: Engine) -> Callable[[], object]:
    opr = engine.new_operator(_nothing, (engine.new_variable(),), (engine.new_variable(),))
    ctx = cpu()

    def run() -> None:
        for _ in range(_MANY):
            engine.push(opr, ctx)
        engine.wait_for_all()

    return run


def _independent(engine: Engine) -> Callable[[], object]:
    oprs = [engine.new_operator(_nothing, (), (engine.new_variable(),)) for _ in range(_MANY)]
    ctx = cpu()

    def run() -> None:
        for opr in oprs:
            engine.push(opr, ctx)
        engine.wait_for_all()

    return run


def _round_trips(engine: Engine) -> Callable[[], object]:
    var, ctx = engine.new_variable(), cpu()
    opr = engine.new_operator(_nothing, (), (var,))

    def run() -> None:
        for _ in range(_MANY):
            engine.push(opr, ctx)
            engine.wait_for_var(var)

    return run


def _inline(engine: Engine) -> Callable[[], object]:
    reads, writes, ctx = (engine.new_variable(),), (engine.new_variable(),), cpu()

    def run() -> None:
        for _ in range(_MANY):
            engine.run_inline(_nothing, (1, 2), ctx, reads, writes, "nothing")

    return run


def _bare() -> None:
    arguments = (1, 2)
    for _ in range(_MANY):
        _nothing(*arguments)


def cases() -> list[Case]:
    """Throughput, latency and inline overhead of each engine."""
    threaded, naive = ThreadedEngine(), NaiveEngine()
    return [
        Case("threaded: dependent push + run", _dependent(threaded), _MANY, unit="ops/s"),
        Case("threaded: independent push + run", _independent(threaded), _MANY, unit="ops/s"),
        Case("naive: push + run", _dependent(naive), _MANY, unit="ops/s"),
        Case("threaded: push, then wait", _round_trips(threaded), _MANY),
        Case(
            "threaded: run_inline, 2 variables", _inline(threaded), _MANY, peer=_bare, peer_name="bare call"
        ),
    ]
