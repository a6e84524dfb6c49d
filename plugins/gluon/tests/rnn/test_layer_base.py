from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError, UnsupportedError

rnn = od.gluon.rnn
MODES = [
    rnn.LSTM,
    rnn.GRU,
    rnn.RNN,
    lambda size, *args, **kwargs: rnn.RNN(size, *args, activation="tanh", **kwargs),
]


def made(layer: Any) -> Any:
    layer.initialize(od.init.Uniform(0.5))
    return layer


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_layer_is_its_cells_unrolled(make: Any, bidirectional: bool) -> None:
    layer = made(make(4, 2, layout="NTC", bidirectional=bidirectional, input_size=3))
    data = od.nd.random.uniform(-1, 1, (2, 5, 3))
    outputs, _ = layer._unfuse().unroll(5, data, merge_outputs=True)
    np.testing.assert_allclose(layer(data).asnumpy(), outputs.asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("is_hybrid", [False, True])
def test_the_first_input_tells_the_features_of_every_direction(make: Any, is_hybrid: bool) -> None:
    layer = made(make(4, 2, bidirectional=True))
    layer.hybridize(is_hybrid)
    assert layer(od.nd.ones((5, 2, 3))).shape == (5, 2, 8)
    assert layer.l0_i2h_weight.shape[1] == layer.r0_i2h_weight.shape[1] == 3
    assert layer.l1_i2h_weight.shape[1] == 8


def test_states_are_returned_where_they_are_given_compiled_or_not() -> None:
    layer = made(rnn.LSTM(4))
    data = od.nd.ones((5, 2, 3))
    expected = layer(data).asnumpy()
    for is_hybrid in (False, True):
        layer.hybridize(is_hybrid)
        for _ in range(2):  # one after the other, of one block
            assert (layer(data).asnumpy() == expected).all()
            outputs, states = layer(data, layer.begin_state(batch_size=2))
            assert (outputs.asnumpy() == expected).all()
            assert [state.shape for state in states] == [(1, 2, 4)] * 2


def test_sequences_may_end_early() -> None:
    layer = made(rnn.GRU(4, use_sequence_length=True))
    data, lengths = od.nd.ones((5, 2, 3)), od.nd.array([2, 5])
    outputs, (state,) = layer(data, layer.begin_state(batch_size=2), lengths)
    assert (outputs[2:, 0].asnumpy() == 0).all()
    np.testing.assert_array_equal(state[0, 0].asnumpy(), outputs[1, 0].asnumpy())


def test_a_state_of_another_shape_is_refused_by_name() -> None:
    layer = made(rnn.LSTM(4, prefix="encoder_"))
    with pytest.raises(
        ShapeError, match=r"encoder: state 1 has shape \(1, 2, 5\), expected \(1, 2, 4\); begin_state\(2\)"
    ):
        layer(od.nd.ones((5, 2, 3)), [od.nd.ones((1, 2, 4)), od.nd.ones((1, 2, 5))])


def test_layers_without_cells_say_so() -> None:
    with pytest.raises(UnsupportedError, match="no cell projects or clips"):
        rnn.LSTM(4, projection_size=2)._unfuse()


def test_more_than_ten_layers_have_names_of_their_own() -> None:
    names = rnn.RNN(2, 12)._collect_params_with_prefix()
    assert len(names) == 48
    assert "_unfused.11.h2h_bias" in names
