"""Compiled functions of operators of several plugins: bits, second order, states, profiles."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd, nd, sym
from operad.compiled.operator import CompiledProperty
from operad.errors import GradientError, TraceError
from operad.graph import OpNode, estimated
from operad.imperative import Plan, spec_of
from operad.op import Gradient
from operad.program import codes

ROWS, COLUMNS, HIDDEN = 24, 32, 16


def _drawn(*shape: int) -> Any:
    return nd.array(np.random.normal(size=shape) * 0.3)


def _network(f: Any, x: Any, w: Any, b: Any, v: Any) -> Any:
    """The same with arrays and with symbols."""
    hidden = f.tanh(f.FullyConnected(x, w, b, num_hidden=HIDDEN))
    return f.softmax(f.dot(hidden, v) * 2.0 + 1.0)


def test_it_gives_the_bits_of_the_bound_symbol() -> None:
    arrays = {
        "x": _drawn(ROWS, COLUMNS),
        "w": _drawn(HIDDEN, COLUMNS),
        "b": _drawn(HIDDEN),
        "v": _drawn(HIDDEN, 5),
    }
    executor = _network(sym, *map(sym.var, arrays)).bind(
        od.cpu(), {name: x.copy() for name, x in arrays.items()},
        args_grad={name: nd.zeros(x.shape) for name, x in arrays.items()},
    )  # fmt: skip
    head = _drawn(ROWS, 5)
    (expected,) = executor.forward(is_train=True)
    executor.backward(head)
    for x in arrays.values():
        x.attach_grad()
    with autograd.record():
        found = od.compile(lambda *args: _network(nd, *args))(*arrays.values())
    found.backward(head)
    assert found.asnumpy().tobytes() == expected.asnumpy().tobytes()
    for name, x in arrays.items():
        assert x.grad.asnumpy().tobytes() == executor.grad_dict[name].asnumpy().tobytes()


def test_a_training_compiles_once_for_every_learning_rate() -> None:
    def step(weight: Any, gradient: Any, rate: float) -> Any:
        return weight - rate * gradient

    def loss(x: Any, y: Any, weight: Any) -> Any:
        return nd.square(nd.dot(x, weight) - y).mean()

    def trained(step: Any, loss: Any) -> bytes:
        np.random.seed(3)
        x, y, weight = _drawn(ROWS, COLUMNS), _drawn(ROWS, 1), _drawn(COLUMNS, 1)
        weight.attach_grad()
        for number in range(20):
            with autograd.record():
                found = loss(x, y, weight)
            found.backward()
            weight[:] = step(weight, weight.grad, 0.1 / (1 + number))
        values: bytes = weight.asnumpy().tobytes()
        return values

    compiled = od.compile(step), od.compile(loss)
    os.environ["OPERAD_FUSION"], before = "exact", os.environ.get("OPERAD_FUSION")
    try:
        assert trained(*compiled) == trained(step, loss)
    finally:
        os.environ.pop("OPERAD_FUSION")
        os.environ.update({} if before is None else {"OPERAD_FUSION": before})
    assert [each.why().count("traced") for each in compiled] == [1, 1]


def test_second_order_is_that_of_the_eager_function() -> None:
    def function(x: Any, w: Any) -> Any:
        return nd.tanh(nd.dot(x, w) * x.sum(axis=1, keepdims=True)).sum()

    def found(function: Any) -> list[Any]:
        np.random.seed(2)
        x, w = _drawn(4, 3), _drawn(3, 3)
        x.attach_grad()
        w.attach_grad()
        with autograd.record():
            first, _ = autograd.grad(function(x, w), [x, w], create_graph=True)
            second = (first * first).sum()
        second.backward()
        return [x.grad.asnumpy(), w.grad.asnumpy()]

    for one, other in zip(found(od.compile(function, create_graph=True)), found(function), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_states_and_draws_have_no_second_order() -> None:
    x = _drawn(4, 3)
    x.attach_grad()
    dropped = od.compile(lambda x: nd.Dropout(x, p=0.5) * x, create_graph=True)
    with autograd.record(), pytest.raises(GradientError, match="draws random numbers"):
        autograd.grad(dropped(x), x, create_graph=True)


def test_states_that_are_arguments_are_updated() -> None:
    def normalized(x: Any, mean: Any, variance: Any) -> Any:
        return nd.BatchNorm(x, nd.ones(3), nd.zeros(3), mean, variance, momentum=0.5) + mean

    results = []
    for function in (normalized, od.compile(normalized)):
        mean, variance = nd.zeros(3), nd.ones(3)
        with autograd.train_mode():
            result = function(nd.array([[1, 2, 3], [3, 4, 5]]), mean, variance)
        results.append([result.asnumpy().tolist(), mean.asnumpy().tolist(), variance.asnumpy().tolist()])
    assert results[0] == results[1]


def test_a_state_that_shares_memory_with_another_argument_is_refused() -> None:
    mean, variance = nd.zeros(3), nd.ones(3)
    function = od.compile(lambda x, other: nd.BatchNorm(x, other, other, mean, variance) + mean)
    with pytest.raises(TraceError, match="a state shares memory"), autograd.train_mode():
        function(nd.array([[1, 2, 3], [3, 4, 5]]), mean[:])


def test_a_state_that_the_function_computes_is_refused() -> None:
    with pytest.raises(TraceError, match="a state of BatchNorm is computed"):
        od.compile(lambda x: nd.BatchNorm(x, x[0], x[0], nd.zeros(3), nd.ones(3)))(nd.ones((2, 3)))


def test_loops_are_unrolled_and_conditions_on_values_refused() -> None:
    def scanned(x: Any) -> Any:
        outputs, last = nd.contrib.foreach(lambda row, state: (row + state, row * state), x, nd.ones(3))
        return outputs, last

    x = _drawn(5, 3)
    for one, other in zip(od.compile(scanned)(x), scanned(x), strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
    with pytest.raises(TraceError):
        od.compile(lambda x: nd.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), (x[0, :1],), 5))(x)


def test_shapes_that_follow_from_values_are_refused() -> None:
    with pytest.raises(TraceError, match="follows from values"):
        od.compile(lambda x: nd.contrib.boolean_mask(x, nd.array([1, 0, 1])))(_drawn(3, 2))


def test_backward_is_run_as_its_own_nodes_ask_and_not_as_forward_does() -> None:
    """The product of forward is small enough to be computed without BLAS; those of backward are not."""
    shapes = {"x": (64, 784), "w": (64, 784)}
    symbol = sym.FullyConnected(sym.var("x"), sym.var("w"), no_bias=True, num_hidden=64)
    specs = {name: spec_of(shape, np.dtype("float32"), od.cpu()) for name, shape in shapes.items()}
    prop = CompiledProperty("f", symbol.graph, od.cpu(), specs, {"x": "write", "w": "write"})
    gradient = Gradient(prop, [True, True])
    program = prop.layout.program
    by_role = {"in_data": [*specs.values()], "out_data": prop.out_specs, "out_grad": prop.out_specs}
    plan = Plan(gradient, [by_role[kind][index] for kind, index in gradient.entries], od.cpu(), True)
    nodes = [i for i in program.backward if isinstance(program.graph.nodes[i], OpNode)]
    cost = estimated([program.costs[i] for i in nodes])
    assert plan.run.uses_blas == any(code.uses_blas for code in codes(program, nodes))
    assert plan.run.inline == cost.is_light
    assert prop.backward_cost is not None
    assert prop.backward_cost.beside_us == cost.beside_us


def test_one_symbol_is_a_function_with_gradients_and_states() -> None:
    network = sym.BatchNorm(sym.FullyConnected(sym.var("x"), num_hidden=4, name="fc"), name="bn")
    op = nd.CachedOp(network)
    shapes = {"x": (6, 3), "fc_weight": (4, 3)}
    arguments, _, states = network.infer_shape(**shapes)
    given = [_drawn(*shape) for shape in arguments] + [nd.ones(shape) for shape in states]
    named = dict(zip([*network.list_arguments(), *network.list_auxiliary_states()], given, strict=True))
    given = [named[name] for name in network.list_inputs()]
    executor = network.bind(
        od.cpu(), {name: named[name].copy() for name in network.list_arguments()},
        aux_states={name: named[name].copy() for name in network.list_auxiliary_states()},
    )  # fmt: skip
    with autograd.train_mode():
        found = op(*given)
    np.testing.assert_array_equal(found.asnumpy(), executor.forward(is_train=True)[0].asnumpy())
    for name, state in executor.aux_dict.items():
        np.testing.assert_array_equal(named[name].asnumpy(), state.asnumpy())


def test_the_profiler_has_rows_for_its_nodes(tmp_path: Any) -> None:
    compiled = od.compile(lambda x: nd.dot(nd.tanh(x), x))
    x = _drawn(8, 8)
    compiled(x)
    od.profiler.set_config(filename=str(tmp_path / "profile.json"), aggregate_stats=True, profile_all=True)
    od.profiler.set_state("run")
    compiled(x).wait_to_read()
    od.profiler.set_state("stop")
    text = od.profiler.dumps(reset=True)
    assert "dot" in text
    assert "tanh" in text


def test_a_forked_child_computes_the_same() -> None:
    compiled = od.compile(lambda x: nd.dot(nd.tanh(x), x))
    x = _drawn(8, 8)
    expected = compiled(x).asnumpy()
    child = os.fork()
    if child == 0:
        os._exit(0 if (compiled(x).asnumpy() == expected).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_memory_of_a_run_is_free_when_nothing_needs_it() -> None:
    compiled = od.compile(lambda x: nd.tanh(nd.tanh(nd.tanh(x) * 2) * 3).sum())
    x = _drawn(256, 256)
    x.attach_grad()

    def kept() -> int:
        nd.waitall()
        return int(od.storage.get().stats(od.cpu()).in_use_bytes)

    def step() -> None:
        with autograd.record():
            y = compiled(x)
        y.backward()

    for _ in range(2):  # a light backward pass keeps its memory from the second on
        step()
    before = kept()
    for _ in range(random.randrange(3, 6)):
        step()
    assert kept() == before
