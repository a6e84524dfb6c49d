"""Threads that wait in machine code: every order of their steps, many at once, and forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

from operad_sdk.mapper import mapper
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.team import has_team, team
from operator_sdk.sdk.tests.together import run_together
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

pytestmark = pytest.mark.skipif(not has_team(), reason="helpers wait at semaphores of Linux")

HELPERS = 2
"""Helpers of the model; each has a box."""
THREADS = 1 + HELPERS
"""The poster is the first of them."""
ENDS = (-1, 0)
"""Values of a wait that ends without a post: by a signal, and for no reason."""
MOST_STEPS = 2000
"""Steps of a model that goes on for ever."""


def sem_wait(world, me, counts, box):
    """Steps of a wait, and its value; it also ends where the order of steps says so."""
    world["ends"][me] = None
    yield  # what comes before is a step: one that cannot go on changes nothing
    while not counts[box] and world["ends"][me] is None:
        yield "blocked"
    end = world["ends"].pop(me)
    if end is None:
        counts[box] -= 1
        return 0
    return end


def wait_while(world, me, counts, box, is_waiting):
    """Steps of a wait that begins again until it ended with 0, and there is a reason."""
    while True:
        error = yield from sem_wait(world, me, counts, box)
        if world["trusting"] == (1 if me else 0):
            return
        if error:
            continue
        yield
        if not is_waiting(world["state"][box]):
            return


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
                    yield from wait_while(world, 1 + me, world["posted"], me, lambda seen: seen >= 5)
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
            yield from wait_while(world, 0, world["finished"], box, lambda seen: seen not in (3, 6))
    yield
    if state[box] == 3:
        state[box] = 0
    else:
        yield
        assert state[box] == 6, "a box is free before it was collected"
        state[box] = 5
    yield


def run_model(choices, jobs, looks, trusting=None):
    """One order of steps: `choices` says which thread goes on, then the last one does until it cannot.

    Args:
        choices: Numbers of threads; from `THREADS` on a wait of a thread ends, if it waits.
        looks: Of a helper, before it sleeps.
        trusting: Who takes any end of a wait for a post, wrongly: 0 the poster, 1 helpers.
    Returns:
        At each step, which number was taken, and which waits could have ended.
    """
    world = {
        "state": [0] * HELPERS, "posted": [0] * HELPERS, "finished": [0] * HELPERS, "job": [None] * HELPERS,
        "valid": None, "is_over": False, "looks": looks, "ends": {}, "trusting": trusting,
    }  # fmt: skip
    threads = [poster_steps(world, jobs), *[helper_steps(world, me) for me in range(HELPERS)]]
    trail, last = [], 0
    while not world["is_over"]:
        wanted = choices[len(trail)] if len(trail) < len(choices) else last
        endable = [me for me, end in world["ends"].items() if end is None]
        for number in [wanted, *[n for n in range(THREADS) if n != wanted]]:
            if go_on(world, threads, number):
                trail.append((number, endable))
                last = number if number < THREADS else last
                break
        else:
            raise AssertionError(f"all wait for each other after {trail}")
        assert len(trail) < MOST_STEPS, "a thread goes on for ever"
    expect_no_helper_is_lost(world, threads[1:])
    return trail


def go_on(world, threads, number):
    """One step, of a thread or of what ends its wait; False: it cannot go on."""
    if number < THREADS:
        return next(threads[number], "over") != "blocked"
    me, kind = divmod(number - THREADS, len(ENDS))
    if world["ends"].get(me, "no wait") is not None:
        return False
    world["ends"][me] = ENDS[kind]
    return True


def expect_no_helper_is_lost(world, helpers):
    """Left alone, each helper sleeps where the next job wakes it."""
    for me, helper in enumerate(helpers):
        for _ in range(MOST_STEPS):
            if next(helper) == "blocked":
                break
        else:
            raise AssertionError("a helper goes on for ever")
        assert world["state"][me] == 5, "a helper sleeps, and no job would wake it"
        assert not world["posted"][me], "a helper was woken twice"


def explore(looks, changes, trusting=None):
    """Run all orders with up to so many changes beyond those that blocking forces; how many there are.

    A change is another thread that goes on, or a wait that ends without a post.
    """
    seen, waiting = 0, [((), changes)]
    while waiting:
        choices, left = waiting.pop()
        trail = run_model(choices, (2, 1), looks, trusting)
        seen += 1
        for step in range(len(choices), len(trail)) if left else ():
            taken, endable = trail[step]
            before = [number for number, _ in trail[:step]]
            others = [number for number in range(THREADS) if number != taken]
            others += [THREADS + len(ENDS) * me + kind for me in endable for kind in range(len(ENDS))]
            waiting += [((*before, number), left - 1) for number in others]
    return seen


@pytest.mark.parametrize("looks", [0, 1])
def test_every_order_of_steps_with_few_changes_of_threads_and_ends_of_waits(looks):
    assert explore(looks, 2) > 2_000


@pytest.mark.slow
@pytest.mark.parametrize("looks", [0, 1])
def test_every_order_of_steps_with_three_changes(looks):
    assert explore(looks, 3) > 50_000


@pytest.mark.parametrize(("trusting", "message"), [(0, "before it was collected"), (1, "goes on for ever")])
def test_a_thread_that_takes_any_end_of_a_wait_for_a_post_is_found(trusting, message):
    with pytest.raises(AssertionError, match=message):
        explore(0, 3, trusting)


def test_many_random_orders_of_steps():
    rng = np.random.default_rng(0)
    for seed in range(2000):
        choices = rng.integers(0, THREADS * (1 + len(ENDS)), 300).tolist()
        trail = run_model(choices, (3, 0, 1, 2), looks=seed % 4)
        assert len({one for one, _ in pairwise(number for number, _ in trail)}) > 1


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

    run_together(work, range(4))
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
