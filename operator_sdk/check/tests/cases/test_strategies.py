from __future__ import annotations

import numpy as np
import pytest

from operad.errors import ShapeError
from operad.operator import OperatorProperty as CoreProperty
from operad.operator import unify_shapes
from operad_check.cases.attempts import Attempts
from operad_check.cases.goal import GivenSize
from operad_check.cases.kinds import EDGES, LONG, ORDINARY, SMOOTH
from operad_check.cases.shapes import argument_shapes
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_sdk import Contract, OperatorProperty, binary, operator, param, unary
from operad_sdk.domains import Index, positive


@unary("strategies_square")
def square(x):
    """Square."""
    return x * x


@binary("strategies_outer", "lhs:(N), rhs:(M) -> output:(N, M)")
def outer(lhs, rhs):
    """Product of every element with every other."""
    return lhs[:, None] * rhs[None, :]


@operator("strategies_pool")
class Pool(OperatorProperty):
    """Windows."""

    kernel = param("shape", ge=1, doc="Size.")
    stride = param("shape", (), ge=1, doc="Step.")
    pad = param("shape", (), ge=0, doc="Padding.")

    def spec(self):
        rank = len(self.kernel)
        self.steps, self.pads = self.stride or (1,) * rank, self.pad or (0,) * rank
        return "data:(N, C, *S) -> output:(N, C, *((S + 2*pads - kernel)//steps + 1))"

    def forward(data):
        return 0


class Affine(CoreProperty):
    """The long form: shapes follow from the data and a parameter."""

    num_hidden = param(int, ge=1, doc="Length of the last axis.")

    def list_arguments(self):
        return ["data", "weight", "bias"]

    def infer_shape(self, in_shapes):
        data, weight, bias = in_shapes
        if data is not None and len(data) != 2:
            raise ShapeError(f"affine: data has {len(data)} axes, expected 2")
        inner = data[1] if data is not None else None
        weight = unify_shapes(weight, (self.num_hidden, inner), "affine: weight")
        bias = unify_shapes(bias, (self.num_hidden,), "affine: bias")
        rows = data[0] if data is not None else None
        return [data, weight, bias], [(rows, self.num_hidden)], []


@operator("strategies_norm")
class Norm(OperatorProperty):
    """Has a state and a label."""

    spec = "data:(N, C), label:(N); aux scale:(C) -> output:(N, C)"
    contract = Contract(inputs={"label": Index("data", 1), "data": positive()})

    def forward(data, label, scale):
        return data / scale


def pool_of(op, kind=ORDINARY, examples=60, seed=0):
    return Session(subject_of(op), Profile("test", examples, 9.0, seed=seed)).pool(kind)


@pytest.mark.parametrize("op", [square, outer, Pool, Affine, Norm])
def test_cases_are_what_inference_accepts(op):
    found = pool_of(op)
    assert len(found) >= 20
    for case in found:
        prop = subject_of(op).cls(**case.params)
        assert list(case.inputs) == prop.list_arguments()
        shapes = [array.shape for array in case.inputs.values()]
        ins, outs, aux = prop.infer_shape(shapes)
        assert ins == shapes
        assert None not in outs
        assert [array.shape for array in case.aux.values()] == aux


@pytest.mark.parametrize("op", [square, Pool, Affine])
def test_the_same_seed_gives_the_same_cases_and_another_seed_others(op):
    def words(seed):
        return [(case.describe(), case.seed) for case in pool_of(op, seed=seed)]

    assert words(1) == words(1)
    assert words(1) != words(2)


def test_smooth_cases_are_small_and_double():
    for case in pool_of(outer, SMOOTH):
        assert {array.dtype for array in case.inputs.values()} == {np.dtype(np.float64)}
        assert sum(array.size for array in case.inputs.values()) <= SMOOTH.max_elements


def test_edge_cases_have_empty_arrays_and_arrays_without_axes():
    shapes = {case.inputs["data"].shape for case in pool_of(square, EDGES)}
    assert () in shapes
    assert any(0 in shape for shape in shapes)


def test_values_come_from_the_declared_domains():
    for case in pool_of(Norm):
        assert (case.inputs["data"] > 0).all()
        assert (case.inputs["label"] < case.inputs["data"].shape[1]).all()
        assert (case.aux["scale"] > 0).all()


def test_values_of_floating_arrays_are_multiples_of_an_eighth():
    for case in pool_of(square):
        values = case.inputs["data"].astype(np.float64) * 8
        np.testing.assert_array_equal(values, np.rint(values))


def test_an_operator_that_takes_integers_only_gets_integers():
    @unary("strategies_bits", accepts="integer")
    def bits(x):
        return ~x

    assert {case.inputs["data"].dtype.kind for case in pool_of(bits)} <= {"i", "b"}


def test_declared_shapes_replace_the_search():
    @unary("strategies_even", "data:(N) -> output:(N//2)")
    def even(x):
        return x[::2]

    even.contract = Contract(shapes=lambda prop, choose: [(2 * choose([1, 2, 3]),)])
    assert {case.inputs["data"].shape for case in pool_of(even)} == {(2,), (4,), (6,)}


def test_a_long_size_is_no_number_of_axes():
    contract = Contract(shapes=lambda prop, choose: [(1,) * choose((1, 2, 3))])
    ranks = unary("strategies_ranks", accepts="floating", contract=contract)(lambda x: x * x)
    subject, given = subject_of(ranks), GivenSize(0, 66)
    assert argument_shapes(lambda sizes: 1, subject, ranks(), LONG, given, Attempts()) is None
