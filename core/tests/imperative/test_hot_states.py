"""Steps of optimizers on the hot path: operators of two arguments that update states."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.imperative.calling import Gate, X, calls_of
from operad import autograd, engine, nd
from operad.engine import bulk

pytest.importorskip("operad_optimizer", reason="these are calls of its operators")

STEPS = {
    "sgd_mom_update": {"lr": 0.1, "momentum": 0.9, "wd": 0.01},
    "adam_update": {"lr": 0.1, "wd": 0.01},
}


@pytest.fixture(autouse=True)
def threaded():
    engine.set("threaded")


def arrays_of(name, dtype="float32"):
    """A weight, a gradient and the states."""
    count = {"sgd_mom_update": 3, "adam_update": 4}[name]
    return [nd.array(np.abs(X) + place, dtype=dtype) for place in range(count)]


def step(name, arrays, **more):
    return getattr(nd, name)(*arrays, out=arrays[0], **{**STEPS[name], **more})


def plan_of(function):
    return next(iter(function.__globals__["__plans"].values()))


@pytest.mark.parametrize("name", STEPS)
def test_a_step_takes_the_hot_path_and_gives_what_the_long_way_gives(name):
    arrays, others = arrays_of(name), arrays_of(name)
    for lr in (0.1, 0.1, 0.2):
        with bulk(1):  # where nothing takes the hot path
            step(name, others, lr=lr)
        step(name, arrays, lr=lr)
    names = calls_of(lambda: step(name, arrays, lr=0.2))
    step(name, others, lr=0.2)
    assert "apply_fast" in names
    assert "apply" not in names
    for one, other in zip(arrays, others, strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


@pytest.mark.parametrize("name", STEPS)
def test_a_step_counts_as_a_write_of_its_states(name):
    arrays = arrays_of(name)
    step(name, arrays)
    before = [array._chunk.var.version for array in arrays]
    step(name, arrays)
    after = [array._chunk.var.version for array in arrays]
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 0] + [1] * (len(arrays) - 2)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("place", [0, 1, 2, -1])
def test_whatever_is_in_use_is_waited_for(name, place):
    arrays, others = arrays_of(name), arrays_of(name)
    for each in (arrays, others):
        step(name, each)
    gate = Gate(arrays[place], writes=True)
    step(name, arrays)
    assert not engine.get().is_idle(arrays[-1]._chunk.var)
    gate.open()
    step(name, others)
    for one, other in zip(arrays, others, strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_fails_leaves_neither_weight_nor_states(name, monkeypatch):
    arrays = arrays_of(name)
    step(name, arrays)

    def fail(*_):
        raise ArithmeticError

    monkeypatch.setattr(plan_of(getattr(nd, name)).fast, "direct", fail)
    step(name, arrays)
    for place, array in enumerate(arrays):
        if place != 1:
            with pytest.raises(ArithmeticError):
                array.asnumpy()
    np.testing.assert_array_equal(arrays[1].asnumpy(), np.abs(X) + 1)


def test_a_state_that_is_also_an_argument_goes_the_long_way():
    name = "sgd_mom_update"
    usual = arrays_of(name)
    step(name, usual)
    weight, gradient, _ = arrays_of(name)
    names = calls_of(lambda: step(name, [weight, gradient, gradient]))
    assert "apply" in names
    assert np.isfinite(weight.asnumpy()).all()


def test_a_recorded_step_goes_the_long_way():
    name = "sgd_mom_update"
    arrays = arrays_of(name)
    step(name, arrays)
    with autograd.record():
        names = calls_of(lambda: nd.sgd_mom_update(*arrays, **STEPS[name]))
    assert "apply" in names


def test_steps_on_large_arrays_claim_their_variables():
    arrays = [nd.ones((64, 64)) for _ in range(3)]
    for _ in range(3):
        nd.sgd_mom_update(*arrays, out=arrays[0], lr=1.0, momentum=0.5)
    plans = nd.sgd_mom_update.__globals__["__plans"].values()
    [plan] = [plan for plan in plans if plan.out_specs[0] is arrays[0]._spec]
    assert (plan.fast is not None, plan.run.runs_under_lock) == (True, False)
    # 1, then 1 - 1 + .5 momentum and so on, by hand: the state is -.5, -1.25, -1.625.
    np.testing.assert_allclose(arrays[2].asnumpy(), -1.625)
    np.testing.assert_allclose(arrays[0].asnumpy(), 1 - 0.5 - 1.25 - 1.625)


def test_parameters_by_position_find_the_plan_and_are_refused_as_ever():
    pytest.importorskip("operad_elemwise", reason="this is its operator")
    x = nd.array(X)
    for _ in range(2):
        nd.clip(x, -0.5, 0.5)
    names = calls_of(lambda: nd.clip(x, -0.5, 0.5))
    assert "apply_fast" in names
    np.testing.assert_array_equal(nd.clip(x, -0.5, 0.5).asnumpy(), np.clip(X, -0.5, 0.5))
    np.testing.assert_array_equal(nd.clip(x, -0.5, a_max=0.5).asnumpy(), np.clip(X, -0.5, 0.5))
    with pytest.raises(od.errors.ArgumentError, match="parameter 'a_min' is given by position and by name"):
        nd.clip(x, -0.5, a_min=0.5)
    with pytest.raises(od.errors.ArgumentError, match="is neither a tensor nor one of its 2 parameters"):
        nd.clip(x, -0.5, 0.5, 1)


def test_an_operator_without_arrays_keeps_a_plan_for_each_context():
    pytest.importorskip("operad_init", reason="this is its operator")
    made = [nd._zeros(shape=(2, 3), ctx=od.cpu(i)) for i in (0, 1, 0)]
    with od.cpu(1):
        made.append(nd._zeros(shape=(2, 3)))
    made.append(nd._zeros(shape=(2, 3)))
    assert nd._zeros((2, 3), "cpu(0)", "int32").dtype == np.int32  # its own `ctx`
    assert [array.ctx for array in made] == [od.cpu(i) for i in (0, 1, 0, 1, 0)]
    made[0][:] = 1
    assert [array.asnumpy().sum() for array in made] == [6, 0, 0, 0, 0]
