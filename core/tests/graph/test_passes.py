"""Passes run in the order of a list; facts about an old graph do not outlive it, and are made again."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import AddConst, Stop, Tanh, apply, var
from core.tests.graph.planned import run_passes
from operad import config
from operad.device import cpu
from operad.dtypes import as_dtype
from operad.errors import GraphError
from operad.graph import Entry, GradAdd, Graph, OpNode, Pass, pass_list, passes, plugin_passes, rewrite
from operad.graph.memory import plan_memory
from operad.graph.passes import FIRST_PARTY

GRAPH = Graph([apply(Tanh, "t", var("x"))])


def bound(graph, passes=FIRST_PARTY, types=None, **shapes):
    given = {
        "arg_shapes": shapes, "arg_types": types or {}, "wanted": ["x"], "grad_req": {"x": "write"},
        "num_outputs": len(graph.outputs), "heads": [f"head{i}" for i in range(len(graph.outputs))],
        "ctx": cpu(), "group2ctx": {}, "arg_contexts": {},
    }  # fmt: skip
    return run_passes(graph, passes, given)


def test_debug_mode_proves_every_plan(monkeypatch):
    pytest.importorskip("operad_passes", reason="it checks memory plans")

    def misplaced(*args, **options):
        plan = plan_memory(*args, **options)
        plan.placements = [place and place._replace(offset_bytes=64 * 1000) for place in plan.placements]
        return plan

    out = var("x")
    for i in range(3):
        out = apply(Tanh, f"n{i}", out)
    monkeypatch.setattr(passes, "plan_memory", misplaced)
    monkeypatch.delenv("OPERAD_DEBUG", raising=False)
    config.reload()
    bound(Graph([out]), x=(4,))
    monkeypatch.setenv("OPERAD_DEBUG", "1")
    config.reload()
    try:
        with pytest.raises(GraphError, match=r"memory plan: .* beyond"):
            bound(Graph([out]), x=(4,))
    finally:
        monkeypatch.undo()
        config.reload()


def test_first_party_passes_end_with_every_fact_about_the_training_graph():
    graph, facts = bound(Graph([apply(Tanh, "t", var("x"))]), x=(4,))
    assert {"shapes", "types", "contexts", "costs", "schedule", "plan"} <= facts.keys()
    assert len(graph.outputs) == 2
    assert facts["shapes"].graph is facts["plan"].schedule.graph is graph


def leave_out(graph, facts):
    """Pass on what these operators read, and the gradients of that."""

    def visit(old, new):
        if new.op.name not in ("add_const", "stop", "_backward_add_const"):
            return None
        own = OpNode(GradAdd(num_args=1), new.name, new.inputs[:1])  # a gradient has an entry of its own
        return [Entry(own)] if new.op.name.startswith("_backward") else new.inputs[:1]

    return rewrite(graph, visit), {}


X = var("x")
Y = apply(Tanh, "y", X)


@pytest.mark.parametrize(
    "outputs",
    [
        [X],
        [apply(Stop, "stop", X), X],
        [apply(AddConst, "more", X)],
        [apply(AddConst, "more", Y), Y],
        [apply(AddConst, "more", apply(AddConst, "less", Y)), X],
    ],
    ids=["variable", "variable shown twice", "one operator", "operator shown twice", "several"],
)
def test_a_head_gradient_is_like_its_output_whatever_passes_leave_between_them(outputs, monkeypatch):
    own = Pass("leave-out", leave_out, distribution="tests 1.0")
    monkeypatch.setattr(plugin_passes, "installed_passes", lambda: {"leave-out": own})
    graph, facts = bound(Graph(outputs), pass_list(), {"x": as_dtype("float64")}, x=(4, 3))
    assert not {"add_const", "stop", "_backward_add_const"} & {node.op.name for node in graph.op_nodes}
    assert len(graph.arguments) > 1
    assert set(facts["shapes"].arguments) == {(4, 3)}
    assert set(facts["types"].arguments) == {as_dtype("float64")}
