"""Functions that would be frozen by a trace are found by their code."""

from __future__ import annotations

import itertools
import math
import os
import random
import time
from math import pi
from types import MappingProxyType

import numpy as np
import pytest

from operad_sdk.declare import surroundings
from operad_sdk.declare.surroundings import may_be_kernels, reason_against_tracing, takes_passes

SLOPE = 0.25
SLOPES = MappingProxyType({"steep": 2.0})
CURVES = {"tanh": np.tanh, "exp": np.exp}
HELD = [1.0]
scale = 2.0
COUNT = 0
TABLE = np.arange(3.0)
rng = np.random.default_rng(0)
numbers = itertools.count()


def count_calls():
    global COUNT
    COUNT += 1


def by_constants(x, kind="tanh"):
    return CURVES[kind](x) * SLOPE * SLOPES["steep"] + pi + math.e


def by_scale(x):
    return x * scale


def by_assigned_constant(x):
    return x * COUNT


def by_counter(x):
    count_calls()
    return x


def by_held(x):
    return x * HELD[0]


def by_table(x):
    return x * TABLE[1]


def by_generator(x):
    return x + rng.random()


def by_random_of_numpy(x):
    return x + np.random.random()


def by_random(x):
    return x + random.random()


def by_clock(x):
    return x * time.time()


def by_environment(x):
    return x * len(os.environ)


def by_iterator(x):
    return x + next(numbers)


def by_helper(x):
    return by_scale(x) + 1


def by_inner(x):
    def inner(y):
        return y * scale

    return inner(x)


def by_default(x, held=[2.0]):  # noqa: B006 - what authors write
    return x * held[0]


def rebound_closure():
    factor = 1.0

    def function(x):
        return x * factor

    def change(value):
        nonlocal factor
        factor = value

    return function, change


def counting_closure():
    calls = 0

    def function(x):
        nonlocal calls
        calls += 1
        return x * calls

    return function


def constant_closure(factor):
    return lambda x: x * factor


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (by_scale, "scale"), (by_assigned_constant, "COUNT"), (by_counter, "COUNT"), (by_held, "HELD"),
        (by_table, "TABLE"), (by_generator, "rng"), (by_random_of_numpy, "random"), (by_random, "random"),
        (by_clock, "time"), (by_environment, "environ"), (by_iterator, "next"), (by_helper, "scale"),
        (by_inner, "scale"), (by_default, "default"), (rebound_closure()[0], "factor"),
        (counting_closure(), "calls"),
    ],
)  # fmt: skip
def test_what_may_differ_between_calls_is_named(function, named):
    reason = reason_against_tracing(function)
    assert reason is not None
    assert named in reason


@pytest.mark.parametrize(
    "function", [by_constants, constant_closure(3.0), np.tanh, lambda x: x.sum() + SLOPE]
)
def test_what_stays_is_traced(function):
    assert reason_against_tracing(function) is None


def test_functions_that_reduce_or_do_much_are_told_from_functions_of_one_pass():
    def of_rows(x):
        return x - mean(x)

    def mean(x):
        return x.mean(-1, keepdims=True)

    def of_elements(x):
        return slope(x) * x

    def slope(x):
        return np.exp(-x) + 1

    assert takes_passes(of_rows)
    assert takes_passes(of_elements)
    assert not takes_passes(slope)


@pytest.mark.parametrize(
    "function", [lambda x: x @ x.T, lambda x: np.sort(x) + 1, lambda x: sum(row for row in x)]
)
def test_products_orders_and_loops_are_no_kernels(function):
    assert not may_be_kernels(function)
    assert may_be_kernels(lambda x: np.concatenate([np.exp(x[1:]), x.sum(0)]))


def test_functions_that_look_up_an_element_of_each_row_count_along_rows():
    assert takes_passes(lambda x, label: x[np.arange(len(x)), label])
    assert takes_passes(lambda x, label: np.take_along_axis(x, label, -1))


def test_code_is_disassembled_once_and_what_it_reads_is_looked_up_each_time(monkeypatch):
    assert reason_against_tracing(by_constants) is None
    assert reason_against_tracing(by_scale) is not None

    def unexpected(code):
        raise AssertionError(code)

    monkeypatch.setattr(surroundings.dis, "get_instructions", unexpected)
    assert reason_against_tracing(by_constants) is None
    monkeypatch.setitem(CURVES, "sinh", by_scale)
    assert "by_scale reads scale" in reason_against_tracing(by_constants)


def test_a_function_that_is_written_anew_counts_as_it_is_now():
    """As in a notebook, whose names are as many before and after."""
    scope = {"__name__": "notebook"}

    def cell(text):
        exec(text, scope)  # noqa: S102 - the test's own

    cell("LIMIT = 1.0\ndef limited(x): return x * LIMIT\ndef first(x): return x + LIMIT\ndef other(): pass")
    assert reason_against_tracing(scope["first"]) is None
    cell("def other():\n    global LIMIT\n    LIMIT = 2.0")
    assert "LIMIT" in reason_against_tracing(scope["limited"])
