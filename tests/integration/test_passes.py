"""Random networks with passes of plugins, none, one and every pair: the same bits come out."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.graph import Entry, GraphPrimitive, OpNode, Pass, passes, plugin_passes, repetition, rewrite

SHAPE = (4, 6)
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
    """Leave out multiplications by one."""

    def visit(old, new):
        assert facts["shapes"].of(old.inputs[0]) == facts["shapes"].of(Entry(old))
        return [new.inputs[0]] if new.op.name == "_mul_scalar" and new.op.scalar == 1 else None

    def visit_some(old, new):
        return visit(old, new) if new.op.name == "_mul_scalar" else None

    return rewrite(graph, visit_some), {}


def available():
    from operad_recompute import recompute

    found = {
        "fold": Pass("fold", fold, ("shapes",), stage="forward"),
        "merge": Pass("merge", merge, ("shapes",)),
        "recompute": recompute,
    }
    return {name: step._replace(distribution="tests 1.0") for name, step in found.items()}


UNARY = ("tanh", "square", "relu", "sigmoid", "one", "dense", "norm", "drop", "split", "shapes")
BINARY = ("elemwise_add", "elemwise_mul", "broadcast_maximum")


def network(seed):
    """A random network of a few dozen nodes with shared inputs and up to three outputs."""
    rng = random.Random(seed)
    values = [od.sym.var(name) for name in "xyz"]
    for number in range(rng.randint(4, 24)):
        one, other = rng.choice(values[-5:]), rng.choice(values)
        name = rng.choice([*UNARY, *BINARY])
        with od.AttrScope(ctx_group=rng.choice(["one", "two"])):
            values.append(_made(name, f"n{number}", one, other))
    return od.sym.Group([values[-1], *rng.sample(values[3:], rng.randint(0, min(2, len(values) - 3)))])


def _made(name, label, one, other):
    if name == "one":
        return one * 1.0
    if name == "dense":
        return od.sym.FullyConnected(one, num_hidden=SHAPE[1], name=label)
    if name == "norm":
        return od.sym.BatchNorm(one, fix_gamma=False, name=label)
    if name == "drop":
        return od.sym.Dropout(one, p=0.5, name=label)
    if name == "split":
        left, right = od.sym.SliceChannel(od.sym.concat(one, other, dim=1), num_outputs=2, name=label)
        return left - right
    if name == "shapes":
        return od.sym.reshape(od.sym.transpose(one), shape=SHAPE)
    return getattr(od.sym, name)(*((one, other) if name in BINARY else (one,)))


def run(symbol, grad_req, group2ctx):
    """Everything that two training steps and a prediction compute, and how many nodes ran twice."""
    od.random.seed(7)
    exe = symbol.simple_bind(od.cpu(), grad_req=grad_req, group2ctx=group2ctx, x=SHAPE, y=SHAPE, z=SHAPE)
    rng = np.random.default_rng(0)
    for _, array in sorted(exe.arg_dict.items()):
        array[:] = rng.uniform(-1, 1, array.shape)
    for grad in exe.grad_arrays:
        grad[:] = 0.5
    found = []
    for _ in range(2):
        exe.forward(is_train=True)
        found += [array.asnumpy() for array in exe.outputs]
        exe.backward([od.nd.array(rng.uniform(-1, 1, array.shape)) for array in exe.outputs])
    exe.forward(is_train=False)
    found += [array.asnumpy() for array in (*exe.outputs, *exe.grad_arrays, *exe.aux_arrays)]
    nodes = exe.memory_plan.schedule.graph.nodes
    return [array.tobytes() for array in found], sum(node.name.endswith("_mirror") for node in nodes)


@pytest.fixture
def eager_to_recompute(monkeypatch):
    """Mode `free` that takes all it can get, in graphs of any size."""
    module = pytest.importorskip("operad_recompute.free")
    monkeypatch.setattr(module, "WORTH_BYTES", 0)
    monkeypatch.setattr(module, "WORTH_SHARE", 0.0)
    monkeypatch.setattr(module, "FREE_SHARE", 10.0)


@pytest.mark.parametrize("seeds", [SEEDS, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("way", ["one thread", "two partitions", "two contexts"])
@pytest.mark.parametrize("mode", ["free", "memory"])
def test_no_pass_and_no_pair_of_them_changes_a_bit(monkeypatch, eager_to_recompute, mode, way, seeds):
    monkeypatch.setenv("OPERAD_RECOMPUTE", mode)
    group2ctx = {"two": od.cpu(1)} if way == "two contexts" else {}
    if way == "two partitions":
        dealt = lambda graph, *_: [number % 2 for number in range(len(graph.nodes))]  # noqa: E731
        monkeypatch.setattr(passes, "assign_partitions", dealt)
    every = available()
    chosen = [(), *((name,) for name in every), *combinations(every, 2)]
    ran_twice = 0
    for seed in seeds:
        symbol, grad_req = network(seed), random.Random(seed).choice(["write", "add"])
        plain = None
        for names in chosen:
            monkeypatch.setattr(plugin_passes, "installed_passes", lambda n=names: {k: every[k] for k in n})
            found, again = run(symbol, grad_req, group2ctx)
            plain = found if plain is None else plain
            assert found == plain, f"seed {seed}, passes {names}"
            ran_twice += again
    assert ran_twice > 0
