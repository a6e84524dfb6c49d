"""Grouping of consecutive pushes."""

from __future__ import annotations

import threading

import pytest

from operad.context import cpu
from operad.engine import Engine, FnProperty, ThreadedEngine
from operad.engine.operation import OprBlock
from operad.engine.var import Var
from operad.errors import EngineError

CTX = cpu()


def added(engine: Engine) -> int:
    """Blocks that the queue ever took in, members of groups not counted."""
    return engine.blocks_added  # type: ignore[attr-defined]


@pytest.fixture
def counted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine.blocks_added = 0  # type: ignore[attr-defined]
    submit = engine.submit

    def counting(block) -> None:
        engine.blocks_added += 1  # type: ignore[attr-defined]
        submit(block)

    monkeypatch.setattr(engine, "submit", counting)
    return engine


def test_a_full_group_is_pushed_as_one_operation(counted: Engine) -> None:
    log, var = [], counted.new_variable()
    with counted.bulk(3):
        for number in range(7):
            counted.push_sync(lambda _, number=number: log.append(number), CTX, (), (var,))
        assert added(counted) == 2
    assert added(counted) == 3
    counted.wait_for_all()
    assert log == list(range(7))


def test_a_wait_by_the_same_thread_pushes_the_group(counted: Engine) -> None:
    log, var = [], counted.new_variable()
    with counted.bulk(100):
        counted.push_sync(log.append, CTX, (), (var,))
        assert log == []
        counted.wait_for_var(var)
        assert len(log) == 1


def test_an_asynchronous_push_pushes_the_group_first(counted: Engine) -> None:
    log, var = [], counted.new_variable()
    with counted.bulk(100):
        counted.push_sync(lambda _: log.append("sync"), CTX, (), (var,))
        counted.push_async(lambda _, done: (log.append("async"), done()), CTX, (), (var,))
        assert added(counted) == 2
    counted.wait_for_all()
    assert log == ["sync", "async"]


@pytest.mark.parametrize("other", [{"ctx": cpu(1)}, {"priority": 5}, {"prop": FnProperty.CPU_PRIORITIZED}])
def test_a_push_of_another_kind_pushes_the_group_first(counted: Engine, other: dict) -> None:
    log, var = [], counted.new_variable()
    with counted.bulk(100):
        counted.push_sync(lambda _: log.append(0), CTX, (), (var,))
        counted.push_sync(lambda _: log.append(1), **{"ctx": CTX, **other}, mutable_vars=(var,))
        assert added(counted) >= 1
    counted.wait_for_all()
    assert log == [0, 1]


def test_cached_operators_join_a_group(counted: Engine) -> None:
    log, var = [], counted.new_variable()
    opr = counted.new_operator(log.append, (), (var,))
    with counted.bulk(10):
        counted.push(opr, CTX)
        counted.push(opr, CTX)
    assert added(counted) == 1
    counted.wait_for_all()
    assert len(log) == 2


def test_members_that_read_what_others_write_are_ordered_against_the_outside(
    counted: Engine,
) -> None:
    log = []
    a, b = counted.new_variable(), counted.new_variable()
    with counted.bulk(10):
        counted.push_sync(lambda _: log.append("read a"), CTX, (a,), (b,))
        counted.push_sync(lambda _: log.append("write a"), CTX, (b,), (a,))
    counted.push_sync(lambda _: log.append("after"), CTX, (a,), ())
    counted.wait_for_all()
    assert log == ["read a", "write a", "after"]


def test_the_inline_path_and_is_idle_see_the_open_group(threaded: ThreadedEngine) -> None:
    var, log = threaded.new_variable(), []
    with threaded.bulk(10):
        threaded.push_sync(lambda _: log.append("grouped"), CTX, (), (var,))
        assert not threaded.is_idle(var)
        assert not threaded.run_inline(log.append, ("inline",), CTX, (), (var,), None)
    threaded.wait_for_all()
    assert threaded.is_idle(var)


def test_deleting_pushes_the_group_first(counted: Engine) -> None:
    var, log = counted.new_variable(), []
    with counted.bulk(10):
        counted.push_sync(lambda _: log.append("used"), CTX, (), (var,))
        counted.delete_variable(lambda _: log.append("deleted"), CTX, var)
    counted.wait_for_all()
    assert log == ["used", "deleted"]


def grouped_elsewhere(engine: Engine, var: Var, log: list[str], push: threading.Event) -> threading.Thread:
    """A thread that holds `var`'s reader in a group until `push`; returns when it is grouped."""
    is_grouped = threading.Event()

    def collect() -> None:
        with engine.bulk(10):
            engine.push_sync(lambda _: log.append("used"), CTX, (var,), ())
            is_grouped.set()
            push.wait()

    thread = threading.Thread(target=collect)
    thread.start()
    is_grouped.wait()
    return thread


def test_a_variable_in_another_threads_group_is_not_idle(engine: Engine) -> None:
    var, push = engine.new_variable(), threading.Event()
    collector = grouped_elsewhere(engine, var, [], push)
    assert not engine.is_idle(var)
    push.set()
    collector.join()
    engine.wait_for_all()
    assert engine.is_idle(var)


def test_a_deletion_comes_after_another_threads_group(engine: Engine) -> None:
    var, log, push = engine.new_variable(), [], threading.Event()
    collector = grouped_elsewhere(engine, var, log, push)
    engine.delete_variable(lambda _: log.append("deleted"), CTX, var)
    engine.wait_for_all()
    assert log == []
    push.set()
    collector.join()
    engine.wait_for_all()
    assert log == ["used", "deleted"]


def test_a_deletion_comes_after_the_groups_of_several_threads(engine: Engine) -> None:
    var, log, events = engine.new_variable(), [], [threading.Event(), threading.Event()]
    collectors = [grouped_elsewhere(engine, var, log, push) for push in events]
    engine.delete_variable(lambda _: log.append("deleted"), CTX, var)
    for push, collector in zip(events, collectors, strict=True):
        assert "deleted" not in log
        push.set()
        collector.join()
    engine.wait_for_all()
    assert log == ["used", "used", "deleted"]


def test_a_group_is_seen_at_every_moment_of_being_pushed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    var, seen, submit = engine.new_variable(), [], engine.submit

    def look(block: OprBlock) -> None:
        seen.append(engine.is_idle(var))
        submit(block)

    monkeypatch.setattr(engine, "submit", look)
    with engine.bulk(10):
        engine.push_sync(lambda _: None, CTX, (var,), ())
    engine.wait_for_all()
    assert seen[0] is False
    assert engine.is_idle(var)


def test_scopes_nest(counted: Engine) -> None:
    var, log = counted.new_variable(), []
    with counted.bulk(10):
        counted.push_sync(lambda _: log.append(0), CTX, (), (var,))
        with counted.bulk(10):
            counted.push_sync(lambda _: log.append(1), CTX, (), (var,))
        counted.push_sync(lambda _: log.append(2), CTX, (), (var,))
    counted.wait_for_all()
    assert log == [0, 1, 2]


def test_a_group_without_room_is_refused(engine: Engine) -> None:
    with pytest.raises(EngineError, match="at least 1"), engine.bulk(0):
        pass
