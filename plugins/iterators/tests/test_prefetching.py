from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.threads import names_left
from operad.errors import ArgumentError, EngineError


class Counting(od.io.DataIter):  # type: ignore[misc]  # a class of a plugin
    """Batches of one number; raises at the batch `bad`."""

    def __init__(self, count: int = 3, bad: int | None = None) -> None:
        super().__init__(1)
        self.provide_data, self.provide_label = [("data", (1,))], list[Any]()
        self.count, self.bad, self.made, self.resets = count, bad, 0, 0
        self.went_on = threading.Event()

    def reset(self) -> None:
        self.made, self.resets = 0, self.resets + 1

    def next(self) -> Any:
        if self.made == self.count:
            raise StopIteration
        if self.made == self.bad:
            self.bad = None
            raise OSError("the disk is gone")
        self.made += 1
        if self.made > 1:
            self.went_on.set()
        return od.io.DataBatch([od.nd.array([self.made])], pad=0)


def values(iterator: Any) -> list[float]:
    return [batch.data[0].asscalar() for batch in iterator]


def test_batches_come_in_order_and_again_after_reset() -> None:
    with od.io.PrefetchingIter(Counting()) as ahead:
        for _ in range(3):
            assert values(ahead) == [1, 2, 3]
            assert values(ahead) == []
            ahead.reset()


def test_a_thread_makes_the_next_batch_before_it_is_asked_for() -> None:
    source = Counting()
    with od.io.PrefetchingIter(source) as ahead:
        ahead.next()
        assert source.went_on.wait(60)


def test_a_reset_in_the_middle_begins_with_the_first_batch() -> None:
    with od.io.PrefetchingIter(Counting(100)) as ahead:
        ahead.next()
        ahead.reset()
        assert ahead.next().data[0].asscalar() == 1


def test_several_iterators_are_joined_under_new_names() -> None:
    first = od.io.NDArrayIter(np.arange(4), np.arange(4), 2)
    second = od.io.NDArrayIter(np.arange(4) + 10, batch_size=2, data_name="z")
    renamed = {"rename_data": [{"data": "a"}, {"z": "b"}], "rename_label": [{"softmax_label": "q"}, {}]}
    with od.io.PrefetchingIter([first, second], **renamed) as ahead:
        assert ahead.provide_data == [("a", (2,)), ("b", (2,))]
        assert ahead.provide_label == [("q", (2,))]
        batch = list(ahead)[1]
    assert [array.asnumpy().tolist() for array in batch.data] == [[2, 3], [12, 13]]
    assert [array.asnumpy().tolist() for array in batch.label] == [[2, 3]]
    assert batch.provide_data == [("a", (2,)), ("b", (2,))]


def test_an_error_is_raised_at_its_own_batch_and_until_reset() -> None:
    with od.io.PrefetchingIter(Counting(bad=1)) as ahead:
        assert ahead.next().data[0].asscalar() == 1
        for _ in range(2):
            with pytest.raises(OSError, match="the disk is gone"):
                ahead.next()
        ahead.reset()
        assert values(ahead) == [1, 2, 3]


def test_iterators_of_different_lengths_are_an_error_that_says_which() -> None:
    with od.io.PrefetchingIter([Counting(2), Counting(1)]) as ahead:
        ahead.next()
        with pytest.raises(ArgumentError, match="iterator 1 has ended before"):
            ahead.next()


def test_iterators_that_pad_differently_are_an_error() -> None:
    iterators = [od.io.NDArrayIter(np.arange(count), batch_size=4) for count in (4, 3)]
    with od.io.PrefetchingIter(iterators) as ahead, pytest.raises(ArgumentError, match="iterator 1 pads"):
        ahead.next()


def test_a_closed_iterator_has_no_thread_and_says_so_until_reset() -> None:
    ahead = od.io.PrefetchingIter(Counting(100))
    ahead.next()
    ahead.close()
    ahead.close()
    assert names_left("operad-prefetching") == []
    with pytest.raises(EngineError, match="reset"):
        ahead.next()
    ahead.reset()
    assert ahead.next().data[0].asscalar() == 1
    ahead.close()


def test_a_forgotten_iterator_ends_its_thread() -> None:
    ahead = od.io.PrefetchingIter(Counting(100))
    ahead.next()
    assert any(thread.name == "operad-prefetching" for thread in threading.enumerate())
    del ahead
    gc.collect()
    assert names_left("operad-prefetching") == []


def test_a_process_ends_while_a_batch_is_being_made() -> None:
    program = """
import threading, operad as od
class Stuck(od.io.DataIter):
    provide_data = provide_label = []
    made = 0
    def next(self):
        self.made += 1
        if self.made > 1:
            threading.Event().wait()
        return od.io.DataBatch([])
ahead = od.io.PrefetchingIter(Stuck())
ahead.next()
print("done")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.serial
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_is_told_to_reset_and_then_reads_and_ends() -> None:
    program = """
import os, operad as od, numpy as np
from operad.errors import EngineError
ahead = od.io.PrefetchingIter(od.io.NDArrayIter(np.arange(9)))
ahead.next()
child = os.fork()
if not child:
    try:
        ahead.next()
    except EngineError as error:
        assert "reset()" in str(error)
    else:
        os._exit(3)
    ahead.reset()
    os._exit(0 if len(list(ahead)) == 9 else 4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert len(list(ahead)) == 8
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iters": []}, "iters is empty"),
        ({"iters": [Counting()], "rename_data": []}, "rename_data has 0 entries"),
    ],
)
def test_what_cannot_be_joined_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        od.io.PrefetchingIter(**arguments)


def test_a_pass_that_is_broken_off_leaves_what_it_leaves_without_prefetching() -> None:
    ahead, alone = (
        od.io.NDArrayIter(np.arange(4), batch_size=3, last_batch_handle="roll_over") for _ in "ab"
    )
    ahead = od.io.PrefetchingIter(ahead)
    for iterator in (ahead, alone):
        next(iterator)
    while not ahead._pass._is_over:  # it meets the row that rolls over, which nobody has asked for
        ahead._pass._made.wait()
    found = []
    for iterator in (ahead, alone):
        iterator.reset()
        found.append(next(iterator).data[0].asnumpy().tolist())
    assert found[0] == found[1] == [0.0, 1.0, 2.0]
