"""The compiler: the list of passes over a graph, and the facts they exchange.

Which passes run, and in which order, is data: a list. `FIRST_PARTY` holds the system's own; those of
plugins (entry points in `operad.passes`) go in before the gradient pass or after it, as their stage says.
`ANALYSES` run only for a pass that requires what they provide and no pass before it did.

=============  ==============================================================  ==========
Fact           What it is                                                      From
=============  ==============================================================  ==========
arg_shapes     shapes of arguments and states by name, as far as known         the caller, infer
arg_types      their element types                                             the caller, infer
wanted         names of the arguments whose gradients become outputs           the caller
grad_req       for each of them `write` or `add`                               the caller
num_outputs    how many leading outputs are not gradients                      the caller
heads          a name for the head gradient of each output                     the caller
ctx            where nodes without a context group run                         the caller
group2ctx      the contexts of context groups                                  the caller
arg_contexts   where the arrays of arguments and states are, by name           the caller
shapes         `ShapeTable`, complete                                          infer
types          `TypeTable`, complete                                           infer
contexts       the context of each node, by number                             contexts, place
costs          what each node computes, a `Cost`, by number                    costs, choose_kernels
kernels        the `Choice` of each node, by number; see `graph.kernels`       kernels, choose_kernels
planned_bytes  roughly what the memory plan will need, in bytes                estimate
schedule       `Schedule`: partitions, and which nodes precede which           schedule
plan           `MemoryPlan`                                                    memory
=============  ==============================================================  ==========

A pass may leave an argument without a reader, and so out of the graph: in prediction nothing reads a label.
The caller binds an array to it all the same, and may want its gradient. So the `arg_` facts speak of the
arguments of the graph as it was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from operad.config import settings
from operad.dtypes import DEFAULT_DTYPE
from operad.errors import BindError, GraphError, OperadError, ShapeError, suggestion
from operad.graph.compilation import FORWARD, TRAINING, Compilation, Facts, Pass
from operad.graph.demands import with_demands
from operad.graph.estimate import apart, bound_entries, planned_bytes
from operad.graph.gradient import gradient
from operad.graph.infer import ShapeTable, extended, infer_shapes, infer_types
from operad.graph.ir import Entry, Graph, OpNode, Variable
from operad.graph.kernels import choose_kernels, kernel_costs
from operad.graph.memory import MemoryPlan, plan_memory
from operad.graph.partition import assign_partitions, node_costs
from operad.graph.place import assign_contexts, place
from operad.graph.plugin_passes import passes_of
from operad.graph.schedule import Schedule
from operad.op import OpReq, is_known
from operad.registry import loading


def pass_list(last: Pass | None = None) -> list[Pass]:
    """All passes in the order in which they run: the first-party ones with those of plugins among them.

    Args:
        last: A pass that runs when kernels are chosen.
    """
    place_of_gradient, place_of_schedule = map(FIRST_PARTY.index, (GRADIENT, SCHEDULE))
    return [
        *FIRST_PARTY[:place_of_gradient],
        *passes_of(FORWARD, KNOWN),
        GRADIENT,
        *passes_of(TRAINING, KNOWN),
        *FIRST_PARTY[place_of_gradient + 1 : place_of_schedule],
        *([] if last is None else [last]),
        *FIRST_PARTY[place_of_schedule:],
    ]


def compile_passes(
    graph: Graph,
    passes: Sequence[Pass],
    given: Facts | None = None,
    analyses: Mapping[str, Pass] | None = None,
) -> Compilation:
    """Run passes in the order given.

    Args:
        given: Facts that hold whatever becomes of the graph.
        analyses: What gives facts that none of the passes has provided yet; default: `ANALYSES`.

    Raises:
        GraphError: A pass requires a fact that is not there and that none before it provides, does
            not give what it says, or is a plugin's and failed.
    """
    compilation = Compilation(graph, given or {}, ANALYSES if analyses is None else analyses)
    for pass_ in passes:
        compilation.run(pass_)
    return compilation


def _infer(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    # A head gradient is like its output; where a pass left nothing between them, no operator says so.
    variables = {node.name: node for node in graph.nodes if isinstance(node, Variable)}
    alike = [
        (head, Entry(variables[head]), output)
        for head, output in zip(facts["heads"], graph.outputs, strict=False)
        if head in variables
    ]
    shapes = infer_shapes(graph, facts["arg_shapes"])
    if like := {name: shapes.of(output) for name, head, output in alike if shapes.of(head) is None}:
        shapes = infer_shapes(graph, {**facts["arg_shapes"], **like})
    if not shapes.is_complete:
        raise _incomplete(shapes, facts["arg_shapes"])
    key = "types", tuple(facts["arg_types"].items())
    if key not in graph.memo:  # types follow from types alone
        graph.memo[key] = infer_types(graph, facts["arg_types"], DEFAULT_DTYPE)
    types = graph.memo[key]
    if found := {
        name: types.of(output) for name, head, output in alike if types.of(head) != types.of(output)
    }:
        types = infer_types(graph, {**facts["arg_types"], **found}, DEFAULT_DTYPE)
    return graph, {
        "shapes": shapes,
        "types": types,
        "arg_shapes": {**facts["arg_shapes"], **{n: shapes.of(Entry(node)) for n, node in variables.items()}},
        "arg_types": {**facts["arg_types"], **{n: types.of(Entry(node)) for n, node in variables.items()}},
    }


def _incomplete(shapes: ShapeTable, given: Mapping[str, Any]) -> OperadError:
    graph = shapes.graph
    names = [*graph.list_arguments(), *graph.list_auxiliary_states()]
    known = zip(names, [*shapes.arguments, *shapes.auxiliary], strict=True)
    unknown = [f"{name}: {shape}" for name, shape in known if not is_known(shape)]
    if unknown:
        advice = "give more of them"
        for name in (name for name in given if name not in names):
            advice = f"{name!r} is no argument, {suggestion(name, names)}"
        return ShapeError(f"bind: shapes do not follow from those given ({', '.join(unknown)}); {advice}")
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
    if not facts["wanted"]:
        return graph, {"shapes": facts["shapes"], "types": facts["types"]}
    key = "gradient", tuple(facts["wanted"]), tuple(facts["heads"])
    if key not in graph.memo:
        variables = {node.name: node for node in graph.nodes if isinstance(node, Variable)}
        wanted = [variables.get(name) or Variable(name) for name in facts["wanted"]]
        heads = [Entry(Variable(name)) for name in facts["heads"]]
        found = gradient(graph.outputs, heads, [Entry(node) for node in wanted], graph.nodes)
        graph.memo[key] = wanted, heads, Graph([*graph.outputs, *found])
    wanted, heads, made = graph.memo[key]
    values = list(zip(facts["shapes"].values, facts["types"].values, strict=True))
    spans = pairwise(graph.first_entries)
    known = {node: values[start:end] for node, (start, end) in zip(graph.nodes, spans, strict=True)}
    for node in wanted:
        known.setdefault(node, [(facts["arg_shapes"][node.name], facts["arg_types"][node.name])])
    for head, output in zip(heads, graph.outputs, strict=True):
        known[head.node] = [values[graph.entry_id(output)]]
    return made, extended(made, known)


def _place(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    count = facts["num_outputs"]
    own = facts["arg_contexts"]
    beside = [*[None] * count, *map(own.get, facts["wanted"])] if len(graph.outputs) > count else []
    placed, contexts = place(graph, facts["ctx"], facts["group2ctx"], beside, own)
    return placed, {"contexts": contexts}


def _contexts(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    """Contexts of nodes, before copies are inserted."""
    given = facts["ctx"], facts["group2ctx"], facts["arg_contexts"]
    return graph, {"contexts": assign_contexts(graph, *given)}


def _costs(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    return graph, {"costs": node_costs(graph, facts["shapes"], facts["types"])}


def _kernels(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    return graph, {"kernels": choose_kernels(graph, facts)}


def _choose_kernels(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    graph, facts, choices = with_demands(graph, facts, choose_kernels(graph, facts))
    found = {name: facts[name] for name in ("shapes", "types", "contexts")}
    return graph, {**found, "kernels": choices, "costs": kernel_costs(graph, facts, choices)}


def _estimate(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    return graph, {"planned_bytes": planned_bytes(graph, facts)}


def _schedule(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    partitions = assign_partitions(graph, facts["contexts"], facts["costs"], settings().num_threads)
    return graph, {"schedule": Schedule(graph, facts["contexts"], partitions)}


def _memory(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    """Plan the memory; outputs are arrays of their own, so that reading one waits for nothing later."""
    others, gradients = apart(graph, facts)
    seen = set(others)
    for name, entry in gradients.items():
        if entry in seen or isinstance(entry.node, Variable):
            raise GraphError(
                f"the gradient of {name!r} is {entry.name!r}, which is also another output or a variable; "
                "a pass must keep a separate entry for each gradient"
            )
        seen.add(entry)
    return graph, {"plan": planned(graph, facts, bound_entries(graph, facts))}


def planned(graph: Graph, facts: Facts, requests: Mapping[Entry, OpReq]) -> MemoryPlan:
    """The memory plan, which operad-passes checks in debug mode; see `plan_memory`."""
    plan = plan_memory(graph, facts["shapes"], facts["types"], requests=requests, schedule=facts["schedule"])
    if settings().debug and (check_plan := loading.current().added("graph.check_plan")) is not None:
        check_plan(plan)
    return plan


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


INFER: Final = Pass(
    "infer", _infer, ("arg_shapes", "arg_types", "heads"), ("shapes", "types", "arg_shapes", "arg_types")
)
GRADIENT: Final = Pass(
    "gradient",
    _gradient,
    ("wanted", "heads", "arg_shapes", "arg_types", "shapes", "types"),
    ("shapes", "types"),
)
PLACE: Final = Pass(
    "place", _place, ("ctx", "group2ctx", "arg_contexts", "wanted", "num_outputs"), ("contexts",)
)
CHOOSE_KERNELS: Final = Pass(
    "choose_kernels",
    _choose_kernels,
    ("shapes", "types", "contexts", "costs"),
    ("shapes", "types", "contexts", "kernels", "costs"),
)
SCHEDULE: Final = Pass("schedule", _schedule, ("contexts", "costs"), ("schedule",))
MEMORY: Final = Pass(
    "memory", _memory, ("shapes", "types", "schedule", "grad_req", "wanted", "num_outputs"), ("plan",)
)
FIRST_PARTY: Final = (INFER, GRADIENT, PLACE, CHOOSE_KERNELS, SCHEDULE, MEMORY)
"""The system's own passes, in order."""

CONTEXTS: Final = Pass("contexts", _contexts, ("ctx", "group2ctx", "arg_contexts"), ("contexts",))
KERNELS: Final = Pass("kernels", _kernels, ("shapes", "types", "contexts"), ("kernels",))
COSTS: Final = Pass("costs", _costs, ("shapes", "types"), ("costs",))
ESTIMATE: Final = Pass(
    "estimate",
    _estimate,
    ("shapes", "types", "contexts", "num_outputs", "wanted", "grad_req"),
    ("planned_bytes",),
)
ANALYSES: Final = {pass_.provides[0]: pass_ for pass_ in (CONTEXTS, COSTS, KERNELS, ESTIMATE)}
"""Passes that give facts which no pass of the list has provided yet, by fact."""
KNOWN: Final = frozenset(fact for pass_ in (*FIRST_PARTY, *ANALYSES.values()) for fact in pass_.provides)
"""The facts that the system provides itself."""
