"""Plans of imperative calls: what is worked out once for a kind of call."""

from __future__ import annotations

import numpy as np
import pytest

from operad import registry
from operad.device import cpu
from operad.errors import OperadError, ShapeError
from operad.imperative import Plan, spec_of
from operad.imperative.hot import fast_path

pytestmark = pytest.mark.usefixtures("operators")


def plan_of(name, *shapes, is_train=False, ctx=None, dtype="float32", **params):
    specs = [spec_of(shape, np.dtype(dtype), ctx or cpu()) for shape in shapes]
    return Plan(registry.get(name)(**params), specs, ctx or cpu(), is_train)


def test_outputs_are_inferred_and_only_the_visible_ones_are_counted():
    plan = plan_of("SineCosine", (2, 3))
    assert [spec.shape for spec in plan.out_specs][: plan.signature.num_visible] == [(2, 3)] * 2
    signature = plan.signature
    assert (signature.num_args, signature.num_inputs, signature.num_visible) == (1, 1, 2)


def test_auxiliary_states_are_inputs_and_no_arguments():
    plan = plan_of("Centre", (2, 3), (3,))
    assert (plan.signature.num_args, plan.signature.num_inputs) == (1, 2)


def test_shapes_that_contradict_each_other_are_refused_with_the_operator_and_the_argument():
    with pytest.raises(ShapeError, match=r"Dense: weight has shape \(2, 2\), expected \(3, 2\)"):
        plan_of("Dense", (1, 2), (2, 2), (3,), num_hidden=3)


def test_outputs_lie_on_the_context_of_the_call():
    assert [spec.ctx for spec in plan_of("tanh", (4,), ctx=cpu(1)).out_specs] == [cpu(1)]


def test_an_output_may_lie_on_an_argument_where_the_operator_says_so():
    assert plan_of("tanh", (4,)).signature.inplace == {(0, 0)}
    assert fast_path(plan_of("tanh", (4,))).updates == [True]
    assert plan_of("Dense", (1, 2), (3, 2), (3,), num_hidden=3).signature.inplace == set()


def test_a_plan_has_at_most_15_attributes():
    assert len(vars(plan_of("tanh", (4,)))) <= 15


def test_errors_name_the_operator_and_who_provides_it():
    assert str(plan_of("tanh", (4,)).name).startswith("tanh")


def test_a_gradient_has_a_plan_of_its_own_which_is_kept():
    plan = plan_of("tanh", (4,), is_train=True)
    specs = [spec_of((4,), np.dtype("float32"), cpu())] * 2
    with pytest.raises(OperadError):  # these operators of tests declare no operator of their gradient
        plan.gradient_plan((True,), specs[:1], True)
