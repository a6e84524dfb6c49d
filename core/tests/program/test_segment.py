"""What a segment of a tape's backward pass keeps from step to step, and what it tells the engine."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from core.tests.program.variables import variable
from operad import autograd, engine, nd
from operad.device import cpu

pytestmark = pytest.mark.usefixtures("operators")


def test_the_memory_of_a_backward_that_waits_counts_as_pending(two_threads: None) -> None:
    x = variable(np.ones((64, 64)))
    with autograd.record():
        y = nd.square(nd.square(x))
    nd.waitall()
    is_open, queue = threading.Event(), engine.get()._queue
    engine.get().push_sync(lambda _: is_open.wait(), cpu(), (), (x.grad._chunk.var,))
    before = queue.pending_bytes
    y.backward()
    held = queue.pending_bytes - before
    is_open.set()
    x.grad.wait_to_read()
    assert held == x._spec.nbytes  # of the gradient between the two squares
