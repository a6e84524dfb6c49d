"""Operations on a device that computes by itself, with streams that the test brings to an end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from core.tests.devices.stand_in import installed
from core.tests.devices.streams import CUDARuntimeError, Stream, get_current_stream
from operad.device import gpu
from operad.engine import FnProperty, RunContext, ThreadedEngine, Var


@pytest.fixture
def engine() -> Iterator[ThreadedEngine]:
    with installed():
        made = ThreadedEngine(2)
        yield made
        made.stop()


class Launches:
    """Operations that note where and in which order they were launched."""

    def __init__(self, engine: ThreadedEngine) -> None:
        self._engine = engine
        self.names: list[str] = []
        self.streams: dict[str, Stream] = {}
        self._events: dict[str, threading.Event] = {}

    def push(self, name: str, reads: tuple[Var, ...] = (), writes: tuple[Var, ...] = (), **options) -> None:
        self._events[name] = threading.Event()

        def launch(run_ctx: RunContext) -> None:
            assert get_current_stream() is run_ctx.stream
            self.names.append(name)
            self.streams[name] = run_ctx.stream
            self._events[name].set()

        self._engine.push_sync(launch, gpu(0), reads, writes, name=name, **options)

    def until(self, name: str) -> Stream:
        assert self._events[name].wait(60)
        return self.streams[name]


@pytest.fixture
def launches(engine: ThreadedEngine) -> Launches:
    return Launches(engine)


def complete(engine: ThreadedEngine, stream: Stream, error: Exception | None = None) -> None:
    """End what the stream was told, as soon as the worker has recorded its event."""
    while stream.done:
        pass
    stream.complete(error)


def test_independent_operations_are_launched_without_waiting_for_each_other(
    engine: ThreadedEngine, launches: Launches
) -> None:
    a, b = engine.new_variable(), engine.new_variable()
    with Stream.held():
        launches.push("first", (), (a,))
        launches.push("second", (), (b,))
        stream = launches.until("second")
        assert not engine.is_idle(a)
        assert not engine.is_idle(b)
    complete(engine, stream)
    engine.wait_for_all()
    assert launches.names == ["first", "second"]


def test_what_depends_on_an_operation_is_launched_when_that_is_done(
    engine: ThreadedEngine, launches: Launches
) -> None:
    var, other = engine.new_variable(), engine.new_variable()
    with Stream.held():
        launches.push("first", (), (var,))
        launches.push("dependent", (var,), ())
        launches.push("independent", (), (other,))
        stream = launches.until("independent")
        assert launches.names == ["first", "independent"]
    complete(engine, stream)
    launches.until("dependent")
    engine.wait_for_all()
    assert launches.names == ["first", "independent", "dependent"]


def test_a_wait_ends_when_the_stream_has_come_to_the_end(engine: ThreadedEngine, launches: Launches) -> None:
    var, log = engine.new_variable(), []
    with Stream.held():
        launches.push("op", (), (var,))
        stream = launches.until("op")
        waiter = threading.Thread(target=lambda: (engine.wait_for_var(var), log.append("waited")))
        waiter.start()
        log.append("completing")
        complete(engine, stream)
    waiter.join()
    assert log == ["completing", "waited"]


def test_an_error_of_the_device_is_the_operations_error(engine: ThreadedEngine, launches: Launches) -> None:
    var = engine.new_variable()
    with Stream.held():
        launches.push("op", (), (var,))
        complete(engine, launches.until("op"), CUDARuntimeError("cudaErrorIllegalAddress"))
    with pytest.raises(CUDARuntimeError, match="IllegalAddress"):
        engine.wait_for_var(var)


def test_a_function_that_raises_fails_its_operation_and_not_its_worker(
    engine: ThreadedEngine, launches: Launches
) -> None:
    var = engine.new_variable()
    engine.push_sync(lambda _: 1 / 0, gpu(0), (), (var,))
    with pytest.raises(ZeroDivisionError):
        engine.wait_for_var(var)
    launches.push("next", (), (var,))
    engine.wait_for_var(var)
    assert launches.names == ["next"]


def test_kernels_and_both_directions_of_copies_have_streams_of_their_own(
    engine: ThreadedEngine, launches: Launches
) -> None:
    for prop in (FnProperty.NORMAL, FnProperty.COPY_FROM_DEVICE, FnProperty.COPY_TO_DEVICE):
        launches.push(prop.value, (), (engine.new_variable(),), prop=prop)
    engine.wait_for_all()
    assert len({id(stream) for stream in launches.streams.values()}) == 3
