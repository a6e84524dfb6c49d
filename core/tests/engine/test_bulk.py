"""`bulk` is a hint: it changes nothing that can be observed, and stands in no one's way."""

from __future__ import annotations

import threading

import pytest

from operad.device import cpu
from operad.engine import Engine, FnProperty, ThreadedEngine, bulk
from operad.errors import EngineError

CTX = cpu()


@pytest.mark.parametrize("other", [{"ctx": cpu(1)}, {"priority": 5}, {"prop": FnProperty.COPY_TO_DEVICE}, {}])
def test_pushes_inside_keep_their_order(engine: Engine, other: dict) -> None:
    log, var = [], engine.new_variable()
    with bulk(100):
        for number in range(7):
            engine.push_sync(lambda _, number=number: log.append(number), CTX, (), (var,))
        engine.push_sync(lambda _: log.append(7), **{"ctx": CTX, **other}, mutable_vars=(var,))
    engine.wait_for_all()
    assert log == list(range(8))


def test_other_threads_see_what_was_pushed_inside(engine: Engine) -> None:
    """Also before the scope ends."""
    log, var = [], engine.new_variable()
    with bulk(100):
        engine.push_sync(lambda _: log.append("pushed"), CTX, (), (var,))
        waiter = threading.Thread(target=engine.wait_for_var, args=(var,))
        waiter.start()
        waiter.join()
        assert log == ["pushed"]


def test_the_inline_path_is_open_inside_and_beside(threaded: ThreadedEngine) -> None:
    var = threaded.new_variable()
    with bulk(10):
        assert threaded.is_idle(var)
        assert threaded.run_inline(lambda: None, (), CTX, (), (var,), None)
        assert not threaded.lock.blockers


def test_deleting_comes_after_what_was_pushed(engine: Engine) -> None:
    var, log = engine.new_variable(), []
    with bulk(10):
        engine.push_sync(lambda _: log.append("used"), CTX, (), (var,))
        engine.delete_variable(lambda _: log.append("deleted"), CTX, var)
    engine.wait_for_all()
    assert log == ["used", "deleted"]


def test_a_size_below_nothing_is_refused() -> None:
    with pytest.raises(EngineError, match="at least 0"):
        bulk(-1)
