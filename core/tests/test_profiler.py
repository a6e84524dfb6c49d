"""What an observer of the engine is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from operad import engine, profiler
from operad.device import Context, cpu
from operad.engine import bulk

CTX = cpu()
_seen: list[tuple[str, Context, bool]] = []


def _note(name: str, ctx: Context, start_s: float, stop_s: float) -> None:
    _seen.append((name, ctx, start_s <= stop_s))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    _seen.clear()
    yield
    profiler.observe(None)


def one_of_each() -> None:
    """One operation of every kind that an engine runs."""
    current = engine.get()
    var = current.new_variable()
    current.push_sync(lambda _: None, CTX, (), (var,), name="pushed")
    current.wait_for_var(var)
    assert current.run_inline(lambda: None, (), CTX, (), (var,), "inline")
    current.push_async(lambda _, done: done(), CTX, (), (var,), name="async")
    with bulk(2):
        current.push_sync(lambda _: None, CTX, (), (var,), name="grouped")
    current.wait_for_all()


@pytest.mark.usefixtures("each_engine")
def test_every_kind_of_operation_is_observed_while_it_runs_and_none_before_or_after() -> None:
    one_of_each()
    profiler.observe(_note)
    one_of_each()
    profiler.observe(None)
    one_of_each()
    assert sorted(_seen) == [(name, CTX, True) for name in ("async", "grouped", "inline", "pushed")]
    assert not engine.get().lock.blockers  # type: ignore[attr-defined]


def test_a_change_of_engine_goes_on_observing() -> None:
    profiler.observe(_note)
    before = type(engine.get())
    engine.set("naive")
    one_of_each()
    engine.set(before())
    one_of_each()
    assert len(_seen) == 8


def test_an_error_of_an_observer_ends_observing_and_is_raised_by_a_wait() -> None:
    def broken(*_: object) -> None:
        raise ValueError("observer")

    profiler.observe(broken)
    current = engine.get()
    current.push_sync(lambda _: None, CTX)
    with pytest.raises(ValueError, match="observer"):
        current.wait_for_all()
    assert current.profile_hook is None
