"""Training programs: each step is forward, backward and the updates, bit for bit."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import operad as od
from operad import sym
from operad.errors import ArgumentError, BindError
from operad.executor import TrainingProgram
from operator_sdk.sdk.tests.vector_code import require_vector_code
from plugins.optimizer.tests.training import (
    bound,
    check_equal,
    run,
    separate,
    states_of,
    trained,
    updater,
    values,
)

OPTIMIZERS = {
    "sgd": {"learning_rate": 0.1},
    "sgd with momentum": {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01, "clip_gradient": 0.05},
    "nag": {"learning_rate": 0.1, "momentum": 0.9},
    "signum": {"learning_rate": 0.01, "momentum": 0.9, "wd_lh": 0.01},
    "adam": {"learning_rate": 0.01, "wd": 0.01},
    "rmsprop": {"learning_rate": 0.01},
    "rmsprop centered": {"learning_rate": 0.01, "centered": True, "clip_weights": 0.5},
    "ftrl": {},
    "ftml": {"clip_gradient": 0.1},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("grad_req", ["write", "null"])
def test_steps_are_what_separate_calls_compute(name, grad_req):
    run(name, OPTIMIZERS[name], grad_req=grad_req)


def test_steps_are_the_same_on_the_naive_engine():
    od.engine.set("naive")
    try:
        run("adam", OPTIMIZERS["adam"])
    finally:
        od.engine.set("threaded")


@pytest.mark.parametrize("name", ["sgd with momentum", "adam", "rmsprop centered", "ftml", "signum"])
def test_updates_in_vector_code_take_the_numbers_of_their_step(name):
    require_vector_code()
    x = sym.FullyConnected(sym.var("data"), num_hidden=96, name="fc1")
    symbol = sym.SoftmaxOutput(sym.FullyConnected(sym.tanh(x), num_hidden=4, name="fc2"), name="softmax")
    run(name, OPTIMIZERS[name], symbol=symbol, data=(8, 64))
    executor = bound(symbol, data=(8, 64))
    program = TrainingProgram(executor, updater(name, **OPTIMIZERS[name]), trained(executor))
    program.step()
    (update,) = [row for row in program.why().rows if row.node == "fc1_weight_update"]
    assert update.kernel.endswith(".in_vectors")


def test_branches_that_run_beside_each_other():
    x, sides = sym.var("data"), []
    for side in "ab":
        inner = sym.tanh(sym.FullyConnected(x, num_hidden=512, name=f"{side}0"))
        sides.append(sym.tanh(sym.FullyConnected(inner, num_hidden=512, name=f"{side}1")))
    symbol = sym.SoftmaxOutput(
        sym.FullyConnected(sides[0] + sides[1], num_hidden=4, name="fc"), name="softmax"
    )
    results = []
    for whole in (True, False):
        executor = bound(symbol, data=(256, 512))
        update, names = updater("sgd", learning_rate=0.1, momentum=0.9), trained(executor)
        program = TrainingProgram(executor, update, names)
        for _ in range(3):
            program.step() if whole else separate(executor, update, names)
        results.append(values(executor))
        assert not program.why_apart
    check_equal(*results)


def test_arrays_are_given_to_a_step_and_outputs_come_back():
    executor = bound()
    program = TrainingProgram(executor, updater("sgd", learning_rate=0.1))
    assert set(program._indices) == set(executor.arg_dict)  # data and label have gradients here, too
    before = executor.outputs[0]
    (found,) = program.step(data=np.ones((8, 12)))
    assert found is before
    with pytest.raises(BindError, match=r"step: 'data' has shape \(1, 2\), expected \(8, 12\)"):
        program.step(data=[[1, 2]])
    with pytest.raises(ArgumentError, match="step: unknown argument 'dta'; did you mean 'data'"):
        program.step(dta=[[1, 2]])


def test_a_gradient_that_has_no_array_takes_none():
    """All weights are as wide; without arrays of gradients one gradient's memory serves one after another."""
    x = sym.var("data")
    for number in range(6):
        x = sym.tanh(sym.FullyConnected(x, num_hidden=256, no_bias=True, name=f"fc{number}"))
    symbol = sym.MakeLoss(sym.sum(x))
    executor = symbol.simple_bind(od.cpu(), grad_req="null", data=(4, 256))
    names = {name: name for name in executor.arg_dict if name != "data"}
    program = TrainingProgram(executor, updater("sgd", learning_rate=0.1), names)
    program.step()
    assert not program.why_apart
    assert all(grad is None for grad in executor.grad_dict.values())
    planned = program._whole.program.plan.planned_bytes
    assert 256 * 256 * 4 <= planned < 2 * 256 * 256 * 4


def test_states_that_were_loaded_are_those_that_move():
    executor = bound()
    update, names = updater("adam", learning_rate=0.01), trained(executor)
    program = TrainingProgram(executor, update, names)
    od.random.seed(5)
    program.step()
    saved, weights = update.get_states(), {name: array.copy() for name, array in executor.arg_dict.items()}
    aux = {name: array.copy() for name, array in executor.aux_dict.items()}
    results = []
    for _ in range(2):
        update.set_states(saved)
        executor.copy_params_from(weights, aux)
        od.random.seed(6)
        program.step()
        program.step()
        results.append({**values(executor), **states_of(update)})
    check_equal(*results)


def test_parameters_of_the_optimizer_that_change_are_those_of_the_step():
    results = []
    for whole in (True, False):
        executor = bound()
        update, names = updater("sgd", learning_rate=0.1, momentum=0.9), trained(executor)
        program = TrainingProgram(executor, update, names)
        od.random.seed(3)
        for momentum, clip in ((0.9, None), (0.5, None), (0.5, 0.01), (0.5, 0.02), (0.9, None)):
            update.optimizer.momentum, update.optimizer.clip_gradient = momentum, clip
            program.step() if whole else separate(executor, update, names)
        results.append(values(executor))
    check_equal(*results)


def test_weights_that_joined_later_are_counted_as_the_updater_counts():
    """The rate follows the largest number of updates, which some weights have and others do not."""
    results = []
    for whole in (True, False):
        executor = bound()
        schedule = od.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=0.5)
        update, names = updater("sgd", lr_scheduler=schedule), trained(executor)
        od.random.seed(3)
        for some in (["fc2_weight", "fc2_bias"], [*names]):
            chosen = {name: names[name] for name in some}
            program = TrainingProgram(executor, update, chosen)
            for _ in range(2):
                program.step() if whole else separate(executor, update, chosen)
        results.append(values(executor))
    check_equal(*results)


def test_forward_backward_and_steps_may_alternate():
    results = []
    for whole in (True, False):
        executor = bound()
        update, names = updater("adam", learning_rate=0.01), trained(executor)
        program = TrainingProgram(executor, update, names)
        od.random.seed(3)
        for number in range(6):
            if number % 2:
                executor.forward(is_train=False)
            program.step() if whole and number % 3 else separate(executor, update, names)
        results.append(values(executor))
    check_equal(*results)


def test_a_program_goes_with_its_executor():
    executor = bound()
    program = TrainingProgram(executor, updater("adam"), trained(executor))
    for _ in range(3):
        program.step()
    od.nd.waitall()
    gone = weakref.ref(executor)
    del executor, program
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("first", ["v", "w"])
@pytest.mark.parametrize("grad_req", ["write", "null"])
def test_a_weight_moves_behind_all_that_read_it(first, grad_req):
    """The lengths have a gradient that is known at once, and the mask's gradient reads them."""
    v, w = sym.var("v", shape=(4, 3, 2)), sym.var("w", shape=(3,))
    masked = sym.MakeLoss(sym.sum(sym.SequenceMask(v * 2, w, use_sequence_length=True)), name="masked")
    summed = sym.MakeLoss(sym.sum(w), name="summed")
    symbol = sym.Group([masked, summed] if first == "v" else [summed, masked])
    executor = symbol.simple_bind(od.cpu(), grad_req=grad_req)
    executor.arg_dict["w"][:] = [4, 3, 2]
    TrainingProgram(executor, updater("sgd", learning_rate=1.0), {"v": 0, "w": 1}).step()
    assert executor.arg_dict["w"].asnumpy().tolist() == [3, 2, 1]
    assert executor.arg_dict["v"].asnumpy()[:, :, 0].T.tolist() == [
        [-2] * 4,
        [-2] * 3 + [0],
        [-2] * 2 + [0] * 2,
    ]
