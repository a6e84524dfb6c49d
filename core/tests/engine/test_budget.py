"""The thread budget is never exceeded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
import threadpoolctl

from operad.device import cpu
from operad.engine import RunContext, ThreadedEngine, Var
from operad.engine.budget import ThreadBudget, blas_limits

CTX = cpu()


def test_shares_divide_the_total_among_those_that_run() -> None:
    budget = ThreadBudget(4)
    first, second, third = (RunContext(CTX, None, budget) for _ in range(3))
    assert budget.start(first)
    assert first.num_threads == 4
    assert budget.start(second)
    assert (first.num_threads, second.num_threads) == (2, 2)
    assert budget.start(third)
    assert (first.num_threads, second.num_threads, third.num_threads) == (1, 1, 1)
    budget.finish(second)
    assert (first.num_threads, third.num_threads) == (2, 2)
    budget.finish(first)
    budget.finish(third)


@pytest.mark.parametrize("helps", [True, False], ids=["who waits helps", "workers alone"])
def test_an_operation_after_another_has_all_threads(helps: bool) -> None:
    # The worker of the one before, or one that was woken in vain, has not gone to rest yet.
    engine, var, shares = ThreadedEngine(4), Var(), []
    for _ in range(300):
        engine.push_sync(lambda run_ctx: shares.append(run_ctx.num_threads), CTX, (), (var,))
        if not helps:
            done = threading.Event()
            engine.push_sync(lambda _: done.set(), CTX, (var,))  # noqa: B023 - waited for before the next
            done.wait()
        engine.wait_for_var(var)
    engine.stop()
    assert shares == [4] * 300


def test_a_full_budget_refuses() -> None:
    budget, first = ThreadBudget(1), RunContext(CTX)
    assert budget.start(first)
    assert budget.is_full
    assert not budget.start(RunContext(CTX))
    budget.finish(first)
    assert blas_limits.users == []


@pytest.mark.parametrize("total", [1, 2, 3, 4])
def test_running_operations_times_their_threads_stay_within_the_budget(total: int) -> None:
    engine = ThreadedEngine(total)
    lock, running, most = threading.Lock(), [], []

    def op(run_ctx: RunContext) -> None:
        with lock:
            running.append(run_ctx)
            most.append(sum(other.num_threads for other in running))
        with lock:
            most.append(sum(other.num_threads for other in running))
            running.remove(run_ctx)

    variables = [engine.new_variable() for _ in range(7)]
    for number in range(3000):
        engine.push_sync(op, CTX, (), (variables[number % 7],), priority=number % 2)
        if number % 100 == 0:
            engine.wait_for_var(variables[number % 7])
    engine.stop()
    assert len(most) == 6000
    assert max(most) <= total
    assert engine._budget.running == []


def blas_threads() -> int:
    return max(pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas")


@pytest.mark.skipif(
    (os.cpu_count() or 1) < 2, reason="one core gives BLAS one thread, which cannot be shared"
)
@pytest.mark.slow  # reads a process-wide setting that other tests' engines may change meanwhile
def test_blas_has_one_thread_beside_others_and_alone_and_its_own_again() -> None:
    most = blas_threads()
    engine = ThreadedEngine(most)
    alone, both = [], []
    meeting = threading.Barrier(2)

    def together(_: RunContext) -> None:
        meeting.wait()
        both.append(blas_threads())
        meeting.wait()

    engine.push_sync(lambda _: alone.append(blas_threads()), CTX)
    engine.wait_for_all()
    engine.push_sync(together, CTX)
    engine.push_sync(together, CTX)
    engine.wait_for_all()
    engine.stop()
    assert alone == [1]
    assert both == [1, 1]
    assert blas_threads() == most


def test_a_budget_below_the_machines_cores_limits_blas_before_any_operation_runs() -> None:
    program = (
        "from operad.engine import get; import threadpoolctl; get();"
        "print([p['num_threads'] for p in threadpoolctl.threadpool_info() if p['user_api'] == 'blas'])"
    )
    environment = {**os.environ, "OPERAD_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=False, capture_output=True, text=True
    )
    assert set(done.stdout.strip("[]\n").split(", ")) == {"1"}, done.stderr
