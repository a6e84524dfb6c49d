"""Passes run in the order of a list; facts about an old graph do not outlive it, and are made anew."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import Tanh, apply, var
from core.tests.graph.planned import run_passes
from operad import config
from operad.device import cpu
from operad.errors import GraphError
from operad.graph import Graph, passes
from operad.graph.memory import plan_memory
from operad.graph.passes import FIRST_PARTY

GRAPH = Graph([apply(Tanh, "t", var("x"))])


def bound(graph, **shapes):
    given = {
        "arg_shapes": shapes, "arg_types": {}, "wanted": ["x"], "grad_req": {"x": "write"},
        "num_outputs": 1, "heads": ["head"], "ctx": cpu(), "group2ctx": {}, "arg_contexts": {},
    }  # fmt: skip
    return run_passes(graph, FIRST_PARTY, given)


def test_debug_mode_proves_every_plan(monkeypatch):
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
