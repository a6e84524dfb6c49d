from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import autograd, gluon, nd, sym


def network() -> gluon.SymbolBlock:
    x = sym.var("x")
    hidden = sym.FullyConnected(x, num_hidden=2, name="net_fc")
    return gluon.SymbolBlock([hidden, sym.relu(hidden)], [x])


def test_arguments_but_the_inputs_are_parameters() -> None:
    block = network()
    assert list(block.collect_params()) == ["net_fc_weight", "net_fc_bias"]
    assert sorted(block._collect_params_with_prefix()) == ["bias", "weight"]
    block.initialize(od.init.One())
    x = nd.ones((1, 3))
    with autograd.record():
        first, second = block(x)
    autograd.backward([first, second])
    assert first.asnumpy().tolist() == second.asnumpy().tolist() == [[4, 4]]
    assert block.params["net_fc_weight"].grad().asnumpy().tolist() == [[2] * 3] * 2


def test_states_have_no_gradient_and_are_updated() -> None:
    x = sym.var("x")
    block = gluon.SymbolBlock(sym.BatchNorm(x, name="bn"), x)
    block.initialize(od.init.Zero())
    assert block.params["bn_moving_mean"].grad_req == "null"
    with autograd.record():
        block(nd.array([[1], [3]]))
    np.testing.assert_allclose(block.params["bn_moving_mean"].data().asnumpy(), [0.2], rtol=1e-5)


def test_symbols_are_composed() -> None:
    first, _ = network()(sym.var("y") * 2)
    assert first.list_arguments() == ["y", "net_fc_weight", "net_fc_bias"]


def test_a_block_shows_its_symbol_and_takes_other_blocks_parameters() -> None:
    block = network()
    assert repr(block).endswith(": 1 -> 2\n)")
    x = sym.var("x")
    other = gluon.SymbolBlock(sym.FullyConnected(x, num_hidden=2, name="net_fc"), [x], params=block.params)
    assert other.params["net_fc_weight"] is block.params["net_fc_weight"]


def test_types_and_contexts_change() -> None:
    block = network()
    block.initialize()
    block(nd.ones((1, 3)))
    block.cast("float16")
    block.reset_ctx(od.cpu(1))
    x = nd.ones((1, 3), ctx=od.cpu(1), dtype="float16")
    assert [(y.context, y.dtype) for y in block(x)] == [(od.cpu(1), np.float16)] * 2


def test_inputs_must_be_variables() -> None:
    x = sym.var("x")
    with pytest.raises(AssertionError, match=r"Input symbols must be variable, but .* output of operators"):
        gluon.SymbolBlock(x * 2, [x * 2])
