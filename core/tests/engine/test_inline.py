"""Functions that run in the calling thread, without a block."""

from __future__ import annotations

import threading

import pytest

from operad.device import cpu
from operad.engine import Engine, RunContext, ThreadedEngine
from operad.engine.thread import local
from operad.errors import (
    BlockingInOperatorError,
)

CTX = cpu()


def test_waiting_inside_an_inline_function_raises(engine: Engine) -> None:
    var, other = engine.new_variable(), engine.new_variable()
    assert engine.run_inline(engine.wait_for_var, (other,), CTX, (), (var,), None)
    with pytest.raises(BlockingInOperatorError):
        engine.wait_for_var(var)


def test_an_inline_function_may_push_what_conflicts_with_itself(engine: Engine) -> None:
    var, log = engine.new_variable(), []

    def outer() -> None:
        engine.push_sync(lambda _: log.append("inner"), CTX, (), (var,))
        assert not engine.run_inline(log.append, ("never",), CTX, (), (var,), None)
        log.append("outer")

    assert engine.run_inline(outer, (), CTX, (), (var,), None)
    engine.wait_for_all()
    assert log == ["outer", "inner"]


def test_run_inline_refuses_what_conflicts_and_allows_reading_beside_a_reader(
    threaded: ThreadedEngine,
) -> None:
    var, gate, started, log = threaded.new_variable(), threading.Event(), threading.Event(), []

    def hold(_: RunContext) -> None:
        started.set()
        gate.wait()

    threaded.push_sync(hold, CTX, (var,), ())
    started.wait()
    assert not threaded.run_inline(log.append, ("write",), CTX, (), (var,), None)
    assert threaded.run_inline(log.append, ("read",), CTX, (var,), (), None)
    gate.set()
    threaded.wait_for_all()
    assert log == ["read"]


def test_other_threads_pushes_during_an_inline_function_run_after_it(threaded: ThreadedEngine) -> None:
    var, log = threaded.new_variable(), []

    def inline() -> None:
        pusher = threading.Thread(
            target=threaded.push_sync, args=(lambda _: log.append("pushed"), CTX, (), (var,))
        )
        pusher.start()
        pusher.join()
        log.append("inline")

    assert threaded.run_inline(inline, (), CTX, (), (var,), None)
    threaded.wait_for_var(var)
    assert log == ["inline", "pushed"]


def test_an_inline_function_counts_as_a_write_and_fails_like_a_pushed_one(engine: Engine) -> None:
    var = engine.new_variable()
    assert engine.run_inline(int, ("three",), CTX, (), (var,), "parse")
    assert var.version == 1
    with pytest.raises(ValueError, match="three"):
        engine.wait_for_var(var)
    assert not engine.run_inline(int, ("3",), CTX, (var,), (), None), "the variable carries a failure"


def test_a_claim_is_used_again_by_its_thread(engine: Engine) -> None:
    seen = []
    for _ in range(3):
        assert engine.run_inline(lambda: None, (), CTX, (), (engine.new_variable(),), None)
        seen.append(local.state.spare_claim)
    assert len({id(claim) for claim in seen}) == 1
    assert seen[0].opr.mutable_vars == (), "it keeps no variable alive"


def test_a_profiled_inline_function_is_reported_by_its_name(engine: Engine) -> None:
    seen: list[str] = []
    engine.profile_hook = lambda name, *_: seen.append(name)
    engine.profile_all(True)
    assert engine.run_inline(len, ((),), CTX, (), (), "count")
    assert engine.run_inline(len, ((),), CTX, (), (), None)
    engine.profile_all(False)
    assert engine.run_inline(len, ((),), CTX, (), (), None)
    assert seen == ["count", "len"]
