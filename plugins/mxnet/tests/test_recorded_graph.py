"""What was recorded, as a graph."""

from __future__ import annotations

import numpy as np
import pytest

from operad import autograd, nd
from operad.autograd import record_function
from operad.errors import GradientError
from operad.symbol import Symbol
from operad_mxnet.recorded_graph import recorded_graph

pytestmark = pytest.mark.usefixtures("operators")


def test_the_graph_computes_what_was_recorded() -> None:
    x, y = nd.array([0.5, -1]), nd.array([3, 4])
    x.attach_grad()
    with autograd.record():
        z = nd.tanh(x) * y * x
    graph = recorded_graph(z)
    # The constant is met where it is used; the marked array was recorded first.
    assert graph.list_arguments() == ["var0", "var1"]
    again = Symbol(graph.outputs).bind(None, {"var0": x, "var1": y}).forward()[0]
    np.testing.assert_array_equal(again.asnumpy(), z.asnumpy())


def test_what_is_no_graph_is_refused() -> None:
    x = nd.array([1])
    x.attach_grad()
    with autograd.record():
        (y,) = record_function("twice", [x], [nd.array([2])], lambda grads: [grads[0] * 2])
    with pytest.raises(GradientError, match=r"an autograd\.Function computed a part"):
        recorded_graph(y)
    with pytest.raises(GradientError, match="was not recorded"):
        recorded_graph(nd.array([1]))
