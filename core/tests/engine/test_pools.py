"""Ready queues of workers, and lists of idle ones."""

from __future__ import annotations

import threading

from operad.device import Context, cpu
from operad.engine import RunContext, ThreadedEngine
from operad.engine.pools import WorkerPool

CTX = cpu()


def in_order(single: ThreadedEngine, pushes) -> list[str]:
    """The order in which one worker runs `pushes`, all made while it is held up."""
    gate, started, log = threading.Event(), threading.Event(), []

    def hold(_: RunContext) -> None:
        started.set()
        gate.wait()

    single.push_sync(hold, CTX, (), (single.new_variable(),))
    started.wait()
    for name, options in pushes:
        single.push_sync(lambda _, name=name: log.append(name), CTX, (), (single.new_variable(),), **options)
    gate.set()
    single.wait_for_all()
    return log


def test_higher_priority_runs_first_and_equal_priority_in_push_order(single: ThreadedEngine) -> None:
    pushes = [("a", {}), ("low", {"priority": -1}), ("b", {}), ("high", {"priority": 9}), ("c", {})]
    assert in_order(single, pushes) == ["high", "a", "b", "c", "low"]


def test_a_pool_without_a_device_counts_against_the_thread_budget() -> None:
    assert WorkerPool("cpu", 2).is_counted
    assert not WorkerPool("gpu(0)", 1, Context("gpu", 0)).is_counted


def test_an_idle_worker_is_withdrawn_once_and_not_while_another_thread_wakes_it() -> None:
    pool, first, second = WorkerPool("cpu", 2), threading.Lock(), threading.Lock()
    pool.idle += [first, second]
    assert pool.withdraw(first)
    assert pool.idle == [second]
    assert not pool.withdraw(first)


def test_devices_have_workers_apart_from_those_of_the_host(single: ThreadedEngine) -> None:
    runner = single._dispatcher.runner
    assert runner._cpu.device is None
    for ctx in (cpu(), cpu(3)):
        single.push_sync(lambda _: None, ctx, (), (single.new_variable(),))
    single.wait_for_all()
    assert runner._cpu.workers <= runner._cpu.size == 1
