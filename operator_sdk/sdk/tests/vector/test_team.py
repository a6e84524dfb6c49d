"""Threads that wait in machine code: every order of the steps of their text, many at once, and forks."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
from functools import cache
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

from core.tests.together import run_together
from operad_sdk.mapper import mapper
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.team import _BOX, has_team, team
from operator_sdk.sdk.tests.vector.team_model import END_OF_WAITS, World, functions
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

team_module = import_module("operad_sdk.vector.team")

pytestmark = pytest.mark.skipif(not has_team(), reason="helpers wait at semaphores of Linux")

HELPERS = 2
"""Helpers of the model; each has a box."""
THREADS = 1 + HELPERS
"""The poster is the first of them."""
SPINS = 1
"""Looks of the poster before it waits at a semaphore."""
MOST_STEPS = 2000
"""Steps of a model that goes on for ever."""
WRONG = {
    "the poster takes any end of a wait for a post": (
        "br i1 %is_interrupted, label %await, label %told", "br label %free",
    ),
    "the poster takes an end without an error for a post": (
        "br i1 %is_done2, label %free, label %await", "br label %free",
    ),
    "a helper takes any end of a wait for a post": (
        "br i1 %is_interrupted, label %sleep, label %woken", "br label %wait",
    ),
    "a helper does not look why it woke": (
        "br i1 %still_sleeps, label %sleep, label %wait", "br label %wait",
    ),
    "a job is written behind the box's state": (
        "store i64 %i2, ptr %slot_at\n  %before = atomicrmw xchg ptr %box, i64 1 seq_cst",
        "%before = atomicrmw xchg ptr %box, i64 1 seq_cst\n  store i64 %i2, ptr %slot_at",
    ),
    "a late job is not taken back": ("call i1 @exchange(ptr %box2, i64 1, i64 0)", "icmp eq i64 0, 0"),
    "a helper that waits for its box to be freed is not woken": (
        "call i1 @exchange(ptr %box2, i64 6, i64 5)", "call i1 @exchange(ptr %box2, i64 6, i64 0)",
    ),
    "nobody tells a poster that waits": ("icmp eq i64 %before, 4", "icmp eq i64 %before, 7"),
}  # fmt: skip
"""Faults that the model must find, as changes of the text."""
MESSAGES = (
    "job that is over|never, or twice|goes on for ever|of another thread|would wake it|wait for each other"
)


@cache
def model(looks, fault=None):
    """The functions of the text, for helpers that look so often before they sleep."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(team_module, "_LOOKS", looks)
        text = team_module._text.__wrapped__()
    if fault is not None:
        assert text.count(WRONG[fault][0]) == 1
        text = text.replace(*WRONG[fault])
    return functions(text)


def poster_steps(world, called, boxes, jobs):
    """What `_Team.divide` does, for one job after another in the same boxes."""
    for number, parts in jobs:
        tables = world.memory(max(1, parts), number)
        for part in range(parts):
            world.store(tables + 8 * part, world.memory(1, number))
        job, posted = world.memory(7, number), world.memory(len(boxes) or 1, number)
        for i, word in enumerate(("kernel", tables, 0, parts, parts, 0, 1)):
            world.store(job + 8 * i, word)
        for i, box in enumerate(boxes):
            world.store(posted + 8 * i, box)
        world.done.clear()
        yield from called["kernel"](world, 0, job, len(boxes), SPINS, posted)
        found = sorted(world.done)
        assert found == [(part, part + 1) for part in range(parts)], "a part was computed never, or twice"
        world.end(number)
        yield
    world.is_over = True


def begin(world, called, jobs):
    """The threads of a model: a poster, and helpers at boxes of their own."""
    world.is_over = False
    boxes = [world.memory(_BOX.end) for _ in range(HELPERS)]
    helpers = [called["serve"](world, 1 + i, box, 0, 0, 0) for i, box in enumerate(boxes)]
    return boxes, [poster_steps(world, called, boxes, jobs), *helpers]


def run_model(choices, jobs, called, look=None, world=None):
    """One order of steps: `choices` says which thread goes on, then the last one does until it cannot.

    Args:
        choices: Numbers of threads; from `THREADS` on a wait of a thread ends, if it waits.
        called: The functions of the text.
        look: Called with the world and the boxes behind each step.
    Returns:
        At each step, which number was taken, and which waits could have ended.
    """
    world = world or World()
    boxes, threads = begin(world, called, list(enumerate(jobs, world.num_jobs)))
    world.num_jobs += len(jobs)
    trail, last = [], 0
    while not world.is_over:
        wanted = choices[len(trail)] if len(trail) < len(choices) else last
        endable = [me for me, end in world.ends.items() if end is None]
        for number in [wanted, *[n for n in range(THREADS) if n != wanted]]:
            if go_on(world, threads, number):
                trail.append((number, endable))
                last = number if number < THREADS else last
                break
        else:
            raise AssertionError(f"all wait for each other after {trail}")
        assert len(trail) < MOST_STEPS, "a thread goes on for ever"
        if look is not None:
            look(world, boxes)
    expect_no_helper_is_lost(world, boxes, threads[1:])
    return trail


def go_on(world, threads, number):
    """One step, of a thread or of what ends its wait; False: it cannot go on."""
    if number < THREADS:
        return next(threads[number], "over") != "blocked"
    me, kind = divmod(number - THREADS, len(END_OF_WAITS))
    if world.ends.get(me, "no wait") is not None:
        return False
    world.ends[me] = END_OF_WAITS[kind]
    return True


def expect_no_helper_is_lost(world, boxes, helpers):
    """Left alone, each helper sleeps where the next job wakes it."""
    for box, helper in zip(boxes, helpers, strict=True):
        for _ in range(MOST_STEPS):
            if next(helper) == "blocked":
                break
        else:
            raise AssertionError("a helper goes on for ever")
        assert world.load(box) == 5, "a helper sleeps, and no job would wake it"
        assert not world.load(box + 8 * _BOX.posted), "a helper was woken twice"


def explore(looks, changes, fault=None):
    """Run all orders with up to so many changes beyond those that blocking forces; how many there are.

    A change is another thread that goes on, or a wait that ends without a post.
    """
    seen, waiting, called = 0, [((), changes)], model(looks, fault)
    while waiting:
        choices, left = waiting.pop()
        trail = run_model(choices, (2, 1), called)
        seen += 1
        for step in range(len(choices), len(trail)) if left else ():
            taken, endable = trail[step]
            before = [number for number, _ in trail[:step]]
            others = [number for number in range(THREADS) if number != taken]
            others += [
                THREADS + len(END_OF_WAITS) * me + k for me in endable for k in range(len(END_OF_WAITS))
            ]
            waiting += [((*before, number), left - 1) for number in others]
    return seen


@pytest.mark.parametrize("looks", [0, 1])
def test_every_order_of_steps_with_one_change_of_threads_or_end_of_a_wait(looks):
    assert explore(looks, 1) > 30


@pytest.mark.more
@pytest.mark.parametrize("looks", [0, 1])
def test_every_order_of_steps_with_two_changes(looks):
    assert explore(looks, 2) > 2_000


@pytest.mark.slow
@pytest.mark.parametrize("looks", [0, 1])
def test_every_order_of_steps_with_three_changes(looks):
    assert explore(looks, 3) > 50_000


@pytest.mark.more
@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_text_is_found(fault):
    with pytest.raises(AssertionError, match=MESSAGES):
        any(explore(looks, changes, fault) < 0 for changes in (1, 2, 3) for looks in (0, 1))


def random_orders(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        choices = rng.integers(0, THREADS * (1 + len(END_OF_WAITS)), 500).tolist()
        yield rng, choices, model(seed % 4)


def test_many_random_orders_of_steps():
    for _, choices, called in random_orders(range(300)):
        trail = run_model(choices, (3, 0, 1, 2), called)
        assert len({one for one, _ in pairwise(number for number, _ in trail)}) > 1


def test_a_fork_in_every_state_leaves_the_child_whole():
    """The child has the memory, none of the threads, and boxes of its own, as `_Team._renew` gives it.

    It computes its jobs with new helpers, without a look at a job of the parent's. In boxes that nobody held
    at the fork it would compute all by itself, since it takes back what no helper takes.
    """
    states = set()

    def fork(world, boxes):
        found = tuple(world.load(box) for box in boxes)
        if found in states:
            return
        states.add(found)
        child = copy.deepcopy(world)
        child.forget()
        run_model((), (2, 1), called, world=child)
        if set(found) <= {0, 5}:
            alone = copy.deepcopy(world)
            alone.forget()
            alone.is_over = False
            for _ in poster_steps(alone, called, boxes, [(world.num_jobs, 3)]):
                pass
            assert alone.is_over

    for _, choices, called in random_orders(range(200)):
        run_model(choices, (2, 3, 1), called, fork)
    assert {state for pair in states for state in pair} == set(range(7)), "a state of a box was not seen"
    assert len(states) > 30


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
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not found.returncode, found.stderr
    assert found.stdout.split() == ["1"], "the threads are used again"
