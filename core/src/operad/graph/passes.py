"""The compiler: passes over a graph and what is known about it, and the list in which they run.

A pass takes a graph and facts about it (`shapes`, `types`, `contexts`, ...), and gives a graph and
further facts. It declares the facts it requires and those it provides. A pass that returns another graph
makes every fact about the old one void, save those it provides anew, since tables speak of nodes; facts
that were given to the compiler stay, for they speak of the request. A void fact that a later pass
requires is made again by the pass that provides it, so that whoever rewrites a graph need not care.

Which passes run, and in which order, is data: a list. `FIRST_PARTY` holds the system's own; those of
plugins (entry points in `operad.passes`) go in before the gradient pass or after it, as their stage says.

===========  ==============================================================  ==========
Fact         What it is                                                      From
===========  ==============================================================  ==========
arg_shapes   shapes of arguments and states by name, as far as known         the caller
arg_types    their element types                                             the caller
wanted       names of the arguments whose gradients become outputs           the caller
grad_req     for each of them `write` or `add`                               the caller
num_outputs  how many leading outputs are not gradients                      the caller
heads        a name for the head gradient of each output                     the caller
ctx          where nodes without a context group run                         the caller
group2ctx    the contexts of context groups                                  the caller
shapes       `ShapeTable`, complete                                          infer
types        `TypeTable`, complete                                           infer
contexts     the context of each node, by number                             place
costs        what each node computes, a `Cost`, by number                    schedule
schedule     `Schedule`: partitions, and which nodes precede which           schedule
plan         `MemoryPlan`                                                    memory
===========  ==============================================================  ==========
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, final

from operad import registry
from operad.config import settings
from operad.dtypes import DEFAULT_DTYPE
from operad.errors import BindError, GraphError, OperadError, ShapeError
from operad.graph.gradient import gradient
from operad.graph.infer import ShapeTable, infer_shapes, infer_types
from operad.graph.ir import Entry, Graph, OpNode, Variable
from operad.graph.memory import MemoryPlan, plan_memory
from operad.graph.partition import assign_partitions, node_costs
from operad.graph.place import place
from operad.graph.schedule import Schedule
from operad.graph.verify import check_plan
from operad.operator import OpReq, is_known

Facts = Mapping[str, Any]

REQUESTS: Final = {"null": OpReq.NULL, "write": OpReq.WRITE, "add": OpReq.ADD}
"""What a caller may ask for a gradient, by name."""

FORWARD: Final = "forward"
TRAINING: Final = "training"


@final
class Pass(NamedTuple):  # a dataclass would add 2 ms to the import
    """A step of graph compilation.

    Attributes:
        name: What errors call it.
        run: `run(graph, facts)` returns a graph and the facts in `provides`. It leaves the graph
            it was given as it is.
        requires: Facts it needs.
        provides: Facts it gives.
        stage: Of a plugin's pass: `forward`, to see the graph before it is differentiated, or
            `training`, to see it with its gradients, which are the last `len(wanted)` outputs.
    """

    name: str
    run: Callable[[Graph, Facts], tuple[Graph, Facts]]
    requires: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    stage: str = TRAINING


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
        if value.stage not in {FORWARD, TRAINING}:
            raise GraphError(f"pass {name!r} has stage {value.stage!r}, expected {FORWARD!r} or {TRAINING!r}")
        found[name] = value
    return found


def pass_list() -> list[Pass]:
    """All passes in the order in which they run: the first-party ones with those of plugins among them."""
    plugins = installed_passes().values()
    place_of_gradient = FIRST_PARTY.index(GRADIENT)
    return [
        *FIRST_PARTY[:place_of_gradient],
        *[step for step in plugins if step.stage == FORWARD],
        GRADIENT,
        *[step for step in plugins if step.stage == TRAINING],
        *FIRST_PARTY[place_of_gradient + 1 :],
    ]


def run_passes(
    graph: Graph, passes: Sequence[Pass], given: Facts | None = None
) -> tuple[Graph, dict[str, Any]]:
    """Run passes in the order given.

    Args:
        given: Facts that hold whatever becomes of the graph.

    Returns:
        The last graph and all facts about it.

    Raises:
        GraphError: A pass requires a fact that is not there and that none before it provides, or does
            not give what it says.
    """
    compilation = _Compilation(graph, given or {})
    for step in passes:
        compilation.run(step)
    return compilation.graph, compilation.facts


@final
class _Compilation:
    """A graph on its way through the passes."""

    def __init__(self, graph: Graph, given: Facts) -> None:
        self.graph = graph
        self.facts = dict(given)
        self._given = given
        self._providers: dict[str, Pass] = {}

    def run(self, step: Pass) -> None:
        """Run one pass, after the passes before it that provide what has become void."""
        self._renew(step)
        graph, new = step.run(self.graph, {name: self.facts[name] for name in step.requires})
        if set(new) != set(step.provides):
            raise GraphError(f"pass {step.name!r} gave {sorted(new)}, expected {sorted(step.provides)}")
        if graph is not self.graph:
            self.facts = dict(self._given)
            self.graph = graph
        self.facts.update(new)
        self._providers.update(dict.fromkeys(step.provides, step))

    def _renew(self, step: Pass) -> None:
        # One of them may rewrite the graph, and so make void what stood: then once more.
        for _ in range(2 * len(step.requires) + 1):
            missing = [name for name in step.requires if name not in self.facts]
            if not missing:
                return
            provider = self._providers.get(missing[0])
            if provider is None or provider is step:
                break
            self.run(provider)
        lacking = ", ".join(repr(name) for name in step.requires if name not in self.facts)
        raise GraphError(
            f"pass {step.name!r} requires {lacking}, which no earlier pass provides for the graph it is "
            "given; run one that does before it"
        )


def _infer(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    # The head gradient of an output that is a variable is like that variable; no operator says so.
    variables = {node.name: node for node in graph.nodes if isinstance(node, Variable)}
    alike = [
        (head, Entry(variables[head]), output)
        for head, output in zip(facts["heads"], graph.outputs, strict=False)
        if isinstance(output.node, Variable) and head in variables
    ]
    shapes = infer_shapes(graph, facts["arg_shapes"])
    if like := {name: shapes.of(output) for name, head, output in alike if shapes.of(head) is None}:
        shapes = infer_shapes(graph, {**facts["arg_shapes"], **like})
    if not shapes.is_complete:
        raise _incomplete(shapes)
    types = infer_types(graph, facts["arg_types"], DEFAULT_DTYPE)
    if found := {
        name: types.of(output) for name, head, output in alike if types.of(head) != types.of(output)
    }:
        types = infer_types(graph, {**facts["arg_types"], **found}, DEFAULT_DTYPE)
    return graph, {"shapes": shapes, "types": types}


def _incomplete(shapes: ShapeTable) -> OperadError:
    graph = shapes.graph
    names = [*graph.list_arguments(), *graph.list_auxiliary_states()]
    known = zip(names, [*shapes.arguments, *shapes.auxiliary], strict=True)
    unknown = [f"{name}: {shape}" for name, shape in known if not is_known(shape)]
    if unknown:
        return ShapeError(
            f"bind: shapes do not follow from those given ({', '.join(unknown)}); give more of them"
        )
    entry, shape = next(
        (entry, shape)
        for entry, shape in zip(graph.entries, shapes.values, strict=True)
        if not is_known(shape)
    )
    if isinstance(entry.node, OpNode) and entry.node.op.is_shaped_by_values:
        return BindError(
            f"bind: the shape of {entry.name!r} depends on values of its arguments, which a graph does not "
            f"know when it is bound; call od.nd.{entry.node.op.name} on arrays, outside of the symbol"
        )
    return BindError(
        f"bind: the shape of {entry.name!r} does not follow from the arguments, got {shape}; "
        "give more of them"
    )


def _gradient(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    """Append the gradients of the wanted arguments to the outputs."""
    wanted = _named(graph, facts["wanted"])
    if not wanted:
        return graph, {}
    heads = [Entry(Variable(name)) for name in facts["heads"]]
    found = gradient(graph.outputs, heads, [Entry(node) for node in wanted], graph.nodes)
    return Graph([*graph.outputs, *found]), {}


def _place(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    count = facts["num_outputs"]
    beside = [*[None] * count, *_named(graph, facts["wanted"])] if len(graph.outputs) > count else []
    placed, contexts = place(graph, facts["ctx"], facts["group2ctx"], beside)
    return placed, {"contexts": contexts}


def _schedule(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    costs = node_costs(graph, facts["shapes"])
    partitions = assign_partitions(graph, facts["contexts"], costs, settings().num_threads)
    return graph, {"costs": costs, "schedule": Schedule(graph, facts["contexts"], partitions)}


def _memory(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    """Plan the memory; outputs are arrays of their own, so that reading one waits for nothing later."""
    count, grad_req = facts["num_outputs"], facts["grad_req"]
    requests = {entry: OpReq.WRITE for entry in graph.outputs[:count] if not isinstance(entry.node, Variable)}
    for name, entry in zip(facts["wanted"], graph.outputs[count:], strict=True):
        if entry in requests or isinstance(entry.node, Variable):
            raise GraphError(
                f"the gradient of {name!r} is {entry.name!r}, which is also another output or a variable; "
                "a pass must leave each gradient an entry of its own"
            )
        requests[entry] = REQUESTS[grad_req[name]]
    return graph, {"plan": planned(graph, facts, requests)}


def planned(graph: Graph, facts: Facts, requests: Mapping[Entry, OpReq]) -> MemoryPlan:
    """The memory plan, checked in debug mode; see `plan_memory`."""
    plan = plan_memory(graph, facts["shapes"], facts["types"], requests=requests, schedule=facts["schedule"])
    if settings().debug:
        check_plan(plan)
    return plan


def _named(graph: Graph, names: Collection[str]) -> list[Variable]:
    by_name = {node.name: node for node in graph.nodes if isinstance(node, Variable)}
    return [by_name[name] for name in names]


def head_names(graph: Graph) -> list[str]:
    """A name for the gradient of each output, which no variable of the graph has."""
    taken = {node.name for node in graph.nodes if isinstance(node, Variable)}
    names = []
    for output in graph.list_outputs():
        name = f"{output}_head_grad"
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


INFER: Final = Pass("infer", _infer, ("arg_shapes", "arg_types", "heads"), ("shapes", "types"))
GRADIENT: Final = Pass("gradient", _gradient, ("wanted", "heads"))
PLACE: Final = Pass("place", _place, ("ctx", "group2ctx", "wanted", "num_outputs"), ("contexts",))
SCHEDULE: Final = Pass("schedule", _schedule, ("shapes", "contexts"), ("costs", "schedule"))
MEMORY: Final = Pass(
    "memory", _memory, ("shapes", "types", "schedule", "grad_req", "wanted", "num_outputs"), ("plan",)
)
FIRST_PARTY: Final = (INFER, GRADIENT, PLACE, SCHEDULE, MEMORY)
"""The system's own passes, in order."""
