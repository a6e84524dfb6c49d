"""Python calls of a bind, as bars: two layers and their activations, composed and bound."""

from __future__ import annotations

import pytest

import operad as od
from core.tests.imperative.calling import calls_of

OF_A_NEW_SIZE, OF_A_KNOWN_SIZE = 2_700, 1_150
"""Bars a tenth above what stands."""


def bind(rows):
    x = od.sym.var("data")
    for number in range(2):
        x = od.sym.FullyConnected(x, num_hidden=64, name=f"layer{number}")
        x = od.sym.tanh(x)
    return x.simple_bind(od.cpu(), data=(rows, 64))


@pytest.mark.more
def test_a_bind_of_four_operators_makes_few_calls():
    kept = [bind(rows) for rows in (33, 34)]
    assert len(calls_of(lambda: kept.append(bind(35)))) <= OF_A_NEW_SIZE  # of the class of 34
    assert len(calls_of(lambda: kept.append(bind(35)))) <= OF_A_KNOWN_SIZE
