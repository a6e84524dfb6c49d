"""Classes of sizes: what stands for a call, and what is decided for all of a class."""

from __future__ import annotations

import random

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import ForwardArrays, KernelCall, OpContext, OpReq
from operad_sdk import OperatorProperty, operator, param, unary
from operad_sdk.declare.size_classes import of_class
from operator_sdk.sdk.tests.vector_code import require_vector_code

SINGLE = np.dtype(np.float32)


@operator("classes_of_layers")
class Layer(OperatorProperty):
    """A product."""

    spec = "data:(N, C), weight:(hidden, C) -> output:(N, hidden)"
    accepts = "floating"
    hidden = param(int)

    def forward(data, weight):
        return data @ weight.T


def test_lengths_become_the_largest_of_their_class():
    found = [of_class(Layer(hidden=10), [(n, 700), (10, 700)]) for n in (1, 7, 33, 40, 41, 1000)]
    assert [shapes[0] for shapes in found] == [(n, 768) for n in (1, 7, 40, 40, 48, 1024)]
    assert {shapes[1] for shapes in found} == {(10, 768)}


def test_a_class_keeps_which_lengths_are_equal_and_which_the_parameters_say():
    rng = random.Random(3)
    op = unary("classes_of_cubes", accepts="floating")(np.tanh)
    for _ in range(200):
        lengths = [rng.choice([1, 2, 3, 31, 32, 33, 34, 60, 61, 1000, 1001]) for _ in range(5)]
        (found,) = of_class(op(), [tuple(lengths)])
        pairs = list(zip(lengths, found, strict=True))
        assert len({*pairs}) == len({*lengths}) == len({*found})
        assert all(n <= own <= max(8, 2 * n) and (n == 1) == (own == 1) for n, own in pairs)
    assert of_class(Layer(hidden=33), [(33, 34), (33, 34)]) == ((33, 40), (33, 40))


def test_sizes_that_fit_alone_stand_for_themselves():
    shapes = ((33, 9), (10, 9))
    op = Layer(hidden=11)  # of which these are no sizes
    assert of_class(op, shapes) == shapes


def test_a_decision_does_not_depend_on_what_was_asked_before():
    """Of each size, whatever was asked of others, and near the size from which vector code is faster."""
    require_vector_code()

    def verdicts(rows):
        op = unary("classes_of_decisions", accepts="floating")(lambda data: np.tanh(data) + data * data)
        kernel = op().derived_kernels()[0]
        return {n: kernel.when(KernelCall(op(), cpu(), [(n, 64)], [SINGLE])) for n in rows}

    rows = [*range(1, 33), *range(230, 290), *range(500, 520), 4000, 4001]
    right = verdicts(rows)
    assert {True} < {*right.values()}
    for seed in range(3):
        assert verdicts(random.Random(seed).sample(rows, len(rows))) == right
    alone = random.Random(4).sample(rows, 12)
    assert all(verdicts([n]) == {n: right[n]} for n in alone)


def test_a_class_of_sizes_is_asked_about_once():
    require_vector_code()
    op = unary("classes_asked_once", accepts="floating")(lambda data: np.tanh(data) + data.sum(1)[:, None])
    when = op().derived_kernels()[0].when
    count = []
    for rows in (65, 70, 80, 257, 300, 320):  # of fewer and of more than 16,384 elements
        when(KernelCall(op(), cpu(), [(rows, 64)], [SINGLE]))
        count.append(len(op._forms["decided"]))
    assert count == [1, 1, 1, 2, 2, 2]


@operator("classes_of_odd_rows")
class OddRows(OperatorProperty):
    """A product of rows, of which those of an odd number are looked at."""

    spec = "data:(N, C), weight:(C, C) -> output:(N, C)"
    accepts = "floating"

    def forward(data, weight):
        inner = np.exp(-(data * data)) * np.tanh(data) + np.log1p(data * data)
        if data.shape[0] % 2 and float(data[0, 0]) > 1e9:
            return inner
        return np.exp(np.tanh(inner @ weight)) * inner


@pytest.mark.parametrize("rows", [500, 501])
def test_what_has_a_program_for_its_class_alone_is_computed_by_its_function(rows):
    require_vector_code()
    shapes = [(rows, 512), (512, 512)]
    kernel = OddRows().derived_kernels()[0]
    assert kernel.when(KernelCall(OddRows(), cpu(), shapes, [SINGLE] * 2)) is True
    made = kernel.factory(OddRows(), cpu(), shapes, [SINGLE] * 2)
    assert (type(made).__name__ == "ProgramOperator") == (rows == 500)
    rng = np.random.default_rng(0)
    data, weight = (rng.normal(size=shape).astype(SINGLE) for shape in shapes)
    out = np.empty_like(data)
    made.forward(OpContext(cpu(), is_train=True), ForwardArrays([data, weight * 0.01], [OpReq.WRITE], [out]))
    inner = np.exp(-(data * data)) * np.tanh(data) + np.log1p(data * data)
    np.testing.assert_allclose(out, np.exp(np.tanh(inner @ (weight * 0.01))) * inner, 1e-4, 1e-5)
