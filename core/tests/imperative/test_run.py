"""Plain functions over arrays' memory, handed to the engine."""

from __future__ import annotations

import threading

import pytest

from operad import engine
from operad.device import cpu
from operad.imperative import distinct, execute

pytestmark = pytest.mark.usefixtures("two_threads")


def variables(count):
    return [engine.get().new_variable() for _ in range(count)]


def test_what_is_small_runs_here_and_what_is_not_is_pushed():
    (var,), ran_in = variables(1), []
    note = lambda: ran_in.append(threading.get_ident())  # noqa: E731
    execute(note, (), cpu(), (), (var,), "note", inline=True)
    assert ran_in == [threading.get_ident()]
    gate = threading.Event()
    engine.get().push_sync(lambda _: gate.wait(), cpu(), (), (var,))
    execute(note, (), cpu(), (), (var,), "note", inline=True)
    assert len(ran_in) == 1, "its variable is in use"
    gate.set()
    engine.get().wait_for_var(var)
    assert len(ran_in) == 2


def test_inside_an_operation_that_calls_operators_everything_runs_at_once():
    var, inner = variables(2)
    log = []

    def outer(_):
        with engine.nested():
            execute(log.append, ("inner",), cpu(), (), (inner,), "note")
        log.append("outer")

    engine.get().push_sync(outer, cpu(), (), (var,))
    engine.get().wait_for_var(var)
    assert log == ["inner", "outer"]


def test_an_error_carries_the_name_and_is_raised_by_the_wait():
    (var,) = variables(1)
    execute(int, ("three",), cpu(), (), (var,), "parse", inline=True)
    with pytest.raises(ValueError, match="three") as caught:
        engine.get().wait_for_var(var)
    assert any("parse" in note for note in [*getattr(caught.value, "__notes__", ()), str(caught.value)])


def test_variables_are_sorted_into_what_is_read_and_what_is_written_each_once():
    a, b, c = variables(3)
    assert distinct([a, a, b], [], [c, c]) == ([a, b], [c], [])


def test_a_variable_that_is_read_and_written_is_written_and_its_old_contents_count():
    a, b, c = variables(3)
    const, mutable, old = distinct([a, b], [c], [b])
    assert const == [a]
    assert {*mutable} == {b, c}
    assert {*old} == {b, c}
