"""Pass order is checked data; facts about an old graph do not outlive it."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import Tanh, apply, var
from operad.errors import GraphError
from operad.graph import Graph, Pass, arrange, infer_shapes, run_passes

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


def test_facts_about_a_replaced_graph_are_void():
    passes = [note("shapes", (), ("shapes",)), replace("fuse", ("shapes",)), note("plan", ("shapes",))]
    with pytest.raises(GraphError, match="pass 'plan' requires 'shapes'"):
        run_passes(GRAPH, passes)


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


def test_arranging_puts_providers_first_and_keeps_the_rest_in_order():
    plan, fuse, shapes, dump = (
        note("plan", ("shapes", "places")),
        note("places", (), ("places",)),
        note("shapes", (), ("shapes",)),
        note("dump"),
    )
    order = arrange([dump, plan, fuse, shapes])
    assert [step.name for step in order] == ["dump", "places", "shapes", "plan"]


def test_what_cannot_be_arranged_names_a_pass_and_what_it_lacks():
    with pytest.raises(GraphError, match="pass 'a' requires 'y'"):
        arrange([note("a", ("y",), ("x",)), note("b", ("x",), ("y",))])
