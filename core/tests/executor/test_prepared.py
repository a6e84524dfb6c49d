"""Prepared arrays of a bound graph: filled once for each version of what they are made of."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.prepared_arrays import Scaled, noting
from operad import sym
from operad.graph.ir import Entry
from operad.symbol.compose import apply


@pytest.fixture
def fillings(monkeypatch):
    """A bound product, and the weights that were doubled for it."""
    seen = []
    monkeypatch.setattr(Scaled, "kernels", noting(seen))
    return seen


def bound(**options):
    net = sym.Symbol([Entry(apply(Scaled(), {}, "scaled"))])
    exe = net.simple_bind(scaled_data=(2, 3), scaled_weight=(2, 3), **{"grad_req": "null", **options})
    exe.arg_dict["scaled_data"][:] = 3
    exe.arg_dict["scaled_weight"][:] = 5
    return exe


def out_of(exe, is_train=False):
    return float(exe.forward(is_train=is_train)[0].asnumpy()[0, 0])


def test_an_array_is_filled_again_only_when_its_argument_was_written(fillings):
    exe = bound()
    assert [out_of(exe), out_of(exe)] == [15, 15]
    exe.arg_dict["scaled_weight"][:] = 7
    assert [out_of(exe), out_of(exe)] == [21, 21]
    assert fillings == [5, 7]


def test_another_argument_may_be_written_without_filling_anew(fillings):
    exe = bound()
    out_of(exe)
    exe.arg_dict["scaled_data"][:] = 4
    assert out_of(exe) == 20
    assert fillings == [5]


def test_memory_that_another_library_writes_is_read_for_every_run(fillings):
    exe = bound()
    out_of(exe)
    memory = np.from_dlpack(exe.arg_dict["scaled_weight"])
    memory[...] = 7  # behind the engine's back
    assert [out_of(exe), out_of(exe)] == [21, 21]
    assert fillings == [5, 7, 7]


def test_a_weight_that_is_trained_is_prepared_for_nobody(fillings):
    exe = bound(grad_req="write")
    assert out_of(exe, is_train=True) == 15
    exe.backward(od.nd.array(np.ones((2, 3))))
    assert exe.grad_dict["scaled_weight"].asnumpy()[0, 0] == 3
    assert fillings == []
