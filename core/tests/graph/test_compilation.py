"""Passes run in the order of a list; facts about an old graph do not outlive it, and are made again."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import Add, Tanh, apply, var
from core.tests.graph.planned import run_passes
from operad.errors import GraphError
from operad.graph import Graph, Pass, infer_shapes
from operad.graph.compilation import Compilation

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


def of_plugin(run, **options):
    return Pass("tidy", run, **options)._replace(distribution="acme-passes 1.0")


def compiled(*steps, given=(), analyses=()):
    made = Compilation(GRAPH, dict(given), dict(analyses))
    for step in steps:
        made.run(step)
    return made


def test_an_error_of_a_plugins_pass_names_the_pass_its_distribution_and_the_error():
    def broken(graph, facts):
        raise KeyError("weather")

    with pytest.raises(GraphError, match=r"pass 'tidy' of acme-passes 1\.0 failed: KeyError: 'weather'"):
        compiled(of_plugin(broken))
    with pytest.raises(KeyError):  # one of the system's own is a mistake of ours
        compiled(Pass("own", broken))


def test_a_pass_of_a_plugin_keeps_outputs_and_what_has_run():
    with pytest.raises(GraphError, match=r"'tidy' of acme-passes 1\.0 left 0 of 1 outputs"):
        compiled(of_plugin(lambda graph, facts: (Graph([]), {})))


def test_an_analysis_runs_when_a_pass_requires_what_it_provides():
    estimate = note("estimate", ("shapes",), ("size",))
    made = compiled(note("tell", ("size",), ("told",)), given={"shapes": 1}, analyses={"size": estimate})
    assert made.facts == {"shapes": 1, "size": "estimate", "told": "tell"}


def test_a_cycle_of_requirements_ends_with_the_facts_that_are_lacking():
    analyses = {"a": note("gives a", ("b",), ("a",)), "b": replace("gives b", (), ("b",))}
    made = compiled(note("needs a", ("a",)), analyses=analyses)
    assert made.facts["a"] == "gives a"
    with pytest.raises(GraphError, match="pass 'both' requires 'c', which no earlier pass provides"):
        compiled(note("both", ("a", "c")), analyses=analyses)


def test_reports_tell_nodes_before_and_after_and_an_estimate_of_memory():
    sizes = Pass(
        "size", lambda graph, facts: (graph, {"planned_bytes": 8 * len(graph.nodes)}), (), ("planned_bytes",)
    )
    grown = Pass("grow", lambda graph, facts: (Graph([apply(Tanh, "u", graph.outputs[0])]), {}))
    reports = compiled(grown, analyses={"planned_bytes": sizes}).reports()
    assert [(each.name, each.nodes_before, each.nodes_after, each.planned_bytes) for each in reports] == [
        ("grow", 2, 3, 24)
    ]
    assert reports[0].ms >= 0


def test_what_a_pass_completes_of_the_request_outlives_the_graph():
    complete = Pass(
        "infer", lambda graph, f: (graph, {"sizes": {**f["sizes"], "y": 2}}), ("sizes",), ("sizes",)
    )
    made = compiled(complete, replace("fuse"), note("end", ("sizes",)), given={"sizes": {"x": 1}})
    assert made.facts["sizes"] == {"x": 1, "y": 2}


def test_two_variables_of_one_name_are_a_fault_of_the_pass_that_made_them():
    def run(graph, facts):
        return Graph([apply(Add, "sum", var("x"), var("x"))]), {}

    with pytest.raises(
        GraphError, match=r"pass 'tidy' of acme-passes 1.0 failed: .*two variables are called 'x'"
    ):
        compiled(of_plugin(run))
