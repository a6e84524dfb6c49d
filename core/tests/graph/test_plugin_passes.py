"""Passes of plugins: found by entry point, run in their stage, and gone with their distribution."""

from __future__ import annotations

import re
import sys

import msgspec  # noqa: F401 - found now, because site-packages is hidden below
import numpy as np
import pytest
import threadpoolctl  # noqa: F401 - as above

from core.tests.operators import installed
from operad import autograd, config, nd, registry, sym
from operad.errors import GraphError
from operad.graph import pass_list
from operad.op import Gradient

MERGING = """
from operad.graph import Entry, GraphPrimitive, OpNode, Pass, rewrite

def merge(graph, facts):
    seen = {}
    def visit(old, node):
        if not isinstance(node, OpNode) or isinstance(node.op, GraphPrimitive):
            return None
        if node.aux or node.op.is_stateful or node.op.forward_resource([]):
            return None
        first = seen.setdefault((node.signature, *node.inputs), node)
        return None if first is node else [Entry(first, i) for i in range(node.num_outputs)]
    return rewrite(graph, visit), {}

merging = Pass("common-subexpressions", merge)
"""

FOLDING = """
from operad.graph import OpNode, Pass, rewrite

def fold(graph, facts):
    assert facts["shapes"].is_complete
    def visit(old, node):
        is_one = isinstance(node, OpNode) and node.op.name == "_mul_scalar" and node.op.scalar == 1
        return [node.inputs[0]] if is_one else None
    return rewrite(graph, visit), {}

folding = Pass("times-one", fold, requires=("shapes",), stage="forward")
wrong = 7
late = Pass("late", fold, stage="after")
failing = Pass("failing", lambda graph, facts: (rewrite(graph, lambda old, new: facts["types"]), {}))
losing = Pass("losing", lambda graph, facts: (type(graph)(graph.outputs[:1]), {}))
asking = Pass("asking", fold, ("weather",))

def watch(graph, facts):
    def visit(old, new):
        shapes = [facts["shapes"].of(entry) for entry in old.inputs]
        assert shapes == [(5,)] * len(shapes)
        is_one = isinstance(new, OpNode) and new.op.name == "_mul_scalar" and new.op.scalar == 1
        return [new.inputs[0]] if is_one else None
    return rewrite(graph, visit), {}

watching = Pass("watching", watch, ("shapes",), stage="forward")
doubling = Pass("doubling", lambda graph, facts: (type(graph)([graph.outputs[-1]] * len(graph.outputs)), {}))
"""


@pytest.fixture
def plugins(site):
    def install(**points):
        site.install(
            "graph-tricks",
            passes=points,
            modules={
                "graph_tricks.__init__": "",
                "graph_tricks.merging": MERGING,
                "graph_tricks.folding": FOLDING,
            },
        )
        registry.refresh()

    with installed():
        yield install


def network():
    """Each of two variables squared twice over, with factors of one in between."""
    x, y = sym.var("x"), sym.var("y")
    total = sym.tanh(sym.square(x) * 1.0) + sym.tanh(sym.square(x) * 1.0)
    return total * sym.tanh(sym.square(y)) + sym.tanh(sym.square(x) * 1.0)


def run():
    """Outputs and gradients, and how many operators and gradients were bound."""
    rng = np.random.default_rng(0)
    exe = network().simple_bind(x=(5,), y=(5,))
    for array in exe.arg_arrays:
        array[:] = rng.uniform(-1, 1, 5)
    exe.forward(is_train=True)
    exe.backward(nd.array(rng.uniform(-1, 1, 5)))
    nodes = exe.memory_plan.schedule.graph.op_nodes
    backward = sum(isinstance(node.op, Gradient) for node in nodes)
    operators = len(nodes) - backward
    return [array.asnumpy() for array in (*exe.outputs, *exe.grad_arrays)], operators, backward


def assert_same_bits(one, other):
    for first, second in zip(one, other, strict=True):
        assert first.tobytes() == second.tobytes()


def test_a_pass_after_the_gradient_changes_no_bit_and_saves_nodes(plugins):
    plain, operators, backward = run()
    plugins(merging="graph_tricks.merging:merging")
    merged, fewer, same = run()
    assert_same_bits(plain, merged)
    assert fewer == operators - 6  # two squares, two factors and two tanh of the same x
    assert same == backward


@pytest.mark.parametrize("name", ["folding", "watching"])  # the latter asks for facts behind a replacement
def test_a_pass_before_the_gradient_saves_the_gradients_too(plugins, name):
    plain, operators, backward = run()
    plugins(folding=f"graph_tricks.folding:{name}")
    folded, fewer, fewer_backward = run()
    assert_same_bits(plain, folded)
    assert fewer == operators - 3
    assert fewer_backward == backward - 3


def test_passes_of_plugins_stand_among_the_first_party_ones(plugins):
    plugins(merging="graph_tricks.merging:merging", folding="graph_tricks.folding:folding")
    names = [
        "infer",
        "times-one",
        "gradient",
        "common-subexpressions",
        "place",
        "choose_kernels",
        "schedule",
        "memory",
    ]
    assert [step.name for step in pass_list()] == names


def test_a_blocked_distribution_rewrites_nothing(plugins, set_environment):
    operators = run()[1]
    plugins(merging="graph_tricks.merging:merging")
    set_environment(BLOCK="graph-tricks")
    assert run()[1] == operators


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("wrong", r"\(int\), expected an operad.graph.Pass of stage 'forward' or 'training'"),
        ("late", r"\(Pass\), expected an operad.graph.Pass of stage 'forward' or 'training'"),
        ("absent", "does not exist"),
    ],
)
def test_what_cannot_be_used_is_left_out_with_a_warning_and_a_record(plugins, name, reason):
    operators = run()[1]
    plugins(**{name: f"graph_tricks.folding:{name}"})
    with pytest.warns(RuntimeWarning, match=rf"left out: pass '{name}' of graph-tricks 1.0 .*{reason}"):
        assert run()[1] == operators
    (record,) = [record for record in registry.plugins() if record.name == "graph-tricks"]
    assert record.state == "broken"
    assert re.search(reason, record.reason)


def test_a_broken_pass_leaves_the_others_at_work(plugins):
    operators = run()[1]
    plugins(merging="graph_tricks.merging:merging", broken="graph_tricks.absent:merging")
    with pytest.warns(RuntimeWarning, match="left out: pass 'broken' of graph-tricks 1.0"):
        assert run()[1] == operators - 6


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("doubling", "is also another output or a variable"),
        ("failing", r"pass 'failing' of graph-tricks 1.0 failed at node 'square\d+': KeyError: 'types'"),
        ("losing", "pass 'losing' of graph-tricks 1.0 left 1 of 3 outputs"),
        ("asking", "pass 'asking' of graph-tricks 1.0 requires 'weather', which no earlier pass provides"),
    ],
)
def test_what_breaks_a_graph_is_named_with_its_distribution(plugins, name, message):
    plugins(**{name: f"graph_tricks.folding:{name}"})
    with pytest.raises(GraphError, match=message):
        run()


ORDERED = """
from operad.graph import Pass
seen = []

def give(name, provides=(), requires=()):
    def run(graph, facts):
        seen.append(name)
        assert {*facts} == {*requires}
        return graph, dict.fromkeys(provides, name)
    return Pass(name, run, requires, provides)

a = give("a", requires=("from-c", "shapes"))
b = give("b", ("from-b",), ("contexts", "costs", "planned_bytes"))
c = give("c", ("from-c",), ("from-b",))
round1 = give("round1", ("one",), ("two",))
round2 = give("round2", ("two",), ("one",))
"""


@pytest.fixture
def ordered(site):
    site.install(
        "acme-order",
        passes={name: f"acme_order:{name}" for name in "abc"},
        modules={"acme_order": ORDERED},
    )
    registry.refresh()
    with installed():
        yield site


def test_passes_of_a_stage_run_after_those_that_provide_what_they_require(ordered):
    assert [step.name for step in pass_list()][2:5] == ["b", "c", "a"]
    run()


def test_passes_that_require_each_other_are_refused_with_their_names(ordered):
    ordered.install("acme-circle", passes={"one": "acme_order:round1", "two": "acme_order:round2"})
    registry.refresh()
    with pytest.raises(
        GraphError, match=r"pass 'round1' of acme-circle 1.0, pass 'round2' of acme-circle 1.0"
    ):
        pass_list()


@pytest.fixture
def one_thread(monkeypatch):
    """One thread, so graphs have no partitions, which share no memory."""
    with monkeypatch.context() as inner:
        inner.setenv("OPERAD_NUM_THREADS", "1")
        config.reload()
        yield
    config.reload()


@pytest.mark.usefixtures("one_thread")
def test_an_executor_says_what_each_pass_did(plugins):
    plugins(merging="graph_tricks.merging:merging")
    exe = network().simple_bind(x=(512, 512), y=(512, 512))
    reports = {report.name: report for report in exe.passes}
    merged, memory = reports["common-subexpressions"], reports["memory"]
    assert merged.distribution == "graph-tricks 1.0"
    assert merged.nodes_before - merged.nodes_after == 6
    assert merged.planned_bytes < reports["gradient"].planned_bytes
    assert memory.distribution == ""
    assert memory.planned_bytes == pytest.approx(exe.memory_plan.planned_bytes, rel=0.05)
    assert all(report.ms >= 0 for report in exe.passes)


RECORDED = """
from operad.graph import Entry, Graph, GradAdd, OpNode, Pass, rewrite
from operad.op import Gradient
seen = []

def look(graph, facts):
    seen.append([facts["shapes"].of(entry) for entry in graph.outputs])
    def visit(old, new):
        assert old not in graph.computed
        return None
    return rewrite(graph, visit), {}

def copy(graph, facts):
    def visit(old, new):
        if not isinstance(new.op, Gradient):
            return None
        entries = [Entry(new, i) for i in range(new.num_outputs)]
        return [Entry(OpNode(GradAdd(num_args=1), new.name + "_copy", [entry])) for entry in entries]
    return rewrite(graph, visit), {}

def meddle(graph, facts):
    head = graph.outputs[0].node
    return Graph([Entry(OpNode(head.op, "other", head.inputs)), *graph.outputs[1:]], graph.computed), {}

def peep(graph, facts):
    last = graph.outputs[0]
    made = OpNode(GradAdd(num_args=2), "peep", [graph.outputs[-1], last])
    return Graph([*graph.outputs[:-1], Entry(made)], graph.computed), {}

looking = Pass("looking", look, ("shapes", "contexts", "costs", "planned_bytes"))
copying = Pass("copying", copy)
meddling = Pass("meddling", meddle)
peeping = Pass("peeping", peep)
"""


@pytest.fixture
def recorded(site):
    def install(name):
        site.install("acme-tape", passes={name: f"acme_tape:{name}"}, modules={"acme_tape": RECORDED})
        registry.refresh()

    with installed():
        yield install


def gradients():
    x = nd.array([0.5, -1, 2])
    x.attach_grad()
    with autograd.record():
        y = nd.tanh(nd.square(x)) * nd.tanh(x)
    y.backward()
    return x.grad.asnumpy()


def test_what_was_recorded_is_compiled_by_the_same_list(recorded, site):
    plain = gradients()
    recorded("looking")
    assert gradients().tobytes() == plain.tobytes()
    seen = sys.modules["acme_tape"].seen
    assert seen == [[(3,), (3,), (3,)]]
    gradients()
    assert len(seen) == 1


def test_a_pass_may_rewrite_the_gradients_of_what_was_recorded(recorded):
    plain = gradients()
    recorded("copying")
    assert gradients().tobytes() == plain.tobytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("meddling", "pass 'meddling' of acme-tape 1.0 replaced nodes that have run"),
        ("peeping", "'peep' reads .* of which the tape keeps no value; pass 'peeping' of acme-tape 1.0"),
    ],
)
def test_a_pass_that_needs_what_has_run_otherwise_is_refused(recorded, name, message):
    recorded(name)
    with pytest.raises(GraphError, match=message):
        gradients()
