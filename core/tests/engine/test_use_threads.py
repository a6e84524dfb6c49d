"""BLAS has one thread while operations run, and the program has its threads back afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from threading import Event, Thread
from types import FrameType
from typing import Any

import pytest

from operad.device import cpu
from operad.engine import Engine, NaiveEngine, RunContext, ThreadedEngine
from operad.engine import budget as budget_module
from operad.engine.budget import UNLIMITED, ThreadBudget, blas_limits, kept_blas_threads, run_single

MOST = 8


class Library:
    """A BLAS library, as threadpoolctl has it, that notes what it is told."""

    def __init__(self, filepath: str = "blas", num_threads: int = MOST) -> None:
        self.filepath = filepath
        self.num_threads = num_threads
        self.told: list[int] = []

    def set_num_threads(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self.told.append(num_threads)


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> list[Library]:
    """What is loaded, with nothing limited and nothing running."""
    loaded = [Library()]
    known = {one.filepath: (one.set_num_threads, MOST) for one in loaded}
    monkeypatch.setattr("operad.engine.budget._blas_pools", lambda: known)
    monkeypatch.setattr("operad.engine.budget._loaded_blas", lambda: loaded)
    for name, value in {"applied": UNLIMITED, "idle": UNLIMITED, "users": []}.items():
        monkeypatch.setattr(blas_limits, name, value)
    return loaded


@pytest.fixture
def library(libraries: list[Library]) -> Library:
    return libraries[0]


@pytest.fixture(params=[NaiveEngine, ThreadedEngine])
def engine(request: pytest.FixtureRequest, library: Library) -> Iterator[Engine]:
    made = request.param(num_threads=64)
    yield made
    made.stop()


def counted(budget: ThreadBudget) -> RunContext:
    run_ctx = RunContext(cpu(), None, budget)
    assert budget.start(run_ctx)
    return run_ctx


def run_in_parts(budget: ThreadBudget, look: Callable[[], None]) -> None:
    budget.parallel(lambda part, slot: look(), 1, 1)


def run_by_a_caller(budget: ThreadBudget, look: Callable[[], None]) -> None:
    run_single(look)


def run_counted(budget: ThreadBudget, look: Callable[[], None]) -> None:
    run_ctx = counted(budget)
    look()
    budget.finish(run_ctx)


RUNS = pytest.mark.parametrize("run", [run_in_parts, run_by_a_caller, run_counted])


@pytest.mark.parametrize("is_parallel", [False, True])
def test_an_operation_has_one_blas_thread_and_the_program_all_again(
    engine: Engine, library: Library, is_parallel: bool
) -> None:
    seen: list[int] = []
    engine.push_sync(lambda _: seen.append(library.num_threads), cpu(), is_parallel=is_parallel)
    engine.wait_for_all()
    assert seen == [1]
    engine.stop()
    assert library.told == [1, MOST]


@RUNS
def test_one_thread_is_left_whatever_else_begins_and_ends(run: Callable[..., None], library: Library) -> None:
    budget, seen = ThreadBudget(6), []

    def look() -> None:
        other = Thread(target=lambda: budget.finish(counted(ThreadBudget(3))))
        other.start()
        other.join()
        blas_limits.restore()
        seen.append(library.num_threads)

    run(budget, look)
    assert seen == [1]


def test_the_library_is_told_only_what_is_new(library: Library) -> None:
    budget = ThreadBudget(4)
    first, second = counted(budget), counted(budget)
    run_single(int)
    budget.finish(first)
    budget.finish(second)
    assert library.told == [1]
    blas_limits.restore()
    assert library.told == [1, MOST]


def test_operations_in_the_callers_thread_set_the_limit_once(library: Library) -> None:
    engine = NaiveEngine(num_threads=64)
    var = engine.new_variable()
    for _ in range(3):
        engine.push_sync(lambda _: None, cpu(), mutable_vars=[var])
        engine.wait_for_var(var)
    engine.wait_for_all()
    assert library.told == [1, MOST]


def test_a_wait_gives_the_program_back_what_a_caller_took(engine: Engine, library: Library) -> None:
    for _ in range(3):
        run_single(int)
    assert library.told == [1]
    engine.wait_for_all()
    assert library.told == [1, MOST]


@RUNS
@pytest.mark.parametrize("step", range(3))
def test_what_begins_while_another_thread_sets_the_limit_waits_for_that(
    step: int, run: Callable[..., None], library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each step of `apply`: before it knows what to say, before it says it, and after."""
    told, seen, is_set = [1], [], Event()
    budget = ThreadBudget(4)

    def look() -> None:
        is_set.wait()
        seen.append(told[-1])

    others: list[Thread] = []

    def meanwhile(now: int) -> None:
        if now == step and not others:
            others.append(Thread(target=run, args=(budget, look)))
            others[0].start()
            others[0].join(0.2)  # it waits for the lock, or is done

    class Watched(list[Any]):
        """What runs, which the limit follows."""

        def __bool__(self) -> bool:
            meanwhile(0)
            return len(self) > 0

    def tell(limit: int) -> None:
        meanwhile(1)
        told.append(limit)
        meanwhile(2)

    monkeypatch.setattr("operad.engine.budget._blas_pools", lambda: {"blas": (tell, MOST)})
    blas_limits.users, blas_limits.applied = Watched(), 1
    blas_limits.apply()
    is_set.set()
    others[0].join()
    assert seen == [1]


def test_an_import_leaves_an_operation_that_begins_meanwhile_its_one_thread(library: Library) -> None:
    """Put back what was there before, BLAS would have several threads in the middle of a product."""
    budget = ThreadBudget(2)
    with kept_blas_threads():
        run_ctx = counted(budget)
    assert library.num_threads == 1
    budget.finish(run_ctx)
    blas_limits.restore()
    assert library.num_threads == MOST


def test_an_import_beside_an_operation_that_ends_leaves_the_program_its_threads(library: Library) -> None:
    budget = ThreadBudget(2)
    run_ctx = counted(budget)
    with kept_blas_threads():
        budget.finish(run_ctx)
        blas_limits.restore()
    assert library.num_threads == MOST


@pytest.mark.parametrize("is_running", [False, True])
def test_what_an_import_does_to_blas_is_undone_and_what_it_loads_is_limited(
    libraries: list[Library], is_running: bool
) -> None:
    budget = ThreadBudget(2)
    if is_running:
        counted(budget)
    libraries[0].num_threads = expected = 1 if is_running else 5  # the program's own choice
    with kept_blas_threads():
        libraries[0].num_threads = 3
        libraries.append(Library("another"))
    assert libraries[0].num_threads == expected
    assert libraries[1].num_threads == (1 if is_running else MOST)


@pytest.mark.parametrize("run", [run_by_a_caller, run_counted])
def test_an_exception_from_outside_at_any_point_leaves_the_program_its_threads(
    run: Callable[..., None], library: Library
) -> None:
    """At the entry of each function of the module; what is counted is put down once more."""
    place = 0
    while True:
        budget = ThreadBudget(2)
        ended = interrupted(place, partial(run, budget, int))
        for run_ctx in tuple(budget.running):  # as `ThreadedRunner._put_down`
            budget.finish(run_ctx)
        blas_limits.restore()
        assert (blas_limits.users, library.num_threads) == ([], MOST), f"point {place}"
        if not ended:
            break
        place += 1
    assert place >= 2


class FromOutsideError(BaseException):
    """What a handler of a signal raises."""


def interrupted(place: int, function: Callable[[], object]) -> bool:
    """Run `function` with an exception at the given one of these entries; whether there is one."""
    points = 0

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal points
        if frame.f_code.co_filename == budget_module.__file__ and event == "call":
            points += 1
            if points == place + 1:
                sys.settrace(None)
                raise FromOutsideError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    except FromOutsideError:
        return True
    finally:
        sys.settrace(before)
    return False


def test_a_library_that_the_program_loaded_itself_is_no_trouble_to_an_import(
    libraries: list[Library],
) -> None:
    libraries.append(Library("the program's own"))
    budget = ThreadBudget(2)
    with kept_blas_threads():
        run_ctx = counted(budget)
        libraries[1].num_threads = 3
    assert libraries[1].num_threads == 1
    budget.finish(run_ctx)
    blas_limits.restore()
    assert libraries[1].num_threads == MOST


def test_an_import_after_a_change_that_was_broken_off_limits_what_it_loads(libraries: list[Library]) -> None:
    blas_limits.applied = 0
    with kept_blas_threads():
        libraries.append(Library("another"))
    assert libraries[1].num_threads == 1
