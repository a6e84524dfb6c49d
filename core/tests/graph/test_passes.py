"""Passes run in the order of a list; facts about an old graph do not outlive it, and are made anew."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import Tanh, apply, var
from operad import config
from operad.device import cpu
from operad.errors import GraphError
from operad.graph import FIRST_PARTY, Graph, Pass, infer_shapes, passes, plan_memory, run_passes

GRAPH = Graph([apply(Tanh, "t", var("x"))])


def note(name, requires=(), provides=()):
    return Pass(name, lambda graph, facts: (graph, dict.fromkeys(provides, name)), requires, provides)


def replace(name, requires=(), provides=()):
    return Pass(
        name, lambda graph, facts: (Graph(graph.outputs), dict.fromkeys(provides, name)), requires, provides
    )


def test_a_pass_sees_the_facts_it_requires_and_adds_its_own():
    shapes = Pass(
        "shapes", lambda g, f: (g, {"shapes": infer_shapes(g, f["given"])}), ("given",), ("shapes",)
    )
    graph, facts = run_passes(GRAPH, [shapes], {"given": {"x": (2, 3)}})
    assert graph is GRAPH
    assert facts["shapes"].outputs == [(2, 3)]


def test_a_pass_before_what_it_needs_is_refused():
    with pytest.raises(GraphError, match="pass 'plan' requires 'shapes', which no earlier pass provides"):
        run_passes(GRAPH, [note("plan", ("shapes",)), note("shapes", (), ("shapes",))])


def test_facts_about_a_replaced_graph_are_made_again_when_they_are_required():
    seen = []
    shapes = Pass("shapes", lambda g, f: (g, {"shapes": seen.append(g)}), (), ("shapes",))
    graph, _ = run_passes(GRAPH, [shapes, replace("fuse", ("shapes",)), note("plan", ("shapes",))])
    assert seen == [GRAPH, graph]
    assert graph is not GRAPH


def test_facts_that_nobody_requires_again_are_not_made_again():
    seen = []
    shapes = Pass("shapes", lambda g, f: (g, {"shapes": seen.append(g)}), (), ("shapes",))
    _, facts = run_passes(GRAPH, [shapes, replace("fuse", ("shapes",)), note("end")])
    assert seen == [GRAPH]
    assert facts == {}


def test_given_facts_outlive_the_graph():
    passes = [replace("fuse"), note("plan", ("given",))]
    assert run_passes(GRAPH, passes, {"given": 1})[1] == {"given": 1}


def test_a_provider_that_rewrites_the_graph_makes_the_other_facts_again():
    count = iter(range(10))
    shapes = Pass("shapes", lambda g, f: (g, {"shapes": next(count)}), (), ("shapes",))
    _, facts = run_passes(
        GRAPH,
        [shapes, replace("place", ("shapes",), ("contexts",)), replace("fuse"),
         note("plan", ("shapes", "contexts"), ("plan",))],
    )  # fmt: skip
    assert facts.keys() == {"shapes", "contexts", "plan"}


def test_a_pass_that_replaces_the_graph_may_renew_facts():
    passes = [
        note("shapes", (), ("shapes",)),
        replace("fuse", ("shapes",), ("shapes",)),
        note("plan", ("shapes",)),
    ]
    assert run_passes(GRAPH, passes)[1] == {"shapes": "fuse"}


def test_a_pass_must_give_what_it_says():
    lazy = Pass("lazy", lambda graph, facts: (graph, {}), (), ("shapes",))
    with pytest.raises(GraphError, match=r"pass 'lazy' gave \[\], expected \['shapes'\]"):
        run_passes(GRAPH, [lazy])


def bound(graph, **shapes):
    given = {
        "arg_shapes": shapes, "arg_types": {}, "wanted": ["x"], "grad_req": {"x": "write"},
        "num_outputs": 1, "heads": ["head"], "ctx": cpu(), "group2ctx": {},
    }  # fmt: skip
    return run_passes(graph, FIRST_PARTY, given)


def test_debug_mode_proves_every_plan(monkeypatch):
    def misplaced(*args, **options):
        plan = plan_memory(*args, **options)
        plan.places = [place and place._replace(offset_bytes=64 * 1000) for place in plan.places]
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
