"""Training programs: each step is forward, backward and the updates, bit for bit."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import operad as od
from operad import sym
from operad.errors import ArgumentError, BindError, ExecutorBusyError, ParamError
from operad.executor import TrainingProgram

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
APART = {"lamb": {}, "adagrad": {}, "adadelta": {}, "nadam": {}, "lbsgd": {}, "dcasgd": {}}


def network():
    """Products, a normalization, a mask that is drawn, and a loss; shared weights, too."""
    data, shared = sym.var("data"), sym.var("shared_weight", shape=(16, 16))
    x = sym.FullyConnected(data, num_hidden=16, name="fc1")
    x = sym.BatchNorm(sym.Activation(x, act_type="relu"), fix_gamma=True, name="bn")
    for number in range(2):
        x = sym.tanh(sym.FullyConnected(x, weight=shared, num_hidden=16, name=f"twice{number}"))
    x = sym.Dropout(x, p=0.25)
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=4, name="fc2"), name="softmax")


def bound(symbol=None, grad_req="write", seed=0, **shapes):
    symbol = network() if symbol is None else symbol
    executor = symbol.simple_bind(od.cpu(), grad_req=grad_req, **(shapes or {"data": (8, 12)}))
    rng = np.random.default_rng(seed)
    for name, array in executor.arg_dict.items():
        array[:] = rng.integers(0, 4, array.shape) if "label" in name else rng.standard_normal(array.shape)
    return executor


def trained(executor):
    return {
        name: i
        for i, name in enumerate(executor.arg_dict)
        if name.endswith(("weight", "bias", "gamma", "beta"))
    }


def updater(name, **arguments):
    return od.optimizer.get_updater(od.optimizer.create(name.split()[0], **arguments))


def separate(executor, update, names):
    executor.forward(is_train=True)
    executor.backward()
    update(
        list(names.values()), [executor.grad_dict[n] for n in names], [executor.arg_dict[n] for n in names]
    )


def values(executor, with_gradients=True):
    found = {**executor.arg_dict, **executor.aux_dict, **executor.output_dict}
    if with_gradients:
        found |= {f"gradient of {n}": grad for n, grad in executor.grad_dict.items() if grad is not None}
    return {name: array.asnumpy() for name, array in found.items()}


def check_equal(ours, theirs, *more):
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, err_msg=str((name, *more)), strict=True)


def states_of(update):
    return {
        f"{index} {number}": state.asnumpy()
        for index, own in update.states.items()
        for number, state in enumerate(own if isinstance(own, tuple) else (own,))
        if state is not None
    }


def run(name, arguments, steps=4, grad_req="write", symbol=None, seed=0, expect=""):
    """Steps of a program and of separate calls, pushed without a wait between them."""
    results = []
    for whole in (True, False):
        od.random.seed(7)
        executor = bound(symbol, "write" if not whole else grad_req, seed)
        update, names = updater(name, **arguments), trained(executor)
        program = TrainingProgram(executor, update, names)
        for number in range(steps):
            update.optimizer.lr = 0.1 / (number + 1)  # that of the moment, though steps may run later
            if whole:
                program.step()
                assert expect in program.why_apart
                assert bool(expect) == bool(program.why_apart)
            else:
                separate(executor, update, names)
        results.append((values(executor, grad_req == "write"), states_of(update)))
        assert update.optimizer.num_update == steps
    for ours, theirs in zip(*results, strict=True):
        check_equal(ours, theirs, name)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("grad_req", ["write", "null"])
def test_steps_are_what_separate_calls_compute(name, grad_req):
    run(name, OPTIMIZERS[name], grad_req=grad_req)


@pytest.mark.parametrize("name", APART)
def test_an_update_of_several_calls_is_made_apart(name):
    run(name, APART[name], expect="makes more of an update than one operator's call")


def test_steps_are_the_same_on_the_naive_engine():
    od.engine.set("naive")
    try:
        run("adam", OPTIMIZERS["adam"])
    finally:
        od.engine.set("threaded")


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
    with pytest.raises(
        ArgumentError, match="step: unknown argument 'dta'; expected some of data, fc1_weight"
    ):
        program.step(dta=[[1, 2]])


def test_what_may_be_trained():
    executor = bound(grad_req="null")
    with pytest.raises(ArgumentError, match="unknown argument 'fc9'; expected some of data"):
        TrainingProgram(executor, updater("sgd"), {"fc9": 0})
    with pytest.raises(ArgumentError, match="no argument has a gradient; name those to train in indices"):
        TrainingProgram(executor, updater("sgd"))
    assert "4 arguments" in repr(
        TrainingProgram(bound(), updater("sgd"), dict.fromkeys(list(trained(bound()))[:4], 0))
    )


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


def test_gradients_without_an_array_cannot_be_made_apart():
    executor = bound(grad_req="null")
    program = TrainingProgram(executor, updater("lamb"), trained(executor))
    before = values(executor)
    with pytest.raises(
        BindError, match=r"'fc1_weight' has no array for its gradient.*bind it with grad_req='write'"
    ):
        program.step()
    check_equal(values(executor), before)


def stateful():
    class Counting(od.operator.CustomOp):
        calls = 0

        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.calls += 1
            self.assign(in_grad[0], req[0], out_grad[0] * self.calls)

    @od.operator.register("counting_for_a_training_program")
    class CountingProp(od.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Counting()

    x = sym.Custom(sym.var("data"), op_type="counting_for_a_training_program")
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=4, name="fc"), name="softmax")


def test_an_operator_with_a_state_of_its_own_runs_apart():
    pytest.importorskip("operad_custom")
    run("sgd", OPTIMIZERS["sgd"], symbol=stateful(), expect="keeps a state of its own")


def test_weights_that_share_memory_are_trained_apart():
    x = sym.FullyConnected(sym.var("data"), weight=sym.var("a"), num_hidden=12, no_bias=True)
    x = sym.FullyConnected(sym.tanh(x), weight=sym.var("b"), num_hidden=12, no_bias=True)
    symbol, results = sym.MakeLoss(sym.sum(sym.tanh(x))), []
    for whole in (True, False):
        shared, rng = od.nd.zeros((12, 12)), np.random.default_rng(0)
        shared[:] = rng.standard_normal((12, 12))
        args = {"data": od.nd.array(rng.standard_normal((3, 12))), "a": shared, "b": shared}
        grads = {name: od.nd.zeros((12, 12)) for name in "ab"}
        executor = symbol.bind(od.cpu(), args, args_grad=grads)
        update, names = updater("sgd", learning_rate=0.1), {"b": 1, "a": 0}
        program = TrainingProgram(executor, update, names)
        for _ in range(3):
            program.step() if whole else separate(executor, update, names)
        results.append(values(executor))
        assert program.why_apart == ("'a' shares memory with 'b'" if whole else "")
    check_equal(*results)


def test_a_gradient_that_is_added_up_is_added_up():
    results = []
    for whole in (True, False):
        executor = bound(
            grad_req={name: "add" if name == "fc2_bias" else "write" for name in bound().arg_dict}
        )
        update, names = updater("sgd", learning_rate=0.1), trained(executor)
        program = TrainingProgram(executor, update, names)
        od.random.seed(3)
        for _ in range(3):
            program.step() if whole else separate(executor, update, names)
        results.append(values(executor))
    assert "added to its array" in TrainingProgram(executor, update, names)._problem()
    check_equal(*results)


def test_a_monitor_sees_every_node_and_the_step_is_the_same():
    executors, seen = [bound(), bound()], []
    programs = [TrainingProgram(executor, updater("sgd"), trained(executor)) for executor in executors]
    for watched in (False, True, False):
        executors[0].set_monitor_callback((lambda name, _: seen.append(name)) if watched else None)
        for program in programs:
            od.random.seed(1)
            program.step()
        assert bool(programs[0].why_apart) is watched
        assert not programs[1].why_apart
    assert {"fc1_output", "softmax_output"} <= {*map(str, seen)}
    check_equal(*map(values, executors))


def test_an_output_that_is_no_loss_is_refused_as_by_backward():
    executor = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc").simple_bind(od.cpu(), data=(2, 3))
    program = TrainingProgram(executor, updater("sgd"))
    with pytest.raises(BindError, match="output 'fc_output' is not a loss"):
        program.step()
    assert "is no loss" in program.why_apart


def test_a_subclass_that_moves_a_weight_otherwise_is_asked():
    class Halving(od.optimizer.SGD):
        def step(self, index, weight, grad, state):
            weight *= 0.5

    class Doubling(od.optimizer.SGD):
        def step_call(self, index, state):
            name, states, params = super().step_call(index, state)
            return name, states, {**params, "lr": 2 * params["lr"]}

    for made, is_apart in ((Halving(learning_rate=0.1), True), (Doubling(learning_rate=0.1), False)):
        results = []
        for whole in (True, False):
            executor = bound()
            update, names = od.optimizer.get_updater(made), trained(executor)
            program = TrainingProgram(executor, update, names)
            od.random.seed(3)
            program.step() if whole else separate(executor, update, names)
            results.append(values(executor))
            assert not whole or bool(program.why_apart) is is_apart
        check_equal(*results)


def test_any_function_that_moves_weights_will_do():
    def move(indices, grads, weights):
        for grad, weight in zip(grads, weights, strict=True):
            weight -= grad

    executor = bound()
    program = TrainingProgram(executor, move, {"fc2_bias": 0})
    program.step()
    assert program.why_apart == "its updater does not say which operators it calls"
    assert np.abs(executor.arg_dict["fc2_bias"].asnumpy()).any()


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


def test_a_wrong_rate_is_an_error_before_anything_moves():
    executor = bound()
    update = updater("sgd", learning_rate=0.1)
    program = TrainingProgram(executor, update, trained(executor))
    program.step()
    before = values(executor)
    update.optimizer.clip_gradient = "much"
    with pytest.raises(ParamError, match="clip_gradient"):
        program.step()
    after = values(executor)
    for name in trained(executor):
        np.testing.assert_array_equal(after[name], before[name])


def test_backward_after_a_step_asks_for_a_forward():
    executor = bound()
    program = TrainingProgram(executor, updater("sgd"), trained(executor))
    executor.forward(is_train=True)
    program.step()
    with pytest.raises(BindError, match="call forward first"):
        executor.backward()
    executor.forward(is_train=True)
    executor.backward()


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


def test_an_error_in_a_step_names_its_node_and_training_goes_on():
    executor = bound()
    update, names = updater("sgd", learning_rate=0.1), trained(executor)
    program = TrainingProgram(executor, update, names)
    program.step()
    od.nd.waitall()
    arrays = {**{name: executor.arg_dict[name] for name in names}, **executor.aux_dict}
    before = {name: array.asnumpy() for name, array in arrays.items()}
    moved = program._whole._moved[0].operator
    function, moved._function = moved._function, lambda *_: 1 / 0
    program.step()
    with pytest.raises(ZeroDivisionError) as caught:
        od.nd.waitall()
    assert "in forward of sgd_update 'fc1_weight_update' (operad-optimizer" in "".join(caught.value.__notes__)
    moved._function = function
    for name, value in before.items():
        arrays[name][:] = value
    program.step()
    assert np.isfinite(executor.arg_dict["fc1_weight"].asnumpy()).all()


def test_one_thread_at_a_time():
    executor = bound()
    program = TrainingProgram(executor, updater("sgd"), trained(executor))
    executor._single_user.user = object()
    with pytest.raises(ExecutorBusyError, match="step: another thread is inside this executor"):
        program.step()


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
