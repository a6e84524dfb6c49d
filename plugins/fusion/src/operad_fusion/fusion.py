"""The pass: nodes that compute element by element, and rows of elements, become one node each cluster.

A node is taken whose outputs follow from scalar forms over one iteration space. Two clusters are merged where
one reads what the other makes, element by element, and where the contracted graph stays without cycles
(`operad.graph.Clusters`). Forward and backward stay apart: what backward reads, forward writes. A cluster is
one operator, whose kernel is compiled when the graph is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, Final, final

import numpy as np

from operad.first_use import cached_property
from operad.graph import Clusters, Entry, Graph, Node, OpNode, Pass, Variable, rebuilt
from operad.operator import Instruction, Shape
from operad_fusion.again import again
from operad_fusion.candidates import Candidate, candidate_of, space_of
from operad_fusion.merging import Merged, Step, itself, merged
from operad_fusion.parts import EXACT, parts_of
from operad_fusion.settings import MODE
from operad_fusion.views import Views

FROM_SIZE: Final = 256
"""Elements from which a cluster is worth its compilation."""
MOST_INSTRUCTIONS: Final = 512
"""Instructions of a cluster; one that has more takes long to compile."""
_NAMED: Final = 3
"""Members after which a cluster is called."""
_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))

Facts = Mapping[str, Any]
Specs = tuple[tuple[Shape, Any], ...]


def _run(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    mode = MODE.read()
    if mode == "off":
        return graph, {}
    from operad_sdk.vector import reason_against  # noqa: PLC0415 - imports the compiler, where it is wanted

    if reason_against() is not None:
        return graph, {}
    found = _Fusion(graph, facts, is_exact=mode == "exact")
    found.merge()
    changed = found.with_repeated()
    if changed is not None:
        found = _Fusion(*changed, is_exact=mode == "exact")
        found.merge()
    return found.rebuilt(), {}


@final
class _Fusion:
    """One run of the pass over a graph."""

    def __init__(self, graph: Graph, facts: Facts, *, is_exact: bool) -> None:
        self._graph, self._facts = graph, facts
        self._shapes, self._types = facts["shapes"], facts["types"]
        self._contexts = facts["contexts"]
        self._is_exact = is_exact
        bound = graph.outputs[: facts["num_outputs"]]
        self._end = max([graph.node_ids[entry.node] + 1 for entry in bound], default=0)
        self._awaited = {dep for node in graph.nodes for dep in node.control_deps}
        self._summed = {entry for node in graph.op_nodes for _, entry in node.sums}
        self._views = Views(graph, facts)
        self._answers: dict[Any, Candidate | None] = {}
        self._candidates = [self._candidate(number, node) for number, node in enumerate(graph.nodes)]
        self._clusters = Clusters.of_graph(graph)
        self._sizes: dict[int, int] = {}
        found = [(number, each) for number, each in enumerate(self._candidates) if each is not None]
        self._with_rows = {number for number, each in found if each.has_rows}
        self._uneven = {number for number, each in found if not each.is_even}

    def merge(self) -> None:
        """Find the clusters."""
        for number, node in enumerate(self._graph.nodes):
            if self._candidates[number] is None:
                continue
            for entry in node.inputs:
                self._try(self._graph.node_ids[entry.node], number)

    def with_repeated(self) -> tuple[Graph, Facts] | None:
        """The graph in which clusters of backward compute again what they can, and its facts; None: as it is."""
        if not self._facts["wanted"] or self._graph.computed:
            return None
        kinds = [
            None if candidate is None or candidate.has_rows else self._kind(number)
            for number, candidate in enumerate(self._candidates)
        ]
        return again(self._graph, self._facts, self._clusters.groups(), kinds, self._end)

    # which nodes

    def _candidate(self, number: int, node: Node) -> Candidate | None:
        if not isinstance(node, OpNode) or node in self._graph.computed:
            return None
        if node.aux or node.sums or node.control_deps:
            return None
        outputs = node.entries
        if node in self._awaited or self._contexts[number].is_gpu or self._summed.intersection(outputs):
            return None
        specs = [self._spec(entry) for entry in [*node.args, *outputs]]
        key = (node.signature, *specs)
        if key not in self._answers:
            self._answers[key] = self._found(node, specs)
        return self._answers[key]

    def _found(self, node: OpNode, specs: Sequence[tuple[Shape, Any]]) -> Candidate | None:
        shapes, types = zip(*specs, strict=True)
        parts = parts_of(node, shapes[: node.num_args], types[: node.num_args])
        if isinstance(parts, str) or not parts:
            return None
        if self._is_exact and any(step.op not in EXACT for part in parts for step in part.form.instructions):
            return None
        reals = {dtype for dtype in types if dtype.kind == "f"}
        outputs = node.entries
        made = [self._shapes.of(entry) for entry in outputs]
        spaces = {space_of(part, shapes, made) for part in parts}
        if len(reals) != 1 or not reals <= set(_TYPES) or len(spaces) != 1:
            return None
        (dtype,), (space,) = reals, spaces
        if prod(space) < FROM_SIZE or not all(prod(shape) for shape in shapes):
            return None
        found = candidate_of(parts, space, dtype, shapes)
        step = Step(parts, node.inputs, outputs)
        return found if self._has_kernel(merged([step], outputs, itself), dtype) else None

    def _kind(self, number: int) -> Hashable:
        """Properties that all nodes of a cluster have in common with what they compute again."""
        candidate, attrs = self._candidates[number], self._graph.nodes[number].attrs
        assert candidate is not None
        told = attrs.get("__ctx_group__"), attrs.get("__force_mirroring__")
        return candidate.space, candidate.dtype, self._contexts[number], told

    def _key(self, number: int) -> Hashable:
        """Properties that all nodes of a cluster have in common."""
        return self._kind(number), number < self._end

    def _has_kernel(self, found: Merged, dtype: Any) -> bool:
        from operad_sdk.vector import NoVectorCodeError, compiled  # noqa: PLC0415 - as above
        from operad_sdk.vector.form_kernels import SLOW  # noqa: PLC0415

        if not found.inputs or any(step.op in SLOW for step in found.form.instructions):
            return False
        arrays = [np.empty(*spec) for spec in self._specs(found)]
        views = [*found.views, *[None] * len(found.outputs)]
        viewed = [
            array if view is None else view.of(array) for array, view in zip(arrays, views, strict=True)
        ]
        try:
            compiled(found.form, dtype).check(viewed)
        except NoVectorCodeError:
            return False
        return True

    def _specs(self, found: Merged) -> list[tuple[Shape, Any]]:
        entries = [*found.inputs, *found.outputs]
        return [self._spec(entry) for entry in entries]

    # which clusters

    def _try(self, source: int, node: int) -> None:
        """Merge the clusters of a node and of one that it reads, if that may be."""
        one, other = self._clusters.find(source), self._clusters.find(node)
        first, second = self._candidates[source], self._candidates[node]
        if one == other or first is None or second is None or self._key(source) != self._key(node):
            return
        size = self._size(one) + self._size(other)
        if size > MOST_INSTRUCTIONS or not self._fit(one, other):
            return
        if not self._clusters.can_merge(one, other):
            return
        if one in self._with_rows or other in self._with_rows:
            nodes = sorted([*self._clusters.members(one), *self._clusters.members(other)])
            if not self._has_kernel(self._merged(nodes), first.dtype):
                return
            self._with_rows |= {one, other}  # whichever stands for both
        if one in self._uneven or other in self._uneven:
            self._uneven |= {one, other}
        self._clusters.merge(one, other)
        self._sizes[self._clusters.find(node)] = size

    def _size(self, cluster: int) -> int:
        found = self._sizes.get(cluster)
        if found is None:
            candidate = self._candidates[cluster]
            assert candidate is not None
            found = self._sizes[cluster] = candidate.size
        return found

    def _fit(self, one: int, other: int) -> bool:
        """Return whether all that one cluster reads of the other is read element by element."""
        if one not in self._uneven and other not in self._uneven:
            return True
        ids = self._graph.node_ids
        for readers, makers in ((one, other), (other, one)):
            makes = set(self._clusters.members(makers))
            for number in self._clusters.members(readers):
                node, candidate = self._graph.nodes[number], self._candidates[number]
                assert candidate is not None
                for part in candidate.parts:
                    for place, instruction in zip(part.inputs, part.form.instructions, strict=False):
                        entry = node.inputs[place]
                        if ids[entry.node] in makes and not self._is_whole(entry, instruction, candidate):
                            return False
        return True

    def _is_whole(self, entry: Entry, instruction: Instruction, reader: Candidate) -> bool:
        maker = self._candidates[self._graph.node_ids[entry.node]]
        assert maker is not None
        (kind, axes) = next(
            (part.form.instructions[result.position].kind, result.axes)
            for part in maker.parts
            for result, index in zip(part.form.results, part.outputs, strict=True)
            if index == entry.index
        )
        is_plain = axes is None and instruction.axes is None and kind == instruction.kind
        return is_plain and self._shapes.of(entry) == reader.space

    # the new graph

    def _steps(self, numbers: Sequence[int]) -> list[Step]:
        steps = []
        for number in numbers:
            node, candidate = self._graph.nodes[number], self._candidates[number]
            assert candidate is not None
            assert isinstance(node, OpNode)
            steps.append(Step(candidate.parts, node.inputs, node.entries))
        return steps

    def _whole(self, numbers: Sequence[int]) -> tuple[Merged, Specs]:
        """The form of nodes with all that they make as results; its inputs are those of `_merged`."""
        steps = self._steps(numbers)
        made = [entry for step in steps for entry in step.outputs]
        found = merged(steps, made, self._views.resolved)
        return found, tuple(self._specs(found))

    def _merged(self, numbers: Sequence[int]) -> Merged:
        """The form of nodes, with all as results that others read."""
        own, steps = {self._graph.nodes[number] for number in numbers}, self._steps(numbers)
        made = [entry for step in steps for entry in step.outputs]
        wanted = [entry for entry in made if self._is_wanted(entry, own)]
        # What others take for its shape alone is like something that is there, or is there itself.
        specs = {self._spec(entry) for entry in wanted}
        for entry in made:
            if self._spec(entry) not in specs and any(n not in own for n in self._takers.get(entry, ())):
                wanted.append(entry)
                specs.add(self._spec(entry))
        return merged(steps, wanted, self._views.resolved)

    def _is_wanted(self, entry: Entry, own: set[Node]) -> bool:
        readers = self._readers.get(entry, ())
        return entry in self._outputs or any(reader not in own for reader in readers)

    def _spec(self, entry: Entry) -> tuple[Shape, Any]:
        return self._shapes.of(entry), self._types.of(entry)

    @cached_property
    def _outputs(self) -> set[Entry]:
        return set(self._graph.outputs)

    @cached_property
    def _readers(self) -> dict[Entry, list[Node]]:
        """Nodes that read the value of an entry."""
        return self._by_entry(lambda node: node.of_read(node.inputs))

    @cached_property
    def _takers(self) -> dict[Entry, list[Node]]:
        """Nodes that have an entry as an input, be it for its shape alone."""
        return self._by_entry(lambda node: node.inputs)

    def _by_entry(self, inputs_of: Callable[[Node], Sequence[Entry]]) -> dict[Entry, list[Node]]:
        found: dict[Entry, list[Node]] = {}
        for node in self._graph.nodes:
            for entry in inputs_of(node):
                found.setdefault(entry, []).append(node)
        return found

    def rebuilt(self) -> Graph:
        """The graph with a node for each cluster."""
        from operad_fusion.fused import Fused  # noqa: PLC0415 - imports the compiler, where it is wanted

        graph, renewed, instead = self._graph, dict[Node, Node](), dict[Entry, Entry]()

        def now(entry: Entry) -> Entry:
            found = instead.get(entry)
            return Entry(renewed.get(entry.node, entry.node), entry.index) if found is None else found

        for numbers in self._clusters.groups():
            node = graph.nodes[numbers[0]]
            if len(numbers) == 1:
                if not isinstance(node, Variable):
                    made = rebuilt(node, [now(entry) for entry in node.inputs], renewed)
                    if made is not node:
                        renewed[node] = made
                continue
            found = self._merged(numbers)
            candidate = self._candidates[numbers[0]]
            assert candidate is not None
            members = [member for member in (graph.nodes[n] for n in numbers) if isinstance(member, OpNode)]
            op = Fused(
                found, candidate.dtype, tuple(self._specs(found)), members, partial(self._whole, numbers)
            )
            name = "+".join(member.name for member in members[:_NAMED])
            made = OpNode(op, name, [now(entry) for entry in found.inputs], node.attrs)
            alike = {self._spec(entry): Entry(made, index) for index, entry in enumerate(found.outputs)}
            for member in members:
                for entry in member.entries:
                    if self._spec(entry) in alike:  # of which only shape and type count
                        instead[entry] = alike[self._spec(entry)]
            instead.update((entry, Entry(made, index)) for index, entry in enumerate(found.outputs))
        if not instead:
            return graph
        return Graph([now(entry) for entry in graph.outputs], graph.computed)


fusion: Final = Pass("fusion", _run, requires=("shapes", "types", "contexts", "num_outputs", "wanted"))
