"""Random networks with passes of plugins, none, one and every pair: the same bits come out."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import config
from operad.graph import Entry, GraphPrimitive, OpNode, Pass, passes, plugin_passes, rewrite
from operad_passes import repetition

SHAPE = (4, 6)
WIDTH = SHAPE[1]
SEEDS = range(3)
MANY = range(3, 60)


def merge(graph, facts):
    """Let one node stand for all that are equal."""
    seen: dict[Any, Any] = {}

    def visit(old, new):
        if not isinstance(new, OpNode) or isinstance(new.op, GraphPrimitive) or new.control_deps:
            return None
        if new.aux or repetition(new, [facts["shapes"].of(entry) for entry in old.args]) is None:
            return None
        first = seen.setdefault((new.signature, *new.inputs), new)
        return None if first is new else [Entry(first, i) for i in range(new.num_outputs)]

    return rewrite(graph, visit), {}


def fold(graph, facts):
    """Leave out multiplications by one, where that changes no order in which gradients are added."""
    readers = Counter(entry for node in graph.nodes for entry in node.inputs)
    readers.update(graph.outputs)

    def visit(old, new):
        assert facts["shapes"].of(old.inputs[0]) == facts["shapes"].of(Entry(old))
        return [new.inputs[0]] if new.op.name == "_mul_scalar" and new.op.scalar == 1 else None

    def visit_some(old, new):
        is_alone = new.op.name == "_mul_scalar" and readers[old.inputs[0]] == 1
        return visit(old, new) if is_alone else None

    return rewrite(graph, visit_some), {}


def available():
    from operad_recompute import recompute

    found = {
        "fold": Pass("fold", fold, ("shapes",), stage="forward"),
        "merge": Pass("merge", merge, ("shapes",)),
        "recompute": recompute,
    }
    return {name: step._replace(distribution="tests 1.0") for name, step in found.items()}


SHARED = od.sym.var("shared_weight", shape=(WIDTH, WIDTH))
ROWS = ("softmax", "LayerNorm", "L2Normalization", "sort")
FUNCTIONS = ("tanh", "square", "relu", "sigmoid", "MakeLoss", *ROWS)
BINARY = ("elemwise_add", "elemwise_mul", "broadcast_maximum")


def network(seed):
    """A random network of a few dozen nodes with shared inputs and up to three outputs."""
    rng = random.Random(seed)
    values = [od.sym.var(name) for name in "xyz"]
    for number in range(rng.randint(4, 24)):
        one, other = rng.choice(values[-5:]), rng.choice(values)
        name = rng.choice([*FUNCTIONS, *MAKERS, *BINARY])
        attrs = rng.choice([{}, {}, {"force_mirroring": "True"}, {"force_mirroring": "False"}])
        with od.AttrScope(ctx_group=rng.choice(["one", "two"]), **attrs):
            values.append(_made(name, f"n{number}", one, other))
    return od.sym.Group([values[-1], *rng.sample(values[3:], rng.randint(0, min(2, len(values) - 3)))])


def _made(name, label, one, other):
    if name in MAKERS:
        return MAKERS[name](one, other, label)
    return getattr(od.sym, name)(*((one, other) if name in BINARY else (one,)))


def _split(one, other, label):
    left, right = od.sym.SliceChannel(od.sym.concat(one, other, dim=1), num_outputs=2, name=label)
    return left - right


def _recurrent(data, label):
    """Two layers that draw random numbers between them; rows are the steps."""
    state = od.sym.zeros((2, 1, WIDTH))
    found = od.sym.RNN(
        od.sym.expand_dims(data, axis=1), od.sym.var(f"{label}_parameters"), state, state,
        state_size=WIDTH, num_layers=2, mode="lstm", p=0.5, name=label,
    )  # fmt: skip
    return od.sym.reshape(found, shape=SHAPE)


MAKERS = {
    "one": lambda one, other, label: one * 1.0,
    "dense": lambda one, other, label: od.sym.FullyConnected(one, num_hidden=WIDTH, name=label),
    "shared": lambda one, other, label: od.sym.FullyConnected(
        one, SHARED, no_bias=True, num_hidden=WIDTH, name=label
    ),
    "norm": lambda one, other, label: od.sym.BatchNorm(one, fix_gamma=False, name=label),
    "drop": lambda one, other, label: od.sym.Dropout(one, p=0.5, name=label),
    "noise": lambda one, other, label: one * od.sym.random.uniform(shape=SHAPE, name=label),
    "rrelu": lambda one, other, label: od.sym.LeakyReLU(one, act_type="rrelu", name=label)[0],
    "rnn": lambda one, other, label: _recurrent(one, label),
    "split": _split,
    "shapes": lambda one, other, label: od.sym.reshape(od.sym.transpose(one), shape=SHAPE),
    "where": lambda one, other, label: od.sym.where(one > 0, one, other),
    "cast": lambda one, other, label: od.sym.cast(od.sym.cast(one, dtype="float64"), dtype="float32"),
}


def requests(symbol, seed):
    """A request for every argument."""
    rng = random.Random(seed)
    return {name: rng.choice(["write", "write", "add", "null"]) for name in symbol.list_arguments()}


def run(symbol, grad_req, group2ctx):
    """Everything that two training steps and a prediction compute, and how many nodes ran twice."""
    od.random.seed(7)
    exe = symbol.simple_bind(od.cpu(), grad_req=grad_req, group2ctx=group2ctx, x=SHAPE, y=SHAPE, z=SHAPE)
    rng = np.random.default_rng(0)
    for _, array in sorted(exe.arg_dict.items()):
        array[:] = rng.uniform(-1, 1, array.shape)
    grads = [grad for grad in exe.grad_arrays if grad is not None]
    for grad in grads:
        grad[:] = 0.5
    found = []
    for _ in range(2):
        exe.forward(is_train=True)
        found += [array.asnumpy() for array in exe.outputs]
        exe.backward([od.nd.array(rng.uniform(-1, 1, array.shape)) for array in exe.outputs])
    exe.forward(is_train=False)
    found += [array.asnumpy() for array in (*exe.outputs, *grads, *exe.aux_arrays)]
    nodes = exe.memory_plan.schedule.graph.nodes
    return [array.tobytes() for array in found], sum(node.name.endswith("_mirror") for node in nodes)


@pytest.fixture
def way(request, monkeypatch):
    """How the networks run: under the naive engine storage is checked, and fresh memory is poisoned."""
    if request.param == "naive and checked":
        monkeypatch.setenv("OPERAD_DEBUG", "1")
        config.reload()
        od.engine.set("naive")
    if request.param == "two partitions":
        dealt = lambda graph, *_: [number % 2 for number in range(len(graph.nodes))]  # noqa: E731
        monkeypatch.setattr(passes, "assign_partitions", dealt)
    yield request.param
    monkeypatch.undo()
    config.reload()
    od.engine.set("threaded")


WAYS = ["one thread", "two partitions", "two contexts", "naive and checked"]


@pytest.mark.parametrize("seeds", [SEEDS, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("mode", ["free", "memory"])
def test_no_pass_and_no_pair_of_them_changes_a_bit(monkeypatch, eager_to_recompute, mode, way, seeds):
    monkeypatch.setenv("OPERAD_RECOMPUTE", mode)
    group2ctx = {"two": od.cpu(1)} if way == "two contexts" else {}
    every = available()
    chosen = [(), *((name,) for name in every), *combinations(every, 2)]
    ran_twice = 0
    for seed in seeds:
        symbol = network(seed)
        grad_req = requests(symbol, seed)
        plain = None
        for names in chosen:
            monkeypatch.setattr(plugin_passes, "installed_passes", lambda n=names: {k: every[k] for k in n})
            found, again = run(symbol, grad_req, group2ctx)
            plain = found if plain is None else plain
            assert found == plain, f"seed {seed}, passes {names}"
            ran_twice += again
    assert ran_twice > 0


def monitored(symbol, mode, monkeypatch):
    """What a callback is shown in two steps, after the executor's shapes were changed and back."""
    monkeypatch.setenv("OPERAD_RECOMPUTE", mode)
    od.random.seed(7)
    first = symbol.simple_bind(od.cpu(), x=SHAPE, y=SHAPE, z=SHAPE)
    given = {name: SHAPE for name in "xyz" if name in first.arg_dict}
    exe = first.reshape(**given)
    rng = np.random.default_rng(0)
    for _, array in sorted(exe.arg_dict.items()):
        array[:] = rng.uniform(-1, 1, array.shape)
    shown = {}
    exe.set_monitor_callback(lambda name, array: shown.setdefault(name, []).append(array.asnumpy().tobytes()))
    for _ in range(2):
        exe.forward(is_train=True)
        exe.backward([od.nd.ones(array.shape) for array in exe.outputs])
    return shown


@pytest.mark.parametrize("seeds", [SEEDS, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_a_monitor_is_shown_the_same_and_what_is_computed_again(monkeypatch, eager_to_recompute, seeds):
    again = 0
    for seed in seeds:
        symbol = network(seed)
        plain = monitored(symbol, "off", monkeypatch)
        found = monitored(symbol, "memory", monkeypatch)
        for name, values in found.items():
            original = name.replace("_mirror", "")
            # A node may run once more for each of several stretches.
            assert list(dict.fromkeys(values)) == list(dict.fromkeys(plain[original])), f"seed {seed}: {name}"
            again += name != original
        hidden = {name for name in plain if name not in found}  # computed in backward alone
        outputs = set(symbol.get_internals().list_outputs()) & set(symbol.list_outputs())
        assert not hidden & outputs
    assert again > 0


@pytest.mark.parametrize("mode", ["free", "memory"])
def test_buckets_that_share_memory_train_to_the_same_bits(monkeypatch, eager_to_recompute, mode):
    def trained(chosen):
        monkeypatch.setenv("OPERAD_RECOMPUTE", chosen)
        od.random.seed(3)

        def symbol_of(length):
            data, weight, bias = map(od.sym.var, ("data", "weight", "bias"))
            steps = od.sym.SliceChannel(data, num_outputs=length, axis=1, squeeze_axis=True)
            state = od.sym.zeros((4, 6))
            for step in steps:
                mixed = od.sym.FullyConnected(od.sym.concat(step, state, dim=1), weight, bias, num_hidden=6)
                state = od.sym.Dropout(od.sym.tanh(od.sym.square(od.sym.tanh(mixed))), p=0.5)
            return od.sym.LinearRegressionOutput(state, od.sym.var("label")), ("data",), ("label",)

        module = od.mod.BucketingModule(symbol_of, default_bucket_key=5)
        module.bind([("data", (4, 5, 3))], [("label", (4, 6))])
        module.init_params(od.init.Uniform(0.3))
        module.init_optimizer(optimizer_params={"learning_rate": 0.1})
        rng = np.random.default_rng(0)
        for length in (5, 2, 4, 2, 5):
            batch = od.io.DataBatch(
                [od.nd.array(rng.uniform(-1, 1, (4, length, 3)))],
                [od.nd.array(rng.uniform(-1, 1, (4, 6)))],
                bucket_key=length,
                provide_data=[("data", (4, length, 3))],
                provide_label=[("label", (4, 6))],
            )
            module.forward_backward(batch)
            module.update()
        return {name: array.asnumpy().tobytes() for name, array in module.get_params()[0].items()}

    assert trained(mode) == trained("off")
