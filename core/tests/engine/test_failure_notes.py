"""The notes of a failure say which operation, who pushed it, and what to do."""

from __future__ import annotations

import inspect

import pytest

from core.tests.engine.failing import CTX, raising
from operad.engine import Engine, OperatorName, ThreadedEngine


def test_inline_errors_surface_at_the_wait_with_the_push_site(engine: Engine) -> None:
    var, reader, ran = engine.new_variable(), engine.new_variable(), []
    assert engine.run_inline(raising(ValueError("boom")), (), CTX, (), (var,), "tanh 'act'")
    engine.push_sync(ran.append, CTX, (var,), (reader,))
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(reader)
    (note,) = caught.value.__notes__
    assert note.startswith("tanh 'act' failed (pushed at ")
    assert "test_failure_notes.py:" in note
    assert ran == []


def test_the_note_of_a_threaded_failure_names_the_operation_and_the_next_step(
    threaded: ThreadedEngine,
) -> None:
    var = threaded.new_variable()
    threaded.push_sync(raising(ValueError("boom")), CTX, (), (var,), name="Convolution 'conv2'")
    with pytest.raises(ValueError, match="boom") as caught:
        threaded.wait_for_var(var)
    (note,) = caught.value.__notes__
    assert note.startswith("Convolution 'conv2' failed (pushed at ")
    assert note.endswith("set OPERAD_ENGINE=naive to run it in the calling thread")


def test_the_note_of_a_failure_names_the_line_that_pushed(engine: Engine) -> None:
    var = engine.new_variable()
    opr = engine.new_operator(raising(ValueError("boom")), (), (var,), name="fc1")
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]  # CPython has frames
    engine.push(opr, CTX)
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(var)
    assert f"fc1 failed (pushed at {__file__}:{line})" in caught.value.__notes__[0]


def test_the_note_of_a_failed_operator_names_its_plugin(engine: Engine) -> None:
    var = engine.new_variable()
    name = OperatorName("tanh", "acme-ops 1.2")
    engine.push_sync(raising(ValueError("boom")), CTX, (), (var,), name=name)
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(var)
    assert "tanh (acme-ops 1.2) failed (pushed at " in caught.value.__notes__[0]


def test_notes_that_the_operation_added_itself_are_kept(engine: Engine) -> None:
    error = ValueError("boom")
    error.add_note("while reading part 7")
    var = engine.new_variable()
    engine.push_sync(raising(error), CTX, (), (var,), name="read")
    with pytest.raises(ValueError, match="boom") as caught:
        engine.wait_for_var(var)
    own, added = caught.value.__notes__
    assert own == "while reading part 7"
    assert added.startswith("read failed")
