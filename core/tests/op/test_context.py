"""What an operator knows of its run."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from operad import engine
from operad.device import Context, cpu
from operad.op import OpContext


def test_a_run_on_the_host_has_numpy_and_no_resources_unless_it_asked():
    run = OpContext(cpu(), True)
    assert (run.xp, run.requested, run.is_train) == (np, (), True)


def test_a_gpu_has_one_thread_of_the_host():
    assert OpContext(Context("gpu", 0), False).num_threads == 1


def test_the_host_has_as_many_threads_as_the_engine_gives_at_the_moment():
    assert OpContext(cpu(), False).num_threads == engine.get().budget.num_threads_now >= 1


def test_every_part_is_computed_once_and_no_two_that_run_at_once_share_a_slot():
    done, busy, lock = [], set(), threading.Lock()

    def compute(part, slot):
        with lock:
            assert slot not in busy
            busy.add(slot)
        done.append(part)
        busy.discard(slot)

    OpContext(cpu(), False).parallel(compute, 50, 2)
    assert sorted(done) == list(range(50))


def test_an_error_of_a_part_is_raised():
    with pytest.raises(ZeroDivisionError):
        OpContext(cpu(), False).parallel(lambda part, slot: 1 // (part - 3), 8, 2)
