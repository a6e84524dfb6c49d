"""The `on_complete` of an asynchronous operation, without an engine."""

from __future__ import annotations

import gc
import threading

import pytest

from operad.engine.completion import Completion
from operad.errors import EngineError


@pytest.fixture
def told() -> list[BaseException | None]:
    return []


def test_the_first_call_finishes_and_the_second_is_refused(told: list) -> None:
    complete = Completion("op", told.append)
    complete()
    with pytest.raises(EngineError, match="op: on_complete was called twice"):
        complete(ValueError())
    assert told == [None]


def test_an_error_is_passed_on_as_it_is(told: list) -> None:
    error = KeyError("lost")
    Completion("op", told.append)(error)
    assert told == [error]


def test_what_is_no_exception_finishes_with_an_engine_error(told: list) -> None:
    Completion("op", told.append)("text")  # type: ignore[arg-type]
    assert str(told[0]) == "op: on_complete was given 'text', expected an exception or None"


def test_being_dropped_uncalled_finishes_with_an_engine_error(told: list) -> None:
    Completion("op", told.append)
    gc.collect()
    assert "op: on_complete was dropped without being called" in str(told[0])


def test_being_dropped_after_a_call_tells_nothing_more(told: list) -> None:
    Completion("op", told.append)()
    gc.collect()
    assert told == [None]


def test_of_many_threads_one_finishes_it(told: list) -> None:
    complete, start = Completion("op", told.append), threading.Barrier(8)
    closed: list[bool] = []

    def close() -> None:
        start.wait()
        closed.append(complete.close(None))

    threads = [threading.Thread(target=close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (told, sorted(closed)) == ([None], [False] * 7 + [True])
