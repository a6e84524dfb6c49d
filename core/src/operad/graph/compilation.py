"""Running passes: facts about a graph, who makes them again, and whose fault an error is.

A pass takes a graph and facts about it, and gives a graph and further facts; `passes` lists those there are.
A pass that returns another graph makes every fact about the old one void, save those it provides again, since
tables speak of nodes; facts that were given to the compiler stay, for they speak of the request. A void fact
that a later pass requires is made again by the pass that provides it, so that a pass which rewrites a graph
need not care. *Analyses* are passes that no list names: they run when a pass requires what they provide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final, NamedTuple, final

from operad.errors import GraphError
from operad.graph.ir import Entry, Graph, OpNode, Variable
from operad.graph.primitives import CrossDeviceCopy

Facts = Mapping[str, Any]

FORWARD: Final = "forward"
TRAINING: Final = "training"


@final
class Pass(NamedTuple):  # a dataclass would add 2 ms to the import
    """A pass of graph compilation.

    Attributes:
        name: What errors call it.
        run: `run(graph, facts)` returns a graph and the facts in `provides`. It leaves the graph
            it was given as it is.
        requires: Facts it needs.
        provides: Facts it gives.
        stage: Of a plugin's pass: `forward`, to see the graph before it is differentiated, or
            `training`, to see it with its gradients, which are the last `len(wanted)` outputs.
        distribution: Whose it is, with its version; filled in for passes of plugins, "" for the system's own.
        reads_names: Of a plugin's pass: whether the graph that it returns depends on what nodes are called.
            If not, graphs that differ in names are compiled once, under names that are numbers.
    """

    name: str
    run: Callable[[Graph, Facts], tuple[Graph, Facts]]
    requires: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    stage: str = TRAINING
    distribution: str = ""
    reads_names: bool = True

    @property
    def title(self) -> str:
        """Name for errors, with its distribution."""
        return f"pass {self.name!r}" + (f" of {self.distribution}" if self.distribution else "")


@final
class PassReport(NamedTuple):
    """Record of one run of a pass.

    Attributes:
        name: The pass.
        distribution: Whose it is; "" for the system's own.
        nodes_before: How many nodes the graph had, variables included.
        nodes_after: How many it has since.
        ms: How long the pass took, in milliseconds.
        planned_bytes: What its graph needs between its arguments and outputs: an estimate, before packing.
    """

    name: str
    distribution: str
    nodes_before: int
    nodes_after: int
    ms: float
    planned_bytes: int


class _Run(NamedTuple):
    pass_: Pass
    before: Graph
    after: Graph
    seconds: float


@final
class Compilation:
    """A graph on its way through the passes.

    Attributes:
        graph: As the last pass left it.
        facts: All that holds of it.
    """

    def __init__(self, graph: Graph, given: Facts, analyses: Mapping[str, Pass]) -> None:
        """Begin.

        Args:
            given: Facts that hold whatever becomes of the graph.
            analyses: Passes that give facts no pass of the list has provided yet, by fact.
        """
        self.graph = graph
        self.facts = dict(given)
        self._given = dict(given)
        self._analyses = analyses
        self._providers: dict[str, Pass] = {}
        self._runs: list[_Run] = []

    def run(self, pass_: Pass) -> None:
        """Run one pass, after the passes that provide what it requires and is void or was never there.

        Raises:
            GraphError: A pass requires a fact that is not there and that none before it provides, does not
                give what it says, or is a plugin's and failed.
        """
        self._renew(pass_)
        before, start = self.graph, perf_counter()
        graph, new = self._result(pass_)
        if set(new) != set(pass_.provides):
            raise GraphError(f"{pass_.title} gave {sorted(new)}, expected {sorted(pass_.provides)}")
        if graph is not before:
            self.facts = dict(self._given)
            self.graph = graph
        self.facts.update(new)
        # What was given speaks of the request, also where a pass has completed it.
        self._given.update((fact, new[fact]) for fact in new if fact in self._given)
        # A pass that requires what it provides carries it over to its own graph, and cannot make it again.
        self._providers.update({fact: pass_ for fact in pass_.provides if fact not in pass_.requires})
        self._runs.append(_Run(pass_, before, graph, perf_counter() - start))

    def _result(self, pass_: Pass) -> tuple[Graph, Facts]:
        known = {name: self.facts[name] for name in pass_.requires}
        if not pass_.distribution:
            return pass_.run(self.graph, known)
        try:
            graph, new = pass_.run(self.graph, known)
            # A cycle shows here, and so do two variables of one name.
            variables = [*graph.arguments, *graph.auxiliary_states]
        except Exception as error:
            notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
            raise GraphError(f"{pass_.title} failed{notes}: {type(error).__name__}: {error}") from error
        if graph is self.graph:
            return graph, new
        self._check_kept(pass_, graph, variables)
        return _with_outputs_apart(self.graph, graph, self._given.get("num_outputs", 0)), new

    def _check_kept(self, pass_: Pass, graph: Graph, variables: Sequence[Variable]) -> None:
        old = self.graph
        known = {node.name for node in old.nodes if isinstance(node, Variable)}
        if own := [node.name for node in variables if node.name not in known]:
            raise GraphError(
                f"{pass_.title} reads {own[0]!r}, which is no argument or state of the graph it was given, "
                "so no array is bound to it; compute it from those there are"
            )
        if len(graph.outputs) != len(old.outputs):
            raise GraphError(
                f"{pass_.title} left {len(graph.outputs)} of {len(old.outputs)} outputs; a pass keeps them "
                "all, and their order"
            )
        count = self._given.get("num_outputs", 0)
        is_apart = graph.computed == old.computed and graph.outputs[:count] == old.outputs[:count]
        if old.computed and not is_apart:
            raise GraphError(
                f"{pass_.title} replaced nodes that have run; leave those of graph.computed alone"
            )

    def _renew(self, pass_: Pass) -> None:
        # One of them may rewrite the graph, and so make void what stood: then once more.
        for _ in range(2 * len(pass_.requires) + 1):
            missing = [name for name in pass_.requires if name not in self.facts]
            if not missing:
                return
            provider = self._providers.get(missing[0]) or self._analyses.get(missing[0])
            if provider is None or provider is pass_:
                break
            self.run(provider)
        lacking = ", ".join(repr(name) for name in pass_.requires if name not in self.facts)
        raise GraphError(
            f"{pass_.title} requires {lacking}, which no earlier pass provides for the graph it is "
            "given; run one that does before it"
        )

    def reports(self) -> list[PassReport]:
        """Reports of all runs of passes, in order; estimates what each graph needs, which takes a while."""
        planned = {after: self._planned_bytes(after) for after in {run.after for run in self._runs}}
        return [
            PassReport(run.name, run.distribution, len(old.nodes), len(new.nodes), s * 1e3, planned[new])
            for run, old, new, s in self._runs
        ]

    def _planned_bytes(self, graph: Graph) -> int:
        again = Compilation(graph, self._given, self._analyses)
        again._providers = {**self._providers, **self._analyses}
        asking = Pass("report", lambda graph, _: (graph, {}), ("planned_bytes",))
        again.run(asking)
        found: int = again.facts["planned_bytes"]
        return found


def _with_outputs_apart(old: Graph, new: Graph, count: int) -> Graph:
    """The new graph, with a copy where an output of the caller's became an argument or another output.

    Args:
        count: How many outputs the caller sees.
    """
    instead, taken = dict[Entry, Entry](), set[Entry]()
    for before, entry in zip(old.outputs[:count], new.outputs, strict=False):
        if before not in instead:
            is_argument = isinstance(entry.node, Variable) and not isinstance(before.node, Variable)
            copy = OpNode(CrossDeviceCopy(), f"{before.name}_copy", [entry])
            instead[before] = Entry(copy) if is_argument or entry in taken else entry
            taken.add(entry)
    outputs = (*map(instead.__getitem__, old.outputs[:count]), *new.outputs[count:])
    return new if outputs == new.outputs else Graph(outputs, new.computed)
