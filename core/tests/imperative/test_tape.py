"""The tape: what it keeps alive, and how it dies."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from operad import autograd, nd
from operad.imperative import Marked, TapeNode, tape_of

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture
def leaf():
    x = nd.array([0.5, 2.0])
    x.attach_grad()
    return x


def test_a_node_knows_the_places_of_its_inputs_in_order(leaf):
    plain = nd.array([1.0, 1.0])
    with autograd.record():
        y = nd.square(leaf)
        z = nd.elemwise_mul(plain, y)
    node, index = z._autograd

    assert index == 0
    assert node.inputs == (None, y._autograd)
    assert y._autograd[0].inputs == (leaf._autograd,)


def test_a_node_keeps_what_its_gradient_reads_and_no_more(leaf):
    with autograd.record():
        squared, bounded = nd.square(leaf), nd.tanh(leaf)

    ((kept,), (result,)) = squared._autograd[0].saved, bounded._autograd[0].saved
    assert kept._chunk is leaf._chunk
    assert result._chunk is bounded._chunk
    assert kept._autograd is result._autograd is None


def test_what_depends_on_no_marked_array_is_not_recorded():
    with autograd.record():
        assert nd.square(nd.array([1.0]))._autograd is None


def test_the_tape_of_heads_is_in_recorded_order_and_each_node_once(leaf):
    with autograd.record():
        y = nd.square(leaf)
        z = nd.elemwise_add(nd.tanh(y), y)
    nodes = tape_of([z._autograd, y._autograd])

    assert [node.number for node in nodes] == sorted({node.number for node in nodes})
    assert [type(node) for node in nodes] == [Marked, TapeNode, TapeNode, TapeNode]


def test_a_tape_dies_with_its_last_array_without_the_garbage_collector(leaf):
    gc.disable()
    try:
        with autograd.record():
            y = nd.square(leaf)
            z = nd.tanh(y)
        kept = [weakref.ref(x) for node in tape_of([z._autograd]) if isinstance(node, TapeNode)
                for x in node.saved]  # fmt: skip
        assert all(ref() is not None for ref in kept)
        del y, z
        assert [ref() for ref in kept] == [None, None]
    finally:
        gc.enable()


@pytest.mark.more
def test_a_chain_of_a_hundred_thousand_nodes_dies_without_recursion(leaf):
    with autograd.record():
        y = nd.tanh(leaf)
        first = weakref.ref(y._autograd[0].saved[0])
        for _ in range(100_000):
            y = nd.tanh(y)
    assert np.isfinite(y.asnumpy()).all()
    del y
    assert first() is None
