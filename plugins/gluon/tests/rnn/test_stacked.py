from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import GraphError, ShapeError, UnsupportedError

rnn = od.gluon.rnn


def stack(*cells: Any, kind: Any = rnn.SequentialRNNCell) -> Any:
    made = kind()
    for cell in cells:
        made.add(cell)
    made.initialize(od.init.Uniform(0.5))
    return made


@pytest.mark.parametrize("kind", [rnn.SequentialRNNCell, rnn.HybridSequentialRNNCell])
def test_steps_and_unrolling_are_the_same(kind: Any) -> None:
    cells = stack(rnn.LSTMCell(4), rnn.ResidualCell(rnn.GRUCell(4)), rnn.RNNCell(2), kind=kind)
    data = od.nd.random.uniform(-1, 1, (2, 3, 5))
    outputs, last = cells.unroll(3, data, merge_outputs=True)
    states = cells.begin_state(batch_size=2, func=od.nd.zeros)
    for step in range(3):
        output, states = cells(data[:, step], states)
        np.testing.assert_allclose(output.asnumpy(), outputs[:, step].asnumpy(), rtol=1e-5, atol=1e-6)
    for one, other in zip(states, last, strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)


def test_sequences_that_end_early_are_as_if_they_were_alone() -> None:
    cells = stack(rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.LSTMCell(4)), rnn.GRUCell(3))
    data, lengths = od.nd.random.uniform(-1, 1, (2, 5, 3)), od.nd.array([2, 5])
    outputs, states = cells.unroll(5, data, merge_outputs=True, valid_length=lengths)
    alone, last = cells.unroll(2, data[:1, :2], merge_outputs=True)
    np.testing.assert_allclose(outputs[:1, :2].asnumpy(), alone.asnumpy(), rtol=1e-5, atol=1e-6)
    assert (outputs[0, 2:].asnumpy() == 0).all()
    for state, own in zip(states, last, strict=True):
        np.testing.assert_allclose(state[:1].asnumpy(), own.asnumpy(), rtol=1e-5, atol=1e-6)


def test_cells_train_compiled_as_they_do_not() -> None:
    class Net(od.gluon.HybridBlock):  # type: ignore[misc]  # a class of a plugin
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.cell = rnn.LSTMCell(4)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.cell.unroll(3, x, merge_outputs=True)[0]

    net, found = Net(), []
    net.initialize(od.init.Uniform(0.5))
    data = od.nd.random.uniform(-1, 1, (2, 3, 5))
    for is_hybrid in (False, True):
        net.hybridize(is_hybrid)
        with od.autograd.record():
            total = net(data).sum()
        total.backward()
        found.append([param.grad().asnumpy() for param in net.collect_params().values()])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_mistakes_are_named() -> None:
    cell = rnn.RNNCell(4)
    with pytest.raises(ShapeError, match=r"inputs of shape \(2, 3, 5\) have 3 steps, expected 4"):
        cell.unroll(4, od.nd.ones((2, 3, 5)))
    with pytest.raises(UnsupportedError, match="BidirectionalCell: a step needs the end of the sequence"):
        rnn.BidirectionalCell(cell, rnn.RNNCell(4))(od.nd.ones((2, 5)), [])
    rnn.ZoneoutCell(cell)
    with pytest.raises(GraphError, match="is inside a cell that modifies it"):
        cell.begin_state(batch_size=2)


@pytest.mark.parametrize("is_hybrid", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_cells_begin_with_states_of_their_own_type(dtype: str, is_hybrid: bool) -> None:
    class Last(od.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            inner = rnn.ResidualCell(rnn.GRUCell(3))
            forth_and_back = rnn.BidirectionalCell(rnn.LSTMCell(2), rnn.RNNCell(1))
            self.cells = stack(forth_and_back, inner, kind=rnn.HybridSequentialRNNCell)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.cells.unroll(2, [x, x], merge_outputs=False)[0][1]

    net = Last()
    net.cast(dtype)
    net.hybridize(is_hybrid)
    assert net(od.nd.ones((2, 5), dtype=dtype)).dtype == dtype
