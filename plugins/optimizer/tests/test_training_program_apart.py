"""Training programs that cannot be one program, or are used wrongly."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import sym
from operad.errors import ArgumentError, BindError, ExecutorBusyError, ParamError
from operad_optimizer.training import TrainingProgram
from plugins.optimizer.tests.training import bound, check_equal, run, separate, trained, updater, values

APART = {"lamb": {}, "adagrad": {}, "adadelta": {}, "nadam": {}, "lbsgd": {}, "dcasgd": {}}


@pytest.mark.parametrize("name", APART)
def test_an_update_of_several_calls_is_made_apart(name):
    run(name, APART[name], expect="makes more of an update than one operator's call")


def test_what_may_be_trained():
    executor = bound(grad_req="null")
    with pytest.raises(ArgumentError, match="unknown argument 'fc9'; expected some of data"):
        TrainingProgram(executor, updater("sgd"), {"fc9": 0})
    with pytest.raises(ArgumentError, match="no argument has a gradient; name those to train in indices"):
        TrainingProgram(executor, updater("sgd"))
    assert "4 arguments" in repr(
        TrainingProgram(bound(), updater("sgd"), dict.fromkeys(list(trained(bound()))[:4], 0))
    )


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
    run("sgd", {"learning_rate": 0.1}, symbol=stateful(), expect="keeps a state of its own")


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
    executor.single_user.user = object()
    with pytest.raises(ExecutorBusyError, match="step: another thread is inside this executor"):
        program.step()
