"""Text of an executor: places in memory and totals."""

from __future__ import annotations

import re

import pytest

from core.tests.executor.dense import network
from operad import sym

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


def test_the_text_ends_with_the_total():
    def total(symbol, **options):
        text = symbol.simple_bind(data=(8192, 3), label=(8192, 4), **options).debug_str()
        assert text.endswith("Total 0 TempSpace resource requested")
        return int(re.search(r"Total (\d+) MB allocated", text).group(1))

    fc1 = sym.tanh(sym.Dense(sym.var("data"), num_hidden=256, name="fc1"))
    fc2 = sym.tanh(sym.Dense(fc1, num_hidden=256, name="fc2"))
    loss = sym.SquareLoss(sym.Dense(fc2, num_hidden=4, name="fc3"), sym.var("label"))
    train = total(loss)
    assert train > total(loss, grad_req="null") == total(sym.BlockGrad(loss))


def test_each_output_has_a_line_with_its_place():
    lines = network().simple_bind(data=(4, 3), grad_req="null").debug_str().splitlines()
    assert len(lines) > 3
    for line in lines[:-2]:
        assert re.search(r": \w+ \(\w+, (array|block \d+ at \d+)\)", line), line
