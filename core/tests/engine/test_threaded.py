"""What only the threaded engine does: parallel runs, priorities, helping, streams."""

from __future__ import annotations

import sys
import threading
import types

import pytest

from operad.device import Context, cpu
from operad.engine import FnProperty, ThreadedEngine

CTX = cpu()


def test_independent_operations_run_at_the_same_time(threaded: ThreadedEngine) -> None:
    meeting = threading.Barrier(4)
    for _ in range(4):
        threaded.push_sync(lambda _: meeting.wait(), CTX, (), (threaded.new_variable(),))
    threaded.wait_for_all()
    assert meeting.n_waiting == 0


def test_readers_of_one_variable_run_at_the_same_time(threaded: ThreadedEngine) -> None:
    meeting, var = threading.Barrier(3), threaded.new_variable()
    for _ in range(3):
        threaded.push_sync(lambda _: meeting.wait(), CTX, (var,), ())
    threaded.wait_for_all()


def test_other_operations_run_while_an_asynchronous_one_is_pending(single: ThreadedEngine) -> None:
    var, held, ran = single.new_variable(), [], []
    single.push_async(lambda _, on_complete: held.append(on_complete), CTX, (), (var,))
    other = single.new_variable()
    single.push_sync(ran.append, CTX, (), (other,))
    single.wait_for_var(other)
    assert len(ran) == 1
    held.pop()()
    single.wait_for_all()


def test_a_waiting_thread_runs_what_it_waits_for(single: ThreadedEngine) -> None:
    """With the only worker unable to start, the wait would otherwise never end."""
    single._dispatcher.runner._cpu.workers = 1
    var, ran_in = single.new_variable(), []
    single.push_sync(lambda _: ran_in.append(threading.get_ident()), CTX, (), (var,))
    single.wait_for_var(var)
    assert ran_in == [threading.get_ident()]


def test_workers_leave_when_the_engine_stops() -> None:
    engine = ThreadedEngine(3)
    meeting = threading.Barrier(3)
    for _ in range(3):
        engine.push_sync(lambda _: meeting.wait(), CTX)
    engine.stop()
    hired = engine._dispatcher.runner._hired
    assert hired
    assert not any(worker.is_serving for worker in hired)


class FakeStream:
    def __init__(self, **_: object) -> None:
        self.log: list[str] = []

    def __enter__(self) -> None:
        self.log.append("entered")

    def __exit__(self, *_: object) -> None:
        self.log.append("left")

    def record(self) -> FakeEvent:
        self.log.append("recorded")
        return FakeEvent(self.log)


class FakeEvent:
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def synchronize(self) -> None:
        self.log.append("synchronized")


class FakeDevice:
    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def fake_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = types.ModuleType("cupy")
    cupy.cuda = types.SimpleNamespace(Stream=FakeStream, Device=FakeDevice)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)


@pytest.mark.usefixtures("fake_cupy")
def test_gpu_operations_run_on_a_stream_of_their_kind_and_end_with_it(threaded: ThreadedEngine) -> None:
    ctx, contexts = Context("gpu", 0), []
    for prop in (FnProperty.NORMAL, FnProperty.NORMAL, FnProperty.COPY_TO_DEVICE):
        threaded.push_sync(
            lambda rc: contexts.append((rc.ctx, rc.stream)), ctx, (), (threaded.new_variable(),), prop
        )
    threaded.wait_for_all()
    assert {ctx for ctx, _ in contexts} == {ctx}
    streams = {id(stream): stream for _, stream in contexts}
    assert len(streams) == 2, "kernels share one stream, copies have their own"
    assert sum(stream.log.count("synchronized") for stream in streams.values()) == 3


@pytest.mark.usefixtures("fake_cupy")
def test_operations_of_a_device_that_cannot_be_used_fail_and_nothing_hangs(
    threaded: ThreadedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool's worker makes its stream first."""

    def no_stream(**_: object) -> None:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(sys.modules["cupy"].cuda, "Stream", no_stream)
    var = threaded.new_variable()
    for _ in range(3):
        threaded.push_sync(lambda _: None, Context("gpu", 0), (), (var,))
        with pytest.raises(RuntimeError, match="gone"):
            threaded.wait_for_var(var)
    threaded.push_sync(lambda _: None, CTX, (), (var,))
    threaded.wait_for_var(var)
    deleted = []
    threaded.delete_variable(deleted.append, Context("gpu", 0), var)
    threaded.wait_for_all()
    assert len(deleted) == 1
