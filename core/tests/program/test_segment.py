"""What a segment of a tape's backward pass keeps from step to step, and what it tells the engine."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from core.tests.program.variables import variable
from operad import autograd, engine, nd
from operad.device import cpu
from operad.program import SegmentCode

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


@pytest.mark.parametrize(("length", "uses_blas"), [(16, False), (96, True)])
def test_a_segment_limits_blas_where_it_may_compute_a_product_that_is_divided(
    length: int, uses_blas: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator does not state what it computes, so its arrays decide."""
    made: list[SegmentCode] = []
    make = SegmentCode.__init__

    def noted(self: SegmentCode, *args: Any) -> None:
        make(self, *args)
        made.append(self)

    monkeypatch.setattr(SegmentCode, "__init__", noted)
    x = variable(np.ones((length, 64)))
    with autograd.record():
        y = nd.square(x)
    y.backward()
    assert {code.uses_blas for code in made} == {uses_blas}
