"""Operators whose shapes depend on values of their arguments."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd
from operad.device import cpu
from operad.errors import BindError
from operad.graph import Entry
from operad.imperative import Invoker
from operad.op import Kernel, Operator, OperatorProperty
from operad.symbol import Symbol, apply

pytestmark = pytest.mark.usefixtures("operators", "each_engine")


class _Select(Operator):
    def forward(self, op_ctx, arrays):
        (data,) = arrays.in_data
        arrays.out_data[0][...] = data[data != 0]


class NonZero(OperatorProperty):
    """The elements that are not 0."""

    has_gradient = False
    is_shaped_by_values = True
    count: int | None = None
    kernels = [Kernel("NonZero.select", lambda *_: _Select())]  # noqa: RUF012 - what a class declares

    def for_values(self, in_data):
        made = NonZero()
        made.is_shaped_by_values, made.count = False, int(np.count_nonzero(in_data[0]))
        return made

    def infer_shape(self, in_shapes):
        return list(in_shapes), [(self.count,)], []


def test_a_call_gives_as_many_as_the_values_say():
    invoke = Invoker(NonZero())
    x = nd.array([0.0, 3.0, 0.0, 5.0])
    assert invoke([x]).asnumpy().tolist() == [3, 5]
    x[:] = nd.array([0.0, 0.0, 0.0, 0.0])
    assert invoke([x]).shape == (0,)
    x[:] = nd.tanh(nd.ones((4,)))  # which a call waits for
    assert invoke([x]).shape == (4,)


def test_what_an_argument_failed_with_is_raised_by_the_call():
    x = nd.explode(nd.ones((2,)), limit=0.0)
    with pytest.raises(ZeroDivisionError, match="a value above 0"):
        Invoker(NonZero())([x])


def test_the_target_has_to_be_as_long_as_the_values_say():
    x, out = nd.array([1.0, 0.0, 2.0]), nd.zeros((2,))
    assert Invoker(NonZero())([x], out=out) is out
    assert out.asnumpy().tolist() == [1, 2]
    with pytest.raises(BindError, match="out"):
        Invoker(NonZero())([x], out=nd.zeros((3,)))


def test_binding_names_the_operator_and_what_to_call():
    node = apply(NonZero(), {}, "chosen")
    with pytest.raises(BindError, match="'chosen_output' depends on values"):
        Symbol([Entry(node)]).simple_bind(cpu(), chosen_data=(3,))
