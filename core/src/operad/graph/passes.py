"""Passes over graphs, those of plugins (`operad.passes`) among them.

A pass takes a graph and what is known about it, its *facts* (`shapes`, `types`, `contexts`, ...),
and gives a graph and further facts. It declares the facts it needs and those it gives. A pass that
returns another graph makes every fact about the old one void, save those it gives anew, since
tables speak of nodes.

Which passes run, and in which order, is data: a list. `arrange` finds an order for a list that has
none, and `run_passes` refuses one in which a pass comes before what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, final

from operad import registry
from operad.errors import GraphError
from operad.graph.ir import Graph

Facts = Mapping[str, Any]


@final
class Pass(NamedTuple):  # a dataclass would add 2 ms to the import
    """A step of graph compilation.

    Attributes:
        name: What errors call it.
        run: `run(graph, facts)` returns a graph and the facts in `provides`. It leaves the graph
            it was given as it is.
        requires: Facts it needs.
        provides: Facts it gives.
    """

    name: str
    run: Callable[[Graph, Facts], tuple[Graph, Facts]]
    requires: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()


def installed_passes() -> dict[str, Pass]:
    """The passes of installed plugins, by entry-point name.

    Raises:
        GraphError: An entry point names something that is no `Pass`.
    """
    found: dict[str, Pass] = {}
    for name in registry.entry_names("operad.passes"):
        value = registry.entry("operad.passes", name)
        if not isinstance(value, Pass):
            raise GraphError(f"the operad.passes entry point {name!r} gives {value!r}, expected a Pass")
        found[name] = value
    return found


def arrange(passes: Sequence[Pass], given: Collection[str] = ()) -> list[Pass]:
    """The passes in an order that gives each what it requires; as in `passes` where that is free.

    Args:
        given: Facts that are there before the first pass.

    Raises:
        GraphError: No order does; the message names a pass and what it lacks.
    """
    waiting, known, order = list(passes), set(given), list[Pass]()
    while waiting:
        ready = next((step for step in waiting if known.issuperset(step.requires)), None)
        if ready is None:
            raise _lacks(waiting[0], known)
        waiting.remove(ready)
        order.append(ready)
        known.update(ready.provides)
    return order


def run_passes(
    graph: Graph, passes: Sequence[Pass], facts: Facts | None = None
) -> tuple[Graph, dict[str, Any]]:
    """Run passes in the order given.

    Args:
        facts: What is known of `graph` to begin with.

    Returns:
        The last graph and all facts about it.

    Raises:
        GraphError: A pass requires a fact that is not there, or has been made void, or does not
            give what it says.
    """
    known = dict(facts or {})
    for step in passes:
        if not known.keys() >= set(step.requires):
            raise _lacks(step, known)
        result, new = step.run(graph, {name: known[name] for name in step.requires})
        if set(new) != set(step.provides):
            raise GraphError(f"pass {step.name!r} gave {sorted(new)}, expected {sorted(step.provides)}")
        known = {**new} if result is not graph else {**known, **new}
        graph = result
    return graph, known


def _lacks(step: Pass, known: Collection[str]) -> GraphError:
    missing = ", ".join(repr(name) for name in step.requires if name not in known)
    return GraphError(
        f"pass {step.name!r} requires {missing}, which no earlier pass provides for the graph it is given; "
        "run one that does before it"
    )
