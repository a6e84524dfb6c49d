from __future__ import annotations

import os
import threading

import pytest

from operad.device import cpu
from operad.engine import Engine, NaiveEngine, ThreadedEngine
from operad.engine.intra_op import IntraOpPool

pytestmark = pytest.mark.serial


@pytest.mark.parametrize("width", [1, 2, 5])
def test_every_part_is_computed_once_in_a_slot_of_its_own(width: int) -> None:
    done: list[int] = []
    busy = [threading.Lock() for _ in range(width)]

    def compute(part: int, slot: int) -> None:
        assert busy[slot].acquire(blocking=False)
        done.append(part)
        busy[slot].release()

    pool = IntraOpPool()
    for _ in range(20):
        done.clear()
        pool.run(compute, 37, width)
        assert sorted(done) == list(range(37))


def test_parts_run_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=30)
    IntraOpPool().run(lambda part, slot: meeting.wait(), 3, 3)


def test_no_parts_are_no_work() -> None:
    IntraOpPool().run(lambda part, slot: pytest.fail("called"), 0, 4)


def test_an_error_surfaces_in_the_operation_and_the_pool_goes_on() -> None:
    pool = IntraOpPool()

    def fail(part: int, slot: int) -> None:
        if part == 3:
            raise ValueError("part 3")

    with pytest.raises(ValueError, match="part 3"):
        pool.run(fail, 8, 4)
    done: list[int] = []
    pool.run(lambda part, slot: done.append(part), 8, 4)
    assert sorted(done) == list(range(8))


def test_a_part_that_asks_for_help_works_alone() -> None:
    pool = IntraOpPool()
    threads: dict[int, set[int]] = {}

    def inner(number: int) -> None:
        pool.run(lambda part, slot: threads.setdefault(number, set()).add(threading.get_ident()), 6, 4)

    pool.run(lambda part, slot: inner(part), 4, 4)
    assert all(len(used) == 1 for used in threads.values())
    assert len(threads) == 4


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own() -> None:
    pool = IntraOpPool()
    pool.run(lambda part, slot: None, 4, 4)
    child = os.fork()
    if child == 0:
        done: list[int] = []
        pool.run(lambda part, slot: done.append(part), 8, 4)
        os._exit(0 if sorted(done) == list(range(8)) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("kind", [NaiveEngine, ThreadedEngine])
def test_an_operation_has_its_parts_computed_with_all_threads(kind: type[Engine]) -> None:
    engine = kind(num_threads=3)  # type: ignore[call-arg]
    seen: list[tuple[int, int]] = []

    def work(_: object) -> None:
        width = engine.budget.num_threads_now
        engine.budget.parallel(lambda part, slot: seen.append((width, part)), 4, width)

    engine.push_sync(work, cpu())
    engine.wait_for_all()
    engine.stop()
    assert sorted(seen) == [(3, part) for part in range(4)]


def test_a_light_operation_has_one_thread() -> None:
    engine = NaiveEngine(num_threads=3)
    seen: list[int] = []
    engine.push_sync(lambda _: seen.append(engine.budget.num_threads_now), cpu(), is_parallel=False)
    assert seen == [1]
    engine.stop()
