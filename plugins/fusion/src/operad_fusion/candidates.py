"""Nodes that may go into clusters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import prod
from typing import Any, Final, NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np

from operad.first_use import cached_property, import_module
from operad.graph import Entry, Graph, Node, OpNode
from operad.operator import Gradient, OperatorProperty, Shape
from operad_fusion.merging import Merged, Step, itself, merged
from operad_fusion.parts import Part, parts_of
from operad_fusion.views import moves_elements
from operad_sdk.form_kernels import EXACT

FROM_SIZE: Final = 256
"""Elements from which a cluster is worth its compilation."""
_MOST_ANSWERS: Final = 64
"""Shapes that are remembered for an operator."""
_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))


class Candidate(NamedTuple):
    """Contribution of the nodes of some operator to a cluster.

    Attributes:
        parts: What they compute.
        space: The iteration space.
        dtype: What is `real` in it.
        size: Number of instructions.
        has_rows: Whether it reduces rows, or has results of rows; else all of a cluster is computed at once.
        is_even: Whether all results are whole, and all that is as large as the space is read element by
            element, in the real type.
    """

    parts: list[Part]
    space: Shape
    dtype: Any
    size: int
    has_rows: bool
    is_even: bool

    def given(self, output: int) -> tuple[Any, Any]:
        """Kind and axes of an output of the node."""
        return next(
            (part.form.instructions[result.position].kind, result.axes)
            for part in self.parts
            for result, index in zip(part.form.results, part.outputs, strict=True)
            if index == output
        )

    def difference(self, other: Candidate) -> str:
        """In what it differs from a candidate that is not of its kind."""
        if self.space != other.space:
            spaces = ("x".join(map(str, each.space)) for each in (self, other))
            return "{} elements are computed here, and {} there".format(*spaces)
        if self.dtype != other.dtype:
            return f"one computes in {self.dtype}, and the other in {other.dtype}"
        return "they have other contexts, context groups or force_mirroring"


def candidate_of(parts: list[Part], space: Shape, dtype: Any, in_shapes: Sequence[Shape]) -> Candidate:
    """The candidate with these parts; `in_shapes` are those of the node's arguments."""
    steps = [step for part in parts for step in part.form.instructions]
    results = [(part.form, result) for part in parts for result in part.form.results]
    inputs = [
        (in_shapes[place], step)
        for part in parts
        for place, step in zip(part.inputs, part.form.instructions, strict=False)
    ]
    has_rows = any(step.op in ("sum", "max", "min") for step in steps) or any(r.axes for _, r in results)
    is_even = all(r.axes is None and form.instructions[r.position].kind == "real" for form, r in results)
    is_even &= all(shape != space or (step.axes is None and step.kind == "real") for shape, step in inputs)
    return Candidate(parts, space, dtype, len(steps), has_rows, is_even)


def space_of(part: Part, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Shape:
    """The iteration space of a part, by the shapes of its node's inputs and outputs."""
    given = {name: in_shapes[i] for name, i in zip(part.form.inputs, part.inputs, strict=True)}
    made = zip(part.form.results, part.outputs, strict=True)
    return part.form.space(given | {result.name: out_shapes[i] for result, i in made})


def too_small(size: int) -> str:
    """Reason against a node of so many elements."""
    return f"it has {size} elements; a kernel is compiled from {FROM_SIZE} on"


_answers: Final = WeakKeyDictionary[OperatorProperty, dict[Hashable, Candidate | str]]()
"""Candidates of operators and their gradients, by signature and by shapes and types, while they live."""


def _operator(node: OpNode) -> OperatorProperty:
    """The operator of a node, or that of which it has a gradient: symbols keep these."""
    return node.op.of if isinstance(node.op, Gradient) else node.op


@final
class Candidates:
    """Contributions of the nodes of a graph to clusters.

    Args:
        facts: `shapes`, `types` and `contexts`.
        is_exact: Whether only what gives NumPy's bits is taken.
    """

    def __init__(self, graph: Graph, facts: Mapping[str, Any], *, is_exact: bool) -> None:
        self._graph = graph
        self._shapes, self._types, self._contexts = (facts[name] for name in ("shapes", "types", "contexts"))
        self.is_exact = is_exact
        self._answers: dict[Hashable, tuple[int, Candidate | str]] = {}
        self._awaited = {dep for node in graph.nodes for dep in node.control_deps}
        self._summed = {entry for node in graph.op_nodes if node.adds_to for _, entry in node.sums}
        self._sizes = self._largest()
        self._beside = self._with_neighbours()

    def are_there(self) -> bool:
        """Return whether any node may be in a cluster; of small ones without the tracer and the compiler."""
        if not self._beside or import_module("operad_sdk.vector").reason_against() is not None:
            return False
        return any(isinstance(each, Candidate) for each in self.by_node)

    @cached_property
    def by_node(self) -> list[Candidate | str]:
        """For each node what it contributes; or, as text, why it can be in no cluster."""
        return [self._candidate(number, node) for number, node in enumerate(self._graph.nodes)]

    def _arrays(self, number: int, node: OpNode) -> list[int]:
        """Numbers of the entries that are a node's arguments and outputs."""
        first = self._graph.first_entries
        return [*self._graph.input_ids[number][: node.num_args], *range(first[number], first[number + 1])]

    def _largest(self) -> list[int]:
        """For each node the elements of its largest array; 0 for arguments."""
        sizes = {shape: prod(shape) for shape in set(self._shapes.values)}
        elements = [sizes[shape] for shape in self._shapes.values]
        return [
            max([elements[i] for i in self._arrays(number, node)], default=0)
            if isinstance(node, OpNode)
            else 0
            for number, node in enumerate(self._graph.nodes)
        ]

    def _with_neighbours(self) -> set[int]:
        """Large nodes that read of large ones, or are read by these, or read what may be a view."""
        found, ids = set[int](), self._graph.node_ids
        for number, node in enumerate(self._graph.nodes):
            for source, _ in node.inputs if self._sizes[number] >= FROM_SIZE else ():
                if self._sizes[ids[source]] >= FROM_SIZE:
                    found |= {number, ids[source]}
                elif moves_elements(source):
                    found.add(number)
        return found

    def spec(self, entry: Entry) -> tuple[Shape, Any]:
        """Shape and element type of an entry."""
        return self._shapes.of(entry), self._types.of(entry)

    def arrays(self, number: int) -> list[int]:
        """Numbers of the entries that are the arguments and outputs of a node."""
        node = self._graph.nodes[number]
        return self._arrays(number, node) if isinstance(node, OpNode) else []

    @property
    def asked(self) -> list[tuple[int, Candidate | str]]:
        """One node of all that are alike and of one size, and its answer."""
        return [*self._answers.values()]

    def _candidate(self, number: int, node: Node) -> Candidate | str:
        if not isinstance(node, OpNode):
            return "it is an argument"
        if node in self._graph.computed:
            return "it has run when it was recorded"
        if node.num_args < len(node.inputs) and node.aux:
            return "it changes states"
        is_ordered = node.adds_to or node.control_deps or node in self._awaited
        if is_ordered or (self._summed and self._summed.intersection(node.entries)):
            return "the order in which it runs is fixed"
        if self._contexts[number].is_gpu:
            return f"there is no vector code for {self._contexts[number]}"
        # Before forms are asked for, as most nodes need none.
        if self._sizes[number] < FROM_SIZE:
            return too_small(self._sizes[number])
        if number not in self._beside:
            return "nothing beside it computes element by element"
        specs = [(self._shapes.values[i], self._types.values[i]) for i in self._arrays(number, node)]
        key = (node.signature, *specs)
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = number, answer(node, specs, self.is_exact)
        return found[1]


def answer(node: OpNode, specs: Sequence[tuple[Shape, Any]], is_exact: bool) -> Candidate | str:
    """Contribution of a node that is large and stands beside large ones; or, as text, why there is none.

    Args:
        specs: Shape and type of each argument and then of each output.
    """
    key = (node.signature, is_exact, *specs)
    known = _answers.setdefault(_operator(node), {})
    found = known.get(key)
    if found is None:
        if len(known) >= _MOST_ANSWERS:
            known.clear()
        found = known[key] = _found(node, specs, is_exact)
    return found


def _found(node: OpNode, specs: Sequence[tuple[Shape, Any]], is_exact: bool) -> Candidate | str:
    shapes, types = zip(*specs, strict=True)
    parts = parts_of(node, shapes[: node.num_args], types[: node.num_args])
    if isinstance(parts, str):
        return parts
    if not parts:
        return "it computes nothing"
    ops = {step.op for part in parts for step in part.form.instructions}
    if is_exact and not ops <= EXACT:
        return f"{min(ops - EXACT)} gives other bits than NumPy, and OPERAD_FUSION=exact"
    reals = {dtype for dtype in types if dtype.kind == "f"}
    spaces = {space_of(part, shapes, shapes[node.num_args :]) for part in parts}
    if len(reals) != 1 or not reals <= set(_TYPES):
        names = ", ".join(sorted(map(str, reals))) or "no floating type"
        return f"it computes in {names}, expected float32 or float64 alone"
    if len(spaces) != 1:
        return "its gradients have several shapes"
    (dtype,), (space,) = reals, spaces
    if prod(space) < FROM_SIZE or not all(prod(shape) for shape in shapes):
        return too_small(prod(space))
    found = candidate_of(parts, space, dtype, shapes)
    outputs = node.entries
    form = merged([Step(parts, node.inputs, outputs)], outputs, itself)
    spec_of = dict(zip([*node.args, *outputs], specs, strict=True))
    return obstacle_to_code(form, dtype, spec_of.__getitem__) or found


def obstacle_to_code(found: Merged, dtype: Any, spec_of: Callable[[Entry], Any]) -> str | None:
    """Why there is no vector code for a form; None where there is.

    Args:
        spec_of: Gives shape and type of an entry.
    """
    vector = import_module("operad_sdk.vector")  # lazy: it imports the compiler
    kernels = import_module("operad_sdk.vector.form_kernels")
    if not found.inputs:
        return "it reads nothing"
    slow = kernels.SLOW.intersection(step.op for step in found.form.instructions)
    if slow:
        return f"{min(slow)} is faster by itself"
    specs = [spec_of(entry) for entry in [*found.inputs, *found.outputs]]
    try:
        vector.compiled(found.form, dtype).check(vector.lying(specs, found.views))
    except vector.NoVectorCodeError as error:
        return str(error)
    return None
