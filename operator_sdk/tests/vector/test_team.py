"""Threads that wait in machine code: every order of their steps, many at once, and forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from operad_sdk.mapper import mapper
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.team import has_team, team

pytestmark = pytest.mark.skipif(not has_team(), reason="helpers wait at semaphores of Linux")

HELPERS = 2
"""Helpers of the model; each has a box."""


def helper_steps(world, me):
    """What `@serve` does, a step between two yields; `yield` may say that the thread cannot go on."""
    state, looks = world["state"], world["looks"]
    while True:
        for _ in range(1 + looks):
            yield
            if state[me] == 1:
                break
        else:
            for awake, asleep in ((0, 5), (3, 6)):
                yield
                if state[me] == awake:
                    state[me] = asleep
                    while not world["posted"][me]:
                        yield "blocked"
                    world["posted"][me] -= 1  # sem_wait
                    break
            continue
        yield
        if state[me] != 1:
            continue
        state[me] = 2
        yield
        job = world["job"][me]
        while True:
            assert job == world["valid"], "a helper reads a job that is over"
            part, world["next"] = world["next"], world["next"] + 1
            yield
            if part >= world["parts"]:
                break
            assert job == world["valid"], "a helper computes for a job that is over"
            world["done"].append(part)
            yield
        before, state[me] = state[me], 3
        yield
        if before == 4:
            world["finished"][me] += 1
            yield


def poster_steps(world, jobs):
    """What `@kernel` does, for one job after another in the same boxes."""
    state = world["state"]
    for job, parts in enumerate(jobs, 1):
        world.update(valid=job, parts=parts, next=0, done=[])
        for box in range(HELPERS):
            world["job"][box] = job
            before, state[box] = state[box], 1
            yield
            if before == 5:
                world["posted"][box] += 1
                yield
        while True:
            part, world["next"] = world["next"], world["next"] + 1
            yield
            if part >= world["parts"]:
                break
            world["done"].append(part)
            yield
        for box in range(HELPERS):
            yield from collecting_steps(world, box)
        assert sorted(world["done"]) == list(range(parts)), "a part was computed never, or twice"
        world["valid"] = None
        yield
    world["is_over"] = True


def collecting_steps(world, box):
    """What `@kernel` does until a box is free again."""
    state = world["state"]
    if state[box] == 1:
        state[box] = 0
        yield
        return
    yield
    if state[box] not in (3, 6):
        yield
        if state[box] == 2:
            state[box] = 4
            while True:
                while not world["finished"][box]:
                    yield "blocked"
                world["finished"][box] -= 1
                yield
                if state[box] in (3, 6):
                    break
    yield
    if state[box] == 3:
        state[box] = 0
    else:
        yield
        assert state[box] == 6, "a box is free before it was collected"
        state[box] = 5
    yield


def run_model(choices, jobs, looks):
    """One order of steps: `choices` says which thread goes on, then the first that can.

    Args:
        looks: Of a helper, before it sleeps.
    Returns:
        At each step, which threads could go on.
    """
    world = {
        "state": [0] * HELPERS, "posted": [0] * HELPERS, "finished": [0] * HELPERS, "job": [None] * HELPERS,
        "valid": None, "is_over": False, "looks": looks,
    }  # fmt: skip
    threads = [poster_steps(world, jobs), *[helper_steps(world, me) for me in range(HELPERS)]]
    trail = []
    while not world["is_over"]:
        wanted = choices[len(trail)] if len(trail) < len(choices) else 0
        order = [wanted, *[n for n in range(len(threads)) if n != wanted]]
        for number in order:
            if next(threads[number], "over") != "blocked":
                trail.append(number)
                break
        else:
            raise AssertionError(f"all wait for each other after {trail}")
    expect_no_helper_is_lost(world, threads[1:])
    return trail


def expect_no_helper_is_lost(world, helpers):
    """Left alone, each helper sleeps where the next job wakes it."""
    for me, helper in enumerate(helpers):
        while next(helper) != "blocked":
            pass
        assert world["state"][me] == 5, "a helper sleeps, and no job would wake it"
        assert not world["posted"][me], "a helper was woken twice"


@pytest.mark.parametrize("looks", [0, 1])
def test_every_order_of_steps_with_few_changes_of_threads(looks):
    """All orders in which threads take turns up to three times beyond those that blocking forces."""
    jobs, seen, waiting = (2, 1), 0, [((), 3)]
    while waiting:
        choices, left = waiting.pop()
        trail = run_model(choices, jobs, looks)
        seen += 1
        if left:
            for step in range(len(choices), len(trail)):
                others = [number for number in range(1 + HELPERS) if number != trail[step]]
                waiting += [((*trail[:step], number), left - 1) for number in others]
    assert seen > 10_000


def test_many_random_orders_of_steps():
    rng = np.random.default_rng(0)
    for seed in range(2000):
        trail = run_model(rng.integers(0, 1 + HELPERS, 300).tolist(), (3, 0, 1, 2), looks=seed % 4)
        assert len({one for one, _ in pairwise(trail)}) > 1


@mapper
def next_number(x):
    return x + 1.0


def test_every_unit_is_computed_once_by_any_number_of_threads():
    form = CompiledForm(next_number.form, np.dtype(np.float64))
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            data = rng.standard_normal(int(rng.integers(1, 20_000)))
            sums = data.copy()
            bound = form.bind([sums], [sums])  # in place, so that a unit computed twice shows
            team.run(bound, int(rng.integers(1, 40)), int(rng.integers(1, 6)))
            if not np.array_equal(sums, data + 1):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_where_no_thread_can_be_had_the_caller_computes_all_parts(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    fresh = type(team)()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    sums = np.zeros(1000)
    form = CompiledForm(next_number.form, np.dtype(np.float64))
    fresh.run(form.bind([sums], [sums]), 7, 3)
    assert (sums == 1).all()


PROGRAM = """
import os
import numpy as np
import operad as od

def run():
    return od.nd.softmax(data).asnumpy()

data = od.nd.array(np.random.default_rng(0).standard_normal((1024, 1000)))
before = run()
for _ in range(20):
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(run(), before) else 1)
    assert np.array_equal(run(), before)
    assert os.waitpid(child, 0)[1] == 0
from operad_sdk.vector.team import team
print(team._hired)
"""


def test_a_forked_child_has_helpers_of_its_own():
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "OPERAD_NUM_THREADS": "2"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert not found.returncode, found.stderr
    assert found.stdout.split() == ["1"], "the threads are used again"
