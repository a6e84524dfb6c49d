"""Training programs with operators of the core's tests; optimizers' own are tested where they are."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.executor.dense import filled, network
from operad import nd
from operad.errors import ArgumentError, BindError
from operad_optimizer import training
from operad_optimizer.training import TrainingProgram
from operad_optimizer.whole_step import WholeStep
from plugins.optimizer.tests.descent import Updater, installed

pytestmark = pytest.mark.usefixtures("operators")
WEIGHTS = ("fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias")


@pytest.fixture(autouse=True)
def update_operators():
    with installed():
        yield


def bound(grad_req="write"):
    return filled(network().simple_bind(grad_req=grad_req, data=(5, 8)))


def trained(executor, updater, steps, whole, rates=(0.5, 0.25, 0.125)):
    program = TrainingProgram(executor, updater, {name: name for name in WEIGHTS})
    for number in range(steps):
        updater.rate = rates[number % len(rates)]
        if whole:
            program.step()
            continue
        executor.forward(is_train=True)
        executor.backward()
        updater(WEIGHTS, [executor.grad_dict[n] for n in WEIGHTS], [executor.arg_dict[n] for n in WEIGHTS])
    return program, {name: executor.arg_dict[name].asnumpy() for name in WEIGHTS} | {
        f"last {name}": state.asnumpy() for name, state in updater.states.items()
    }


@pytest.mark.parametrize("grad_req", ["write", "null"])
@pytest.mark.parametrize("operator", ["descent", "fixed", "elsewhere"])
def test_a_step_is_what_the_three_calls_are(operator, grad_req, each_engine):
    is_apart = operator != "descent"
    if is_apart and grad_req == "null":
        return
    ours, theirs = Updater(operator), Updater(operator)
    program, found = trained(bound(grad_req), ours, 5, whole=True)
    _, right = trained(bound(), theirs, 5, whole=False)
    assert bool(program.why_apart) is is_apart
    assert ours.count == theirs.count == 5 * len(WEIGHTS)
    assert found.keys() == right.keys()
    for name, value in right.items():
        np.testing.assert_array_equal(found[name], value)


def test_what_cannot_be_one_program_is_tried_once(monkeypatch):
    made = []
    monkeypatch.setattr(training, "WholeStep", lambda *args: made.append(args) or WholeStep(*args))
    trained(bound(), Updater("fixed", rate=0.5), 4, whole=True, rates=(0.5,))
    assert len(made) == 1
    trained(bound(), Updater(), 4, whole=True)
    assert len(made) == 2


def test_a_compilation_that_was_interrupted_is_begun_again(monkeypatch):
    executor, updater = bound(), Updater()
    program = TrainingProgram(executor, updater, {name: name for name in WEIGHTS})
    with monkeypatch.context() as patched:
        patched.setattr(training, "WholeStep", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            program.step()
    program.step()
    assert program.why_apart == ""
    assert program._whole is not None


def test_kernels_and_memory_are_those_of_the_program():
    executor = bound("null")
    program = TrainingProgram(executor, Updater(), {name: name for name in WEIGHTS})
    assert program.memory_plan is executor.memory_plan
    program.step()
    assert "fc1_weight_update" in str(program.why())
    assert "fc1_weight_update" not in str(executor.why())
    assert program.memory_plan.planned_bytes > executor.memory_plan.planned_bytes


def test_why_a_step_was_three_programs():
    for operator, why in (
        ("elsewhere", "elsewhere is not a weight and its gradient, and the new weight in its place"),
        ("fixed", "fixed depends on its parameters before it runs"),
    ):
        program, _ = trained(bound(), Updater(operator), 1, whole=True)
        assert program.why_apart == why
    executor = bound()
    executor.set_monitor_callback(lambda *_: None)
    assert trained(executor, Updater(), 1, whole=True)[0].why_apart == "a monitor looks at its nodes"
    executor.set_monitor_callback(None)
    assert trained(executor, Updater(), 1, whole=True)[0].why_apart == ""


def test_the_default_is_all_that_has_a_gradient():
    executor = filled(network().simple_bind(grad_req={"fc1_weight": "write"}, data=(5, 8)))
    before = executor.arg_dict["fc1_weight"].asnumpy()
    program = TrainingProgram(executor, Updater())
    assert repr(program) == f"<TrainingProgram of 1 arguments of {executor!r}>"
    (output,) = program.step(data=np.zeros((5, 8)))
    assert output is executor.outputs[0]
    np.testing.assert_array_equal(executor.arg_dict["fc1_weight"].asnumpy(), before)  # zeros have no gradient
    with pytest.raises(ArgumentError, match="step: unknown argument 'dat'"):
        program.step(dat=1)


def test_a_gradient_that_three_programs_need_and_nobody_keeps_is_asked_for():
    program = TrainingProgram(bound("null"), Updater("fixed"), {"fc1_weight": 0})
    with pytest.raises(
        BindError, match=r"'fc1_weight' has no array for its gradient.*depends on its parameters"
    ):
        program.step()
    with pytest.raises(ArgumentError, match="no argument has a gradient"):
        TrainingProgram(bound("null"), Updater())
    with pytest.raises(ArgumentError, match="unknown argument 'fc9_weight'"):
        TrainingProgram(bound(), Updater(), {"fc9_weight": 0})


def test_a_parameter_that_does_not_fit_stops_the_step_before_it_is_pushed():
    executor, updater = bound(), Updater()
    program = TrainingProgram(executor, updater)
    program.step()
    nd.waitall()
    before = executor.arg_dict["fc1_weight"].asnumpy()
    updater.rate = -1.0
    with pytest.raises(ValueError, match="rate"):
        program.step()
    np.testing.assert_array_equal(executor.arg_dict["fc1_weight"].asnumpy(), before)
