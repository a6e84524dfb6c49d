from __future__ import annotations

import numpy as np
import pytest

import operad as od

rnn, contrib = od.gluon.rnn, od.gluon.contrib.rnn


@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("lengths", [None, [2, 5]])
def test_a_loop_over_any_length_is_the_cell_unrolled(layout: str, lengths: list[int] | None) -> None:
    cell = rnn.LSTMCell(4)
    cell.initialize(od.init.Uniform(0.5))
    data = od.nd.random.uniform(-1, 1, (2, 5, 3) if layout == "NTC" else (5, 2, 3))
    valid_length = None if lengths is None else od.nd.array(lengths)
    begin = [od.nd.ones((2, 4)), od.nd.zeros((2, 4))]
    outputs, states = cell.unroll(5, data, begin, layout, merge_outputs=True, valid_length=valid_length)
    found, last = contrib.dynamic_unroll(cell, data, begin, layout=layout, valid_length=valid_length)
    np.testing.assert_allclose(found.asnumpy(), outputs.asnumpy(), rtol=1e-5, atol=1e-6)
    for one, other in zip(last, states, strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)


def test_masks_are_drawn_once_for_a_sequence_and_anew_for_the_next() -> None:
    cell = contrib.VariationalDropoutCell(rnn.RNNCell(50), drop_outputs=0.5, drop_states=0.5, drop_inputs=0.2)
    cell.initialize()
    masks = []
    for _ in range(2):
        with od.autograd.record():
            outputs, _ = cell.unroll(3, od.nd.ones((2, 3, 4)), merge_outputs=True)
        dropped = outputs.asnumpy() == 0
        assert (dropped[:, 0] == dropped[:, 2]).all()
        masks.append(dropped[:, 0])
    assert (masks[0] != masks[1]).any()
