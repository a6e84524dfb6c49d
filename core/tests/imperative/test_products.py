"""Calls that may multiply matrices have one BLAS thread, in the calling thread as anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.simple import simple
from operad import engine
from operad.engine.budget import blas_limits
from operad.engine.thread import local
from operad.imperative import Invoker
from operad.op import Cost, OperatorProperty

SEEN: list[int] = []


def look(data: np.ndarray, out: np.ndarray) -> None:
    SEEN.append(len(blas_limits.users))
    np.negative(data, out)


def called(cost: object, size: int) -> int:
    """Operations that BLAS is limited for while an operator runs that states such a cost."""
    op = simple("look", ["data"], look, takes_out=True)
    op.cost = OperatorProperty.cost if cost is None else lambda self, in_shapes, out_shapes: cost
    array = od.nd.array(np.ones(size))
    array.wait_to_read()
    invoker = Invoker(op())
    results = []
    for _ in range(3):  # the second goes the hot path, and inside an operation
        SEEN.clear()
        results.append(invoker([array]))
        results[-1].wait_to_read()
    return SEEN[-1]


@pytest.fixture(autouse=True)
def threaded() -> engine.Engine:
    return engine.set("threaded")


@pytest.mark.parametrize(
    ("cost", "size", "users"),
    [
        (Cost(flops=1 << 15), 4, 1),
        (Cost(flops=1 << 13), 4, 0),  # so small that BLAS uses one thread anyhow
        (None, 8192, 1),  # it does not say what it computes
        (None, 512, 0),
        (Cost(loops=8192), 8192, 0),
    ],
)
def test_what_may_ask_blas_for_threads_has_one(cost: object, size: int, users: int) -> None:
    assert called(cost, size) == users


def test_inside_an_operation_as_well() -> None:
    found = []

    def outer(_: object) -> None:
        with engine.nested():
            found.append(called(Cost(flops=1 << 15), 4))

    engine.get().push_sync(outer, od.cpu(), (), (engine.get().new_variable(),))
    engine.get().wait_for_all()
    assert found == [2]
    assert blas_limits.users == []


def test_who_reads_an_array_has_the_threads_again() -> None:
    array = od.nd.array(np.ones(4))
    engine.run_single(int)
    assert blas_limits.applied == 1
    array.asnumpy()
    assert blas_limits.applied == blas_limits.idle


def test_the_limit_ends_with_an_operation_that_fails() -> None:
    def fail(data: np.ndarray, out: np.ndarray) -> None:
        raise ValueError("no product")

    op = simple("fail", ["data"], fail, takes_out=True)
    op.cost = lambda self, in_shapes, out_shapes: Cost(flops=1 << 15)
    array = Invoker(op())([od.nd.array(np.ones(4))])
    with pytest.raises(ValueError, match="no product"):
        array.wait_to_read()
    assert blas_limits.users == []
    assert not local.state.inside
