"""The dependency queue alone: the test decides when a block is finished."""

from __future__ import annotations

import itertools
from collections import deque
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from operad.device import cpu
from operad.engine.failure import Failure, FailureLog, alive
from operad.engine.operation import DELETE, RAN, WAIT, Opr, OprBlock
from operad.engine.var import DependencyQueue as _Queue
from operad.engine.var import Var


class DependencyQueue:
    """A queue that hands out at once, as the dispatcher does."""

    def __init__(self) -> None:
        self.queue = _Queue()

    def __getattr__(self, name: str) -> object:
        return getattr(self.queue, name)

    def add(self, block: OprBlock) -> bool:
        """Enter a block; whether it is handed out."""
        is_ready = self.queue.add(block)
        assert not self._handed_out()
        return is_ready

    def finish(self, block: OprBlock, failure: Failure | None = None) -> list[OprBlock]:
        """Take back a block that was handed out; those that are handed out then."""
        block.state, block.error = RAN, failure
        self.queue.conclude(block)
        self.queue.release(block, 1)
        return self._handed_out()

    def _handed_out(self) -> list[OprBlock]:
        found = []
        while self.queue.ready:
            ready = self.queue.ready.popleft()
            if self.queue.hand_out(ready):
                found.append(ready)
        return found


def block(reads: list[Var], writes: list[Var], reads_mutable: bool = False, kind: int = 0) -> OprBlock:
    return OprBlock(Opr(lambda _: None, reads, writes, reads_mutable=reads_mutable, kind=kind), cpu())


def failure_of(failed: OprBlock, text: str = "boom") -> Failure:
    return Failure(ValueError(text), failed.seq, "note")


def test_readers_share_a_variable() -> None:
    queue, var = DependencyQueue(), Var()
    assert queue.add(block([var], []))
    assert queue.add(block([var], []))


def check_that_the_last_waits_for_both(first: OprBlock, second: OprBlock, last: OprBlock) -> None:
    queue = DependencyQueue()
    assert queue.add(first)
    assert queue.add(second)
    assert not queue.add(last)
    assert queue.finish(second) == []
    assert queue.finish(first) == [last]


def test_a_writer_waits_for_every_earlier_reader() -> None:
    var = Var()
    check_that_the_last_waits_for_both(block([var], []), block([var], []), block([], [var]))


def test_a_reader_does_not_overtake_a_waiting_writer() -> None:
    queue, var = DependencyQueue(), Var()
    reader, writer, late = block([var], []), block([], [var]), block([var], [])
    assert queue.add(reader)
    assert not queue.add(writer)
    assert not queue.add(late)
    assert queue.finish(reader) == [writer]
    assert queue.finish(writer) == [late]


def test_readers_behind_a_writer_are_granted_together_up_to_the_next_writer() -> None:
    queue, var = DependencyQueue(), Var()
    first, left, right, last = block([], [var]), block([var], []), block([var], []), block([], [var])
    assert [queue.add(each) for each in (first, left, right, last)] == [True, False, False, False]
    assert queue.finish(first) == [left, right]
    assert queue.finish(left) == []
    assert queue.finish(right) == [last]


def test_a_block_waits_for_all_its_variables() -> None:
    a, b = Var(), Var()
    check_that_the_last_waits_for_both(block([], [a]), block([], [b]), block([a], [b]))


def test_a_finished_variable_is_idle_and_its_queue_empty() -> None:
    queue, var = DependencyQueue(), Var()
    first, second = block([], [var]), block([], [var])
    queue.add(first)
    queue.add(second)
    queue.finish(first)
    queue.finish(second)
    assert (var.holders, bool(var.queue), queue.pending) == (0, False, 0)


def test_a_failure_skips_the_chain_and_leaves_one_unread_record() -> None:
    queue, a, b, c = DependencyQueue(), Var(), Var(), Var()
    bad, middle, last = block([], [a]), block([a], [b]), block([b], [c])
    queue.add(bad)
    queue.add(middle)
    queue.add(last)
    record = failure_of(bad)
    assert queue.finish(bad, record) == []
    assert queue.pending == 0
    assert a.failure is b.failure is c.failure is record
    assert queue.failures.unread() == [record]


def test_a_chain_of_ten_thousand_is_skipped_without_recursion() -> None:
    queue = DependencyQueue()
    variables = [Var() for _ in range(10_000)]
    bad = block([], [variables[0]])
    queue.add(bad)
    for source, target in itertools.pairwise(variables):
        queue.add(block([source], [target]))
    queue.finish(bad, failure_of(bad))
    assert variables[-1].failure is not None


def test_a_successful_overwrite_makes_clean_again() -> None:
    queue, var = DependencyQueue(), Var()
    bad, good = block([], [var]), block([], [var])
    queue.add(bad)
    queue.finish(bad, failure_of(bad))
    assert queue.add(good)
    queue.finish(good)
    assert var.failure is None
    assert len(queue.failures.unread()) == 1


def test_an_update_of_a_failed_variable_is_skipped() -> None:
    queue, var = DependencyQueue(), Var()
    bad = block([], [var])
    queue.add(bad)
    record = failure_of(bad)
    queue.finish(bad, record)
    assert not queue.add(block([], [var], reads_mutable=True))
    assert var.failure is record


def test_after_a_failed_overwrite_the_later_failure_is_to_blame_and_both_are_unread() -> None:
    queue, var = DependencyQueue(), Var()
    first, second = block([], [var]), block([], [var])
    queue.add(first)
    one = failure_of(first)
    queue.finish(first, one)
    queue.add(second)
    two = failure_of(second)
    queue.finish(second, two)
    assert var.failure is two
    assert queue.failures.unread() == [one, two]


def test_of_failures_that_meet_the_one_pushed_first_is_passed_on() -> None:
    queue, a, b, c = DependencyQueue(), Var(), Var(), Var()
    on_a, on_b, both = block([], [a]), block([], [b]), block([b, a], [c])
    queue.add(on_a)
    queue.add(on_b)
    queue.add(both)
    late, early = failure_of(on_b), failure_of(on_a)
    queue.finish(on_b, late)
    queue.finish(on_a, early)
    assert c.failure is early
    assert late.seq > early.seq


def test_a_block_is_skipped_whether_or_not_the_failure_was_raised_before() -> None:
    queue, a, gate, b, c = DependencyQueue(), Var(), Var(), Var(), Var()
    bad, holder = block([], [a]), block([], [gate])
    queue.add(bad)
    record = failure_of(bad)
    queue.finish(bad, record)
    queue.add(holder)
    before, after = block([a, gate], [b]), block([a, gate], [c])
    queue.add(before)
    queue.failures.error_of(record)
    queue.add(after)
    assert queue.finish(holder) == []
    assert b.failure is c.failure is record


def test_a_failure_is_unread_until_it_surfaces_and_surfaces_each_time() -> None:
    queue, var = DependencyQueue(), Var()
    bad = block([], [var])
    queue.add(bad)
    record = failure_of(bad)
    queue.finish(bad, record)
    original = record.error
    first = queue.failures.error_of(record)
    assert first.__cause__ is original
    assert not queue.failures.unread()
    for _ in range(2):
        again = queue.failures.error_of(record)
        assert again is not first
        assert repr(again) == repr(first)


def test_nobody_looks_for_failures_once_no_variable_carries_one() -> None:
    queue, var = DependencyQueue(), Var()
    before = len(alive)
    bad = block([], [var])
    queue.add(bad)
    queue.finish(bad, failure_of(bad))
    assert len(alive) == before + 1
    queue.queue.failures = FailureLog()
    del bad  # which tells of its failure, too
    good = block([], [var])
    queue.add(good)
    queue.finish(good)
    assert len(alive) == before


def test_a_wait_arrives_in_its_turn_with_the_failures_of_that_turn() -> None:
    queue, var = DependencyQueue(), Var()
    arrived: list[Failure | None] = []
    waiter = OprBlock(Opr(arrived.append, (var,), kind=WAIT), cpu())
    bad, good = block([], [var]), block([], [var])
    queue.add(bad)
    assert not queue.add(waiter)
    queue.add(good)
    assert not arrived
    record = failure_of(bad)
    assert queue.finish(bad, record) == [good]
    assert arrived == [record]


def test_a_deletion_runs_even_where_the_variable_failed() -> None:
    queue, var = DependencyQueue(), Var()
    bad = block([], [var])
    queue.add(bad)
    queue.finish(bad, failure_of(bad))
    assert queue.add(block([], [var], kind=DELETE))


def test_memory_is_pending_until_it_is_freed_and_is_counted_once() -> None:
    queue, var = DependencyQueue(), Var()
    writer = OprBlock(Opr(lambda _: None, (), [var]), cpu(), size_bytes=8)
    deletion = OprBlock(Opr(lambda _: None, (), [var], kind=DELETE), cpu(), size_bytes=8)
    counted = []
    for step in (
        partial(queue.add, writer), partial(queue.add, deletion),
        partial(queue.finish, writer), partial(queue.finish, deletion),
    ):  # fmt: skip
        step()
        counted.append(queue.pending_bytes)
    assert counted == [8, 8, 8, 0]
    assert queue.add(OprBlock(Opr(lambda _: None, (), [Var()], kind=DELETE), cpu(), size_bytes=4))
    assert queue.pending_bytes == 4


Step = tuple[frozenset[int], frozenset[int]]


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    def one() -> Step:
        named = draw(st.lists(st.integers(0, 4), unique=True, max_size=4))
        cut = draw(st.integers(0, len(named)))
        return frozenset(named[:cut]), frozenset(named[cut:])

    return [one() for _ in range(draw(st.integers(1, 12)))]


@given(steps(), st.randoms(use_true_random=False))
def test_any_finishing_order_runs_conflicting_blocks_in_push_order(program: list[Step], random) -> None:
    queue, variables = DependencyQueue(), [Var() for _ in range(5)]
    blocks = [
        block([variables[i] for i in reads], [variables[i] for i in writes]) for reads, writes in program
    ]
    waiting: deque[OprBlock] = deque(blocks)
    running: list[OprBlock] = []
    finished: list[int] = []
    while waiting or running:
        if waiting and (not running or random.random() < 0.5):
            added = waiting.popleft()
            if queue.add(added):
                running.append(added)
        else:
            done = running.pop(random.randrange(len(running)))
            finished.append(blocks.index(done))
            running.extend(queue.finish(done))
        for one in running:
            for other in running:
                assert one is other or not _conflict(program[blocks.index(one)], program[blocks.index(other)])
    assert sorted(finished) == list(range(len(program)))
    for later in range(len(program)):
        for earlier in range(later):
            if _conflict(program[earlier], program[later]):
                assert finished.index(earlier) < finished.index(later)


def _conflict(one: Step, other: Step) -> bool:
    return bool(one[1] & (other[0] | other[1]) or other[1] & one[0])
