"""Passes of plugins: found by entry point, run in their stage, and gone with their distribution."""

from __future__ import annotations

import msgspec  # noqa: F401 - found now, because site-packages is hidden below
import numpy as np
import pytest
import threadpoolctl  # noqa: F401 - as above

from core.tests.operators import installed
from operad import nd, registry, sym
from operad.errors import GraphError
from operad.graph import BackwardNode, pass_list

MERGING = """
from operad.graph import Entry, GraphPrimitive, OpNode, Pass, rewrite

def merge(graph, facts):
    seen = {}
    def visit(node):
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
    def visit(node):
        is_one = isinstance(node, OpNode) and node.op.name == "_mul_scalar" and node.op.scalar == 1
        return [node.inputs[0]] if is_one else None
    return rewrite(graph, visit), {}

folding = Pass("times-one", fold, requires=("shapes",), stage="forward")
wrong = 7
late = Pass("late", fold, stage="after")
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
    nodes = exe.memory_plan.schedule.graph.nodes
    backward = sum(isinstance(node, BackwardNode) for node in nodes)
    operators = len(exe.memory_plan.schedule.graph.op_nodes)
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


def test_a_pass_before_the_gradient_saves_the_gradients_too(plugins):
    plain, operators, backward = run()
    plugins(folding="graph_tricks.folding:folding")
    folded, fewer, fewer_backward = run()
    assert_same_bits(plain, folded)
    assert fewer == operators - 3
    assert fewer_backward == backward - 3


def test_passes_of_plugins_stand_among_the_first_party_ones(plugins):
    plugins(merging="graph_tricks.merging:merging", folding="graph_tricks.folding:folding")
    names = ["infer", "times-one", "gradient", "common-subexpressions", "place", "schedule", "memory"]
    assert [step.name for step in pass_list()] == names


def test_a_blocked_distribution_rewrites_nothing(plugins, set_environment):
    operators = run()[1]
    plugins(merging="graph_tricks.merging:merging")
    set_environment(BLOCK="graph-tricks")
    assert run()[1] == operators


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrong", "gives 7, expected a Pass"),
        ("late", "has stage 'after', expected 'forward' or 'training'"),
        ("doubling", "is also another output or a variable"),
    ],
)
def test_what_is_no_pass_or_breaks_a_graph_is_named(plugins, name, message):
    plugins(**{name: f"graph_tricks.folding:{name}"})
    with pytest.raises(GraphError, match=message):
        run()
