"""One module: shapes, inputs, values, and what is refused."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, BindError, ParamError, UnknownParameterError

DATA, LABELS = [("data", (8, 5))], [("softmax_label", (8,))]


def bound(network: Any, drawn: Any, **given: Any) -> Any:
    module = od.mod.Module(network, context=given.pop("context", None), **given.pop("made_with", {}))
    module.bind(DATA, LABELS, **given)
    module.init_params(arg_params=drawn.params)
    return module


def batch_of(drawn: Any, size: int = 8) -> Any:
    return SimpleNamespace(
        data=[od.nd.array(drawn.data[:size])], label=[od.nd.array(drawn.labels[:size])], pad=0
    )


@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients_of_inputs_are_those_of_one_executor(network: Any, drawn: Any, count: int) -> None:
    module = bound(network, drawn, context=[od.cpu(i) for i in range(count)], inputs_need_grad=True)
    batch = batch_of(drawn)
    module.forward_backward(batch)
    requests = {name: "write" if name == "data" else "null" for name in network.list_arguments()}
    executor = network.simple_bind(grad_req=requests, data=(8, 5))
    executor.copy_params_from(drawn.params)
    executor.forward(is_train=True, data=batch.data[0], softmax_label=batch.label[0])
    executor.backward()
    (found,) = module.get_input_grads()
    np.testing.assert_allclose(found.asnumpy(), executor.grad_dict["data"].asnumpy(), rtol=1e-5, atol=1e-7)
    assert [len(parts) for parts in module.get_input_grads(merge_multi_context=False)] == [count]


def test_output_gradients_reach_every_context(drawn: Any) -> None:
    scores = od.sym.FullyConnected(od.sym.var("data"), num_hidden=3, name="fc1")
    params = {"fc1_weight": od.nd.ones((3, 5)), "fc1_bias": od.nd.zeros(3)}
    module = od.mod.Module(scores, label_names=None, context=[od.cpu(0), od.cpu(1)])
    module.bind(DATA, inputs_need_grad=True)
    module.init_params(arg_params=params)
    out_grads = np.arange(24.0).reshape(8, 3)
    module.forward(batch_of(drawn), is_train=True)
    module.backward([od.nd.array(out_grads)])
    np.testing.assert_array_equal(module.get_input_grads()[0].asnumpy(), out_grads @ np.ones((3, 5)))


def test_gradients_that_are_added_sum_over_batches(network: Any, drawn: Any) -> None:
    once, twice = bound(network, drawn), bound(network, drawn, grad_req="add")
    once.forward_backward(batch_of(drawn))
    for _ in range(2):
        twice.forward_backward(batch_of(drawn))
    for (single,), (double,) in zip(once._exec_group.grad_arrays, twice._exec_group.grad_arrays, strict=True):
        np.testing.assert_array_equal(double.asnumpy(), 2 * single.asnumpy())


@pytest.mark.parametrize("count", [1, 2])
def test_a_batch_of_another_size_goes_through_executors_that_are_kept(
    network: Any, drawn: Any, count: int
) -> None:
    module = bound(network, drawn, context=[od.cpu(i) for i in range(count)])
    module.forward(batch_of(drawn), is_train=False)
    whole, first = module.get_outputs()[0].asnumpy(), module._exec_group.execs
    seen = []
    for size in (3, 8, 3, 16):
        module.forward(batch_of(drawn, size), is_train=False)
        seen.append(module._exec_group.execs)
        rows = min(size, 8)
        np.testing.assert_allclose(module.get_outputs()[0].asnumpy()[:rows], whole[:rows], rtol=1e-6)
        assert module.output_shapes == [("softmax_output", (size, 3))]
    assert seen[1] == first and seen[2] == seen[0]  # noqa: PT018 - one rule: executors are kept


def test_reshape_keeps_the_parameters(network: Any, drawn: Any) -> None:
    module = bound(network, drawn)
    module.reshape([("data", (2, 5))], [("softmax_label", (2,))])
    assert [tuple(one) for one in module.data_shapes] == [("data", (2, 5))]
    for name, array in module.get_params()[0].items():
        np.testing.assert_array_equal(array.asnumpy(), drawn.params[name].asnumpy())


def test_a_shared_module_has_the_same_parameters(network: Any, drawn: Any) -> None:
    lender = bound(network, drawn)
    module = od.mod.Module(network)
    module.bind([("data", (2, 5))], for_training=False, shared_module=lender)
    lender.set_params({**drawn.params, "fc2_bias": od.nd.array([1, 2, 3])}, {})
    assert module.get_params()[0]["fc2_bias"].asnumpy().tolist() == [1, 2, 3]


def test_parameters_of_other_shapes_are_not_shared(network: Any, drawn: Any) -> None:
    with pytest.raises(BindError, match=r"parameter 'fc1_weight' is float32\(6, 7\), but that of the shared"):
        od.mod.Module(network).bind([("data", (8, 7))], LABELS, shared_module=bound(network, drawn))


@pytest.mark.parametrize(("count", "others"), [(1, 2), (2, 1)])
def test_modules_on_other_numbers_of_contexts_share_nothing(count: int, others: int, network: Any) -> None:
    lender, module = (od.mod.Module(network, context=[od.cpu(i) for i in range(n)]) for n in (others, count))
    lender.bind([("data", (4, 5))], [("softmax_label", (4,))])
    with pytest.raises(BindError, match=f"this module has {count} contexts, the shared one {others}"):
        module.bind([("data", (4, 5))], [("softmax_label", (4,))], shared_module=lender)


def test_binding_again_keeps_the_parameters(network: Any, drawn: Any) -> None:
    module = bound(network, drawn)
    module.bind([("data", (4, 5))], for_training=False, force_rebind=True)
    np.testing.assert_array_equal(
        module.get_params()[0]["fc1_weight"].asnumpy(), drawn.params["fc1_weight"].asnumpy()
    )


def test_parameters_that_are_got_are_copies(network: Any, drawn: Any) -> None:
    module = bound(network, drawn)
    module.get_params()[0]["fc2_bias"][:] = 9
    np.testing.assert_array_equal(
        module.get_params()[0]["fc2_bias"].asnumpy(), drawn.params["fc2_bias"].asnumpy()
    )


def test_parameters_are_averaged_over_contexts(network: Any, drawn: Any) -> None:
    module = bound(network, drawn, context=[od.cpu(0), od.cpu(1)])
    for value, executor in enumerate(module._exec_group.execs):
        executor.arg_dict["fc2_bias"][:] = value
    assert module.get_params()[0]["fc2_bias"].asnumpy().tolist() == [0.5, 0.5, 0.5]


def test_variables_choose_their_initializers() -> None:
    weight = od.sym.var("w_weight", init=od.init.Constant(3.0))
    module = od.mod.Module(od.sym.FullyConnected(od.sym.var("data"), weight=weight, num_hidden=2, name="fc"))
    module.bind(DATA)
    module.init_params()
    params = module.get_params()[0]
    assert (params["w_weight"].asnumpy() == 3).all()
    assert (params["fc_bias"].asnumpy() == 0).all()


def test_missing_values_come_from_the_initializer(network: Any, drawn: Any) -> None:
    module = od.mod.Module(network)
    module.bind(DATA, LABELS)
    given = {"fc1_weight": drawn.params["fc1_weight"]}
    module.init_params(od.init.One(), arg_params=given, allow_missing=True)
    found = module.get_params()[0]
    np.testing.assert_array_equal(found["fc1_weight"].asnumpy(), given["fc1_weight"].asnumpy())
    assert (found["fc2_weight"].asnumpy() == 1).all()


def test_set_params_leaves_what_is_missing(network: Any, drawn: Any) -> None:
    module = bound(network, drawn)
    module.set_params({"fc2_bias": od.nd.zeros(3)}, {}, allow_missing=True)
    found = module.get_params()[0]
    assert (found["fc2_bias"].asnumpy() == 0).all()
    np.testing.assert_array_equal(found["fc1_bias"].asnumpy(), drawn.params["fc1_bias"].asnumpy())


def test_states_persist_and_are_set(drawn: Any) -> None:
    total = od.sym.var("data") + od.sym.var("state")
    module = od.mod.Module(total, label_names=None, state_names=["state"], context=[od.cpu(0), od.cpu(1)])
    module.bind(DATA, for_training=False)
    module.init_params()
    module.set_states(value=2)
    module.forward(batch_of(drawn), is_train=False)
    (out,) = module.get_outputs()
    np.testing.assert_allclose(out.asnumpy(), drawn.data[:8] + 2, rtol=1e-6)
    module.set_states(states=module.get_outputs(merge_multi_context=False))
    np.testing.assert_array_equal(module.get_states()[0].asnumpy(), out.asnumpy())


def test_groups_of_a_graph_run_on_their_contexts(drawn: Any) -> None:
    with od.AttrScope(ctx_group="first"):
        hidden = od.sym.FullyConnected(od.sym.var("data"), num_hidden=4, name="fc1")
    with od.AttrScope(ctx_group="second"):
        out = od.sym.FullyConnected(hidden, num_hidden=2, name="fc2")
    places = {"first": od.cpu(1), "second": [od.cpu(2)]}
    module = od.mod.Module(out, label_names=None, group2ctxs=places)
    module.bind(DATA)
    module.init_params(od.init.One())
    arrays = module._exec_group.execs[0].arg_dict
    assert (arrays["fc1_weight"].context, arrays["fc2_weight"].context) == (od.cpu(1), od.cpu(2))
    module.forward(batch_of(drawn), is_train=False)
    expected = np.repeat(drawn.data[:8].sum(1, keepdims=True), 4, axis=1) @ np.ones((4, 2))
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), expected, rtol=1e-5, atol=1e-5)


def test_predictions_leave_out_the_padding(network: Any, drawn: Any, batches_of: Any) -> None:
    module, batches = bound(network, drawn), batches_of(drawn.data[:19], drawn.labels[:19], 8)
    whole = module.predict(od.nd.array(drawn.data[:19])).asnumpy()
    np.testing.assert_allclose(module.predict(batches).asnumpy(), whole, rtol=1e-6)
    apart = module.predict(batches, merge_batches=False)
    assert [[out.shape for out in outputs] for outputs in apart] == [[(8, 3)], [(8, 3)], [(3, 3)]]
    assert [n for _, n, _ in module.iter_predict(batches, num_batch=2)] == [0, 1]
    assert isinstance(module.predict(batches, always_output_list=True), list)


def test_scores_count_the_batches_asked_for(network: Any, drawn: Any, batches_of: Any, accuracy: Any) -> None:
    module, batches = bound(network, drawn), batches_of(drawn.data, drawn.labels, 8)
    outputs = module.predict(batches).asnumpy()
    expected = (outputs.argmax(1) == drawn.labels)[:16].mean()
    assert module.score(batches, accuracy, num_batch=2) == [("accuracy", expected)]


@pytest.mark.parametrize("count", [1, 2])
def test_a_module_bound_without_labels_is_scored_with_them(
    network: Any, drawn: Any, batches_of: Any, accuracy: Any, count: int
) -> None:
    module = od.mod.Module(network, context=[od.cpu(i) for i in range(count)])
    module.bind(DATA, for_training=False)
    module.set_params(drawn.params, {})
    batches = batches_of(drawn.data, drawn.labels, 8)
    outputs = module.predict(batches).asnumpy()
    assert module.score(batches, accuracy) == [("accuracy", (outputs.argmax(1) == drawn.labels).mean())]


STEPS = [
    (lambda m: m.init_params(), "init_params: call bind first"),
    (lambda m: m.get_outputs(), "get_outputs: call bind first"),
    (lambda m: m.forward(None), "forward: call bind first"),
    (lambda m: (m.bind(DATA, LABELS), m.forward(None)), "forward: call init_params first"),
    (lambda m: (m.bind(DATA, LABELS), m.init_optimizer()), "init_optimizer: call init_params first"),
    (lambda m: (m.bind(DATA, LABELS), m.init_params(), m.update()), "update: call init_optimizer first"),
    (
        lambda m: (m.bind(DATA, LABELS), m.init_params(), m.get_input_grads()),
        "get_input_grads: .* bind with inputs_need_grad=True",
    ),
    (lambda m: (m.bind(DATA, LABELS), m.set_params({}, {})), "no value is given for parameter 'fc1_weight'"),
]


@pytest.mark.parametrize(("steps", "message"), STEPS, ids=[message.split(":")[0] for _, message in STEPS])
def test_steps_out_of_order_say_what_comes_first(network: Any, steps: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        steps(od.mod.Module(network))


@pytest.mark.parametrize("what", ["data_names", "state_names", "fixed_param_names"])
def test_names_that_the_symbol_lacks_are_refused(network: Any, what: str) -> None:
    with pytest.raises(BindError, match=f"{what}=.*no argument 'dada'; did you mean one of data"):
        od.mod.Module(network, **{what: ["dada"]})


def test_a_label_that_the_symbol_lacks_is_warned_of(network: Any) -> None:
    # Not by the logger: the root's would be set up by it, and what the program says of logging ignored.
    with pytest.warns(UserWarning, match=r"label_names=\['label'\], but the symbol has no argument 'label'"):
        od.mod.Module(network, label_names=["label"])
    other = od.sym.SoftmaxOutput(od.sym.var("data"), name="out")
    with pytest.warns(UserWarning, match=r"no argument 'softmax_label'; did you mean one of data, out_label"):
        od.mod.Module(other)


def test_a_batch_is_any_object_with_data(network: Any, drawn: Any) -> None:
    module = od.mod.Module(network)
    module.bind([("data", (8, 5))], [("softmax_label", (8,))])
    module.init_params(arg_params=drawn.params)
    module.forward(SimpleNamespace(data=[od.nd.array(drawn.data[:8])]), is_train=False)
    assert module.get_outputs()[0].shape == (8, 3)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (([("dada", (8, 5))], LABELS), r"data_shapes describes \['dada'\], expected .*\['data'\]"),
        ((DATA, [("lebal", (8,))]), r"label_shapes describes \['lebal'\], expected"),
        ((DATA, [("softmax_label", (7,))]), "'softmax_label' has a batch of 7, expected 8 as 'data' has"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(network: Any, shapes: Any, message: str) -> None:
    with pytest.raises(BindError, match=message):
        od.mod.Module(network).bind(*shapes)


def test_a_batch_too_small_for_the_contexts_is_refused(network: Any) -> None:
    module = od.mod.Module(network, context=[od.cpu(i) for i in range(9)])
    with pytest.raises(BindError, match="a batch of 8 is too small for 9 contexts"):
        module.bind(DATA, LABELS)


def test_a_refused_value_changes_no_parameter(network: Any, drawn: Any) -> None:
    module = bound(network, drawn)
    wrong = {name: od.nd.zeros(array.shape) for name, array in drawn.params.items()}
    wrong["fc2_bias"] = od.nd.zeros(4)
    with pytest.raises(BindError, match=r"parameter 'fc2_bias' is \(3,\), got a value of \(4,\)"):
        module.set_params(wrong, {})
    for name, array in module.get_params()[0].items():
        np.testing.assert_array_equal(array.asnumpy(), drawn.params[name].asnumpy())


def test_values_for_other_symbols_are_ignored_unless_some_may_be_missing(network: Any, drawn: Any) -> None:
    module, more = bound(network, drawn), {**drawn.params, "fc3_weight": od.nd.zeros(1)}
    module.set_params(more, {})
    module.set_params(more, {}, allow_missing=True, allow_extra=True)
    with pytest.raises(UnknownParameterError, match="unknown parameter 'fc3_weight'; expected fc1_weight"):
        module.set_params(more, {}, allow_missing=True)


def test_a_batch_that_does_not_fit_is_refused(network: Any, drawn: Any) -> None:
    module = bound(network, drawn)
    with pytest.raises(ArgumentError, match="forward: the batch has 0 arrays, expected 1: data"):
        module.forward(SimpleNamespace(data=[], label=None))
    with pytest.raises(BindError, match="'fc1_weight' would change from"):
        module.forward(SimpleNamespace(data=[od.nd.zeros((8, 6))], label=None))


@pytest.mark.parametrize("kvstore", [3, object()])
def test_what_is_no_store_is_refused(network: Any, drawn: Any, kvstore: Any) -> None:
    with pytest.raises(ArgumentError, match=r"kvstore is .*, expected None, a name, or one with init"):
        bound(network, drawn).init_optimizer(kvstore=kvstore)


def test_fit_needs_a_number_of_epochs(network: Any, batches_of: Any, drawn: Any) -> None:
    with pytest.raises(ArgumentError, match="num_epoch is not given"):
        od.mod.Module(network).fit(batches_of(drawn.data, drawn.labels, 8))


def test_fit_needs_batches(network: Any) -> None:
    data = od.io.NDArrayIter(np.ones((4, 5)), np.zeros(4), batch_size=4)
    list(data)
    with pytest.raises(ArgumentError, match=r"no batch for epoch 0; call its reset\(\)"):
        od.mod.Module(network).fit(data, num_epoch=1)


def test_a_label_of_another_name_is_not_taken_for_a_parameter_in_silence():
    scores = od.sym.FullyConnected(od.sym.var("data"), num_hidden=2)
    net = od.sym.SoftmaxOutput(scores, od.sym.var("target"))
    module = od.mod.Module(net)
    module.bind([("data", (4, 3))])
    with pytest.raises(ParamError, match=r"'target' from its name.*if an argument is a label, name it"):
        module.init_params()
    module = od.mod.Module(net, label_names=["target"])
    module.bind([("data", (4, 3))], [("target", (4,))])
    module.init_params()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_module_cannot_be_copied_and_says_how_it_is_kept(copied):
    scores = od.sym.FullyConnected(od.sym.var("data"), num_hidden=2)
    with pytest.raises(TypeError, match=r"write it with save_checkpoint.*Module\.load"):
        copied(od.mod.Module(scores, label_names=None))
    with pytest.raises(TypeError, match=r"a SequentialModule .* write it with save_params.*load_params"):
        copied(od.mod.SequentialModule())
