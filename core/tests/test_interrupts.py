"""What a handler of a signal raises comes out of calls that go on after errors of anybody's code."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from unittest.mock import Mock

import pytest

import operad as od
from operad import config, interrupts
from operad.errors import OperatorError, as_one_of_ours, copied_as
from operad.executor import compiling
from operad.ndarray.signature import array_names
from operad.op import OperatorProperty, param
from operad.registry import discovery

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no such signal")


class AlarmError(Exception):
    """What a time limit's handler raises."""


def raise_alarm(*_: object) -> None:
    raise AlarmError


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, raise_alarm)
    yield
    signal.signal(signal.SIGALRM, before)


def strike(*_: object) -> None:
    signal.raise_signal(signal.SIGALRM)


class StruckError(ValueError):
    """The signal comes while one is made."""

    is_armed = False

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        if StruckError.is_armed:
            strike()


class StruckFinder:
    """The signal comes while distributions are looked for."""

    find_distributions = staticmethod(strike)


class Struck(OperatorProperty):
    """The signal comes while names are listed."""

    number = param(int, default=1)

    def list_arguments(self) -> list[str]:
        strike()
        return ["data"]

    list_inputs = list_arguments

    def infer_shape(self, in_shapes: object) -> tuple[list[object], list[object], list[object]]:
        raise NotImplementedError  # never called: the signal came before


def _copy() -> object:
    return copied_as(StruckError, ValueError("what an operation raised"))


def _convert() -> object:
    error = StruckError("what an operation raised")
    StruckError.is_armed = True
    return as_one_of_ours(OperatorError, error)


@pytest.mark.parametrize("act", [_copy, _convert])
def test_copies_of_errors_do_not_swallow_it(
    act: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StruckError, "is_armed", act is _copy)
    with pytest.raises(AlarmError):
        act()


def test_an_error_of_a_class_that_cannot_be_made_is_still_no_reason_to_raise() -> None:
    class RefusingError(ValueError):
        def __init__(self, one: object, two: object) -> None:
            raise TypeError("never")

    assert copied_as(RefusingError, ValueError("what an operation raised")) is not None


@pytest.mark.parametrize("search", [lambda: list(discovery.installed()), config.unknown_settings])
def test_a_search_for_plugins_does_not_swallow_it(
    search: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "meta_path", [StruckFinder, *sys.meta_path])
    monkeypatch.setenv("OPERAD_OF_NOBODY", "1")
    with pytest.raises(AlarmError):
        search()


@pytest.mark.parametrize("ask", [lambda: array_names(Struck), lambda: Struck(number=1 << 40)])
def test_what_an_operator_is_asked_does_not_swallow_it(ask: Callable[[], object]) -> None:
    with pytest.raises(AlarmError):
        ask()


def test_other_errors_are_left_to_who_goes_on() -> None:
    try:
        raise AlarmError
    except AlarmError as error:
        interrupts.raise_of_handler(error)


def test_a_helper_leaves_signals_of_programs_alone_real_time_ones_among_them() -> None:
    left = SimpleQueue[set[int]]()

    def look() -> None:
        left.put(set(signal.valid_signals()) - set(signal.pthread_sigmask(signal.SIG_BLOCK, [])))

    interrupts.start_thread("helper", look)
    taken = left.get()
    assert not {signal.SIGALRM, signal.SIGUSR1} & taken
    if hasattr(signal, "SIGRTMIN"):
        assert not set(range(signal.SIGRTMIN, signal.SIGRTMAX + 1)) & taken
    assert {signal.SIGINT, signal.SIGTERM} <= taken


def test_a_bind_that_is_ended_is_not_begun_again_under_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    struck = []

    def compile_once(*given: object, **more: object) -> object:
        if not struck:
            struck.append(True)
            strike()
        return compile_graph(*given, **more)

    compile_graph = compiling.compile_graph
    monkeypatch.setattr(compiling, "compile_graph", compile_once)
    net = od.sym.var("ended") + od.sym.var("by_a_limit")
    with pytest.raises(AlarmError):
        net.simple_bind(od.cpu(), ended=(3,), by_a_limit=(3,))
    assert net.simple_bind(od.cpu(), ended=(3,), by_a_limit=(3,)).forward()[0].shape == (3,)


def test_a_started_thread_is_one_of_pythons_own_in_every_way() -> None:
    seen, traced = SimpleQueue[threading.Thread](), SimpleQueue[str]()
    threading.setprofile(lambda frame, *_: traced.put(frame.f_code.co_name))
    try:
        interrupts.start_thread("helper", lambda: seen.put(threading.current_thread()))
        thread = seen.get()
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
    thread.join()
    assert (thread.name, thread.daemon, thread.is_alive()) == ("helper", True, False)
    assert thread not in threading.enumerate()
    assert "<lambda>" in [traced.get() for _ in range(traced.qsize())]


def test_a_function_is_called_where_there_is_no_second_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    called = SimpleQueue[int]()
    interrupts.start_thread("helper", called.put, 3)
    assert called.get() == 3
