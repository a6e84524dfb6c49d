"""Clusters at a second size: those of the first where all answers are the same, and bits as without it."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import sym
from operad.graph import Composite
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

X = sym.var("x")
BASE = sym.tanh(sym.exp(X))
NETWORKS = {
    "elements": sym.sin(BASE),
    "reshape": sym.tanh(sym.sin(sym.reshape(BASE, shape=(-1,)))),
    "transpose": sym.tanh(sym.sin(sym.transpose(BASE))),
    "rows": sym.softmax(BASE) * 2,
    "columns": sym.broadcast_sub(sym.tanh(BASE), sym.sum(BASE, axis=0, keepdims=True)),
    "slices": sym.Group([sym.tanh(part) + 1 for part in sym.SliceChannel(BASE, num_outputs=4, axis=1)]),
    "groups": sym.tanh(sym.GroupNorm(BASE, sym.var("gamma"), sym.var("beta"), num_groups=4)),
    "beside": sym.tanh(sym.sin(sym.FullyConnected(BASE, sym.var("w"), num_hidden=40, no_bias=True))),
}
SIZES = [
    ((16, 40), (20, 32)),
    ((33, 40), (34, 40)),
    ((20, 40), (44, 48)),
    ((16, 24), (300, 28)),
    ((2, 120), (2, 128)),
]


@pytest.fixture(autouse=True)
def fused(monkeypatch):
    monkeypatch.setenv("OPERAD_FUSION", "on")


def step(symbol, shape):
    """What a step computes, what a monitor sees of it, and the executor."""
    executor = symbol.simple_bind(od.cpu(), grad_req="write", x=shape)
    rng = np.random.default_rng(0)
    for array in executor.arg_dict.values():
        array[:] = rng.uniform(-1, 1, array.shape)
    executor.forward(is_train=True)
    executor.backward([od.nd.array(rng.uniform(-1, 1, each.shape)) for each in executor.outputs])
    return [each.asnumpy() for each in [*executor.outputs, *executor.grad_dict.values()]], executor


def seen(executor):
    """What a monitor sees of a step."""
    found = []
    executor.set_monitor_callback(lambda name, array: found.append((name, array.asnumpy())), monitor_all=True)
    executor.forward(is_train=True)
    executor.backward([od.nd.ones(each.shape) for each in executor.outputs])
    return found


def reports(executor):
    """Account of each cluster, but for the time that it took to compile."""
    return {name: each._replace(compiled_s=0) for name, each in executor.why().composites.items()}


@pytest.mark.more
@pytest.mark.parametrize(("first", "second"), SIZES)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_second_size_computes_and_reports_as_it_would_alone(name, first, second, monkeypatch):
    right, alone = step(NETWORKS[name], second)
    monkeypatch.setenv("ANY_VARIABLE", "forgets")
    step(NETWORKS[name], first)
    found, after = step(NETWORKS[name], second)
    assert all(map(np.array_equal, found, right))
    assert reports(after) == reports(alone)
    for (one, value), (other, expected) in zip(seen(after), seen(alone), strict=True):
        assert one == other
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    "name", ["slices", *[pytest.param(name, marks=pytest.mark.more) for name in NETWORKS]]
)
def test_near_sizes_share_their_clusters(name):
    found = [step(NETWORKS[name], shape)[1].program.numbered for shape in ((33, 44), (34, 44))]
    ops = [[node.op for node in each.op_nodes if isinstance(node.op, Composite)] for each in found]
    assert ops[0]
    assert ops[0] == ops[1]


def test_what_is_small_at_another_size_is_no_cluster():
    symbol = NETWORKS["elements"]
    for shape, expected in (((16, 16), True), ((15, 16), False), ((16, 17), True)):
        nodes = step(symbol, shape)[1].program.numbered.op_nodes
        assert any(isinstance(node.op, Composite) for node in nodes) is expected
