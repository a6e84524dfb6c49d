"""An operator as certain kernels compute it: their contract in the place of its own."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.prepared_arrays import PREPARING, call_of
from operad.device import cpu
from operad.dtypes import DEFAULT_DTYPE
from operad.op.choice import choose
from operad.op.chosen import Chosen, Preparation
from operad.op.context import OpContext
from operad.op.entry import BackwardEntry
from operad.op.operator import ForwardArrays
from operad.op.req import OpReq

HEAD = BackwardEntry("out_grad", 0)
WEIGHT = BackwardEntry("in_data", 1)
DATA = BackwardEntry("in_data", 0)


@pytest.fixture
def plain():
    return Chosen(choose(call_of()))


@pytest.fixture
def full():
    """The choice with all that its kernel can have prepared."""
    return Chosen(choose(call_of()).with_prepared([(PREPARING, "twice")]))


def test_it_has_the_operators_name_and_parameters(plain):
    assert (plain.name, plain.get_params()) == ("scaled", {})
    assert plain.list_parts() == ["forward", "data_grad", "weight_grad"]


def test_what_is_prepared_are_arguments(full):
    assert full.list_arguments() == ["data", "weight", "twice"]
    assert full.list_outputs() == ["output"]


def test_shapes_and_types_of_these_are_those_of_the_call(full):
    shapes, types = [(2, 3)] * 3, [DEFAULT_DTYPE] * 3
    assert full.infer_shape([(2, 3), None, None]) == (shapes, [(2, 3)], [])
    assert full.infer_type([DEFAULT_DTYPE, None, None]) == (types, [DEFAULT_DTYPE], [])


def test_gradients_read_what_their_kernels_say(full):
    assert full.backward_dependency([True, False, False]) == [HEAD, WEIGHT]
    assert full.backward_dependency([False, True, False]) == [HEAD, DATA, WEIGHT]


def test_no_gradient_flows_to_what_is_prepared(full):
    assert full.differentiable_inputs() == [True, True, False]


def test_it_has_a_scalar_form_only_where_the_operators_arrays_are_all_there_are(full):
    assert full.scalar_form("forward", [(2, 3)] * 3, [DEFAULT_DTYPE] * 3) == "its kernel prepares arrays"


def test_its_operator_computes_forward_by_what_was_prepared(full):
    operator = full.create_operator(cpu(), [(2, 3)] * 3, [DEFAULT_DTYPE] * 3)
    data, weight = np.full((2, 3), 3, "f4"), np.full((2, 3), 5, "f4")
    out = np.empty_like(data)
    operator.forward(OpContext(cpu(), True), ForwardArrays([data, weight, 4 * weight], [OpReq.WRITE], [out]))
    assert out[0, 0] == 30, "half of what was prepared, which here is four times the weight"


def test_a_preparation_takes_its_arguments_and_fills_one_array():
    prop = Preparation(call_of(), PREPARING, "twice")
    assert (prop.list_arguments(), prop.list_outputs()) == (["weight"], ["twice"])
    assert prop.infer_shape([None]) == ([(2, 3)], [(2, 3)], [])
    assert prop.infer_type([None]) == ([DEFAULT_DTYPE], [DEFAULT_DTYPE], [])
    weight, twice = np.full((2, 3), 5, "f4"), np.empty((2, 3), "f4")
    operator = prop.create_operator(cpu(), [(2, 3)], [DEFAULT_DTYPE])
    operator.forward(OpContext(cpu(), False), ForwardArrays([weight], [OpReq.WRITE], [twice]))
    assert (twice == 10).all()
