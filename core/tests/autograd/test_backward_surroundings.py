"""What else `backward` meets: failures, states, losses, views, deep chains, threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from core.tests.autograd.recorded import A, B, variable
from operad import autograd, nd
from operad.errors import GradientError

pytestmark = pytest.mark.usefixtures("operators")


def test_a_failure_in_backward_surfaces_at_the_gradient(each_engine):
    x, w = variable(A), variable(B)
    with autograd.record():
        y = nd.explode_back(x)
        z = w * 2
    autograd.backward([y, z])
    with pytest.raises(ZeroDivisionError) as caught:
        x.grad.asnumpy()
    assert "in backward of explode_back 'explode_back'" in "".join(caught.value.__notes__)
    with pytest.raises(ZeroDivisionError):  # the gradients of one pass stand or fall together
        w.grad.asnumpy()
    with autograd.record():
        y = nd.explode_back(x)
    y.backward(nd.array([-1, -1, -1]))
    assert np.isfinite(x.grad.asnumpy()).all()


def test_states_are_read_and_left_by_backward():
    x, mean = variable(A[None]), nd.array(B)
    with autograd.record():
        y = nd.Centre(x, mean)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [[1, 1, 1]])
    np.testing.assert_array_equal(mean.asnumpy(), (B + A) / 2)


def test_a_loss_ignores_the_head_gradient():
    x, label = variable(A), nd.array(B)
    with autograd.record():
        y = nd.SquareLoss(x, label)
    y.backward(nd.array(100 * A))
    np.testing.assert_array_equal(x.grad.asnumpy(), A - B)


def test_views_taken_before_recording_are_other_arrays():
    x = variable(A)
    view = x[1:]
    with autograd.record():
        y = nd.square(view)
    with pytest.raises(GradientError, match="not recorded"):
        y.backward()


def test_a_detached_array_stops_the_gradient():
    x = variable(A)
    with autograd.record():
        y = nd.square(x).detach() * x
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), A * A)


@pytest.mark.parametrize("run", [True, False])
def test_deep_chains_do_not_recurse(run):
    depth = 5_000
    x = variable([1])
    with autograd.record():
        y = x
        for _ in range(depth):
            y = y + 0
    if run:
        y.backward(retain_graph=True)
        assert x.grad.asscalar() == 1
    del y


def test_threads_record_for_themselves():
    inside, may_go = threading.Event(), threading.Event()
    seen = []

    def other():
        seen.append(autograd.is_recording())
        x = variable(B)
        with autograd.record():
            y = nd.square(x)
            inside.set()
            may_go.wait(60)
        y.backward()
        seen.append(x.grad.asnumpy())

    thread = threading.Thread(target=other)
    with autograd.record():
        thread.start()
        assert inside.wait(60)
    x = variable(A)
    z = nd.square(x)
    may_go.set()
    thread.join()
    assert seen[0] is False
    np.testing.assert_array_equal(seen[1], 2 * B)
    with pytest.raises(GradientError):
        z.backward()
