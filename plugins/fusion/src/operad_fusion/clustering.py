"""Clusters of a graph: nodes that compute element by element, and rows of elements.

A node is taken whose outputs follow from scalar forms over one iteration space. Two clusters are merged where
one reads what the other makes, element by element, and where the contracted graph stays without cycles
(`operad_passes.Clusters`). Forward and backward stay apart: what backward reads, forward writes. A cluster is
one operator, whose kernel is compiled at its first run.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, final

from operad.first_use import import_module
from operad.graph import Entry, Graph, Node, OpNode, Variable, rebuilt
from operad.operator import Instruction, Shape
from operad_fusion.again import Facts
from operad_fusion.candidates import Candidate, Candidates, obstacle_to_code
from operad_fusion.merging import Known, Merged, Step, merged
from operad_fusion.uses import Uses
from operad_fusion.views import InPlace, Views
from operad_passes import Clusters

MOST_INSTRUCTIONS: Final = 512
"""Instructions of a cluster; one that has more takes long to compile."""
_NAMED: Final = 3
"""Members after which a cluster is called."""

Specs = tuple[tuple[Shape, Any], ...]


@final
class Clustering:
    """One run over a graph.

    Attributes:
        questions: Forms of several nodes, or of one that may read views, and whether they have vector code.
        views: Those before the clusters are found, and after that.
        made: The operator of each cluster, its nodes and its form.
    """

    def __init__(self, graph: Graph, facts: Facts, candidates: Candidates) -> None:
        self.graph = self._graph = graph
        self._facts = facts
        self._shapes, self._contexts = facts["shapes"], facts["contexts"]
        bound = graph.outputs[: facts["num_outputs"]]
        self._end = max([graph.node_ids[entry.node] + 1 for entry in bound], default=0)
        self._uses = Uses(graph)
        self._views = Views(graph, facts)
        self.views = [self._views]
        self._forms: Known = {}
        self._found = candidates
        self._spec = self._found.spec
        self.questions: list[tuple[Merged, Any, Views, bool]] = []
        self.made: list[tuple[Any, Sequence[int], Merged]] = []
        self._candidates = self._found.by_node
        self._clusters = Clusters.of_graph(graph)
        self._sizes: dict[int, int] = {}
        self._kinds: dict[int, Hashable] = {}
        found = {n: each for n, each in enumerate(self._candidates) if isinstance(each, Candidate)}
        self._with_rows = {number for number, each in found.items() if each.has_rows}
        self._uneven = {number for number, each in found.items() if not each.is_even}

    def merge(self) -> None:
        """Find the clusters."""
        ids = self._graph.node_ids
        for number, node in enumerate(self._graph.nodes):
            if isinstance(self._candidates[number], str):
                continue
            for source, _ in node.inputs:
                if not isinstance(self._candidates[ids[source]], str):
                    self._try(ids[source], number)

    def repeatable(self) -> tuple[list[list[int]], list[Hashable], int] | None:
        """Clusters, kinds and end of forward, for `Again`; None: backward computes nothing again."""
        if not self._facts["wanted"] or self._graph.computed:
            return None
        kinds = [
            None if isinstance(candidate, str) or candidate.has_rows else self._kind(number)
            for number, candidate in enumerate(self._candidates)
        ]
        return self._clusters.groups(), kinds, self._end

    def _kind(self, number: int) -> Hashable:
        """Properties that all nodes of a cluster have in common, with what they compute again, too."""
        found = self._kinds.get(number)
        if found is None:
            candidate, attrs = self._of(number), self._graph.nodes[number].attrs
            told = attrs.get("__ctx_group__"), attrs.get("__force_mirroring__")
            found = self._kinds[number] = (candidate.space, candidate.dtype, self._contexts[number], told)
        return found

    def _try(self, source: int, node: int) -> None:
        """Merge the clusters of a node and of one that it reads, if that may be."""
        one, other = self._clusters.find(source), self._clusters.find(node)
        if one == other or self._difference(source, node) is not None:
            return
        if (one in self._with_rows or other in self._with_rows) and self._obstacle(source, node) is not None:
            return
        size = self._size(one) + self._size(other)
        if not self._clusters.merge(one, other):
            return
        if one in self._with_rows or other in self._with_rows:
            self._with_rows |= {one, other}  # whichever stands for both
        if one in self._uneven or other in self._uneven:
            self._uneven |= {one, other}
        self._sizes[self._clusters.find(node)] = size

    def _obstacle(self, source: int, node: int) -> str | None:
        """Why the clusters of a node and of one that it reads may not be one; None where they may."""
        for candidate in (self._candidates[source], self._candidates[node]):
            if isinstance(candidate, str):
                return candidate
        if (reason := self._difference(source, node)) is not None:
            return reason
        one, other = self._clusters.find(source), self._clusters.find(node)
        if not self._clusters.can_merge(one, other):
            return "a node between them would wait for what waits for it"
        if one in self._with_rows or other in self._with_rows:
            nodes = sorted([*self._clusters.members(one), *self._clusters.members(other)])
            return self._obstacle_to_code(nodes)
        return None

    def _obstacle_to_code(self, numbers: Sequence[int]) -> str | None:
        found, dtype = self._merged(numbers), self._of(numbers[0]).dtype
        reason = obstacle_to_code(found, dtype, self._spec)
        self.questions.append((found, dtype, self._views, reason is None))
        return reason

    def _difference(self, source: int, node: int) -> str | None:
        """Why two candidates, of which one reads the other, may not be in a cluster; None where they may."""
        one, other = self._clusters.find(source), self._clusters.find(node)
        if (source < self._end) != (node < self._end):
            return "one is of forward and the other of backward, which may not run"
        if self._kind(source) != self._kind(node):
            return self._of(source).difference(self._of(node))
        if self._size(one) + self._size(other) > MOST_INSTRUCTIONS:
            return f"together they have more than {MOST_INSTRUCTIONS} instructions"
        if not self._fit(one, other):
            return "one is read by the other in another way than element by element"
        return None

    def _of(self, number: int) -> Candidate:
        found = self._candidates[number]
        assert isinstance(found, Candidate)
        return found

    def neighbours(self, numbers: Sequence[int]) -> dict[str, str]:
        """Nodes that read of a cluster or that it reads, and why they are not in it."""
        own, found = set(numbers), dict[str, str]()
        ids = self._graph.node_ids
        for number in numbers:
            node = self._graph.nodes[number]
            assert isinstance(node, OpNode)
            readers = [reader for entry in node.entries for reader in self._uses.takers(entry)]
            pairs = [(ids[entry.node], number) for entry in node.inputs]
            pairs += [(number, ids[reader]) for reader in readers]
            for source, reader in pairs:
                other = self._graph.nodes[source if reader in own else reader]
                if (source in own and reader in own) or isinstance(other, Variable) or other.name in found:
                    continue
                found[other.name] = self._reason(source, reader)
        return found

    def _reason(self, source: int, reader: int) -> str:
        """Why a node and one that it reads, of which a cluster has one, do not go together."""
        made = self._graph.nodes[source]
        reads = [entry for entry in self._graph.nodes[reader].inputs if entry.node is made]
        if any(self._views.resolved(entry)[1] is not None for entry in reads):
            return "what it gives is read where it is, in the array that it is a part of"
        return self._obstacle(source, reader) or "it stands in another cluster"

    def _reads_a_view(self, number: int) -> bool:
        """Return whether a node alone is worth a kernel, which reads in place what it would get copied."""
        if isinstance(self._candidates[number], str):
            return False
        node = self._graph.nodes[number]
        if not any(map(self._views.saves_a_copy, node.of_read(node.inputs))):
            return False
        return self._obstacle_to_code([number]) is None

    def _size(self, cluster: int) -> int:
        found = self._sizes.get(cluster)
        if found is None:
            found = self._sizes[cluster] = self._of(cluster).size
        return found

    def _fit(self, one: int, other: int) -> bool:
        """Return whether all that one cluster reads of the other is read element by element."""
        if one not in self._uneven and other not in self._uneven:
            return True
        ids = self._graph.node_ids
        for readers, makers in ((one, other), (other, one)):
            makes = set(self._clusters.members(makers))
            for number in self._clusters.members(readers):
                node, candidate = self._graph.nodes[number], self._of(number)
                for part in candidate.parts:
                    for place, instruction in zip(part.inputs, part.form.instructions, strict=False):
                        entry = node.inputs[place]
                        if ids[entry.node] in makes and not self._is_whole(entry, instruction, candidate):
                            return False
        return True

    def _is_whole(self, entry: Entry, instruction: Instruction, reader: Candidate) -> bool:
        kind, axes = self._of(self._graph.node_ids[entry.node]).given(entry.index)
        is_plain = axes is None and instruction.axes is None and kind == instruction.kind
        return is_plain and self._shapes.of(entry) == reader.space

    def _steps(self, numbers: Sequence[int]) -> list[Step]:
        nodes: list[tuple[int, Any]] = [(number, self._graph.nodes[number]) for number in numbers]
        return [Step(self._of(number).parts, node.inputs, node.entries) for number, node in nodes]

    def whole(self, numbers: Sequence[int]) -> tuple[Merged, Specs]:
        """The form of nodes with all as results that somebody reads; its inputs are those of `_merged`."""
        steps = self._steps(numbers)
        made = [entry for step in steps for entry in step.outputs if self._uses.is_wanted(entry)]
        found = merged(steps, made, self._views.resolved, self._forms)
        return found, self.specs(found)

    def specs(self, found: Merged) -> Specs:
        """Shapes and types of the inputs and then the results of a form."""
        return tuple(map(self._spec, [*found.inputs, *found.outputs]))

    def in_place(self, numbers: Sequence[int]) -> InPlace:
        """Nodes and entries that are passed over where nodes read parts of arrays."""
        nodes, ids = [self._graph.nodes[number] for number in numbers], self._graph.node_ids
        read = [
            entry for node in nodes for entry in node.of_read(node.inputs) if ids[entry.node] not in numbers
        ]
        passed = dict.fromkeys(found for entry in read for found in self._views.between(entry))
        entries = [found for found in passed if self._uses.is_wanted(found[0])]
        # What forward passed over is no news in backward.
        after = self._end if numbers[0] >= self._end else 0
        beside = dict.fromkeys(entry.node for entry, _, _ in entries if ids[entry.node] >= after)
        return InPlace(entries, [node for node in beside if isinstance(node, OpNode)])

    def _merged(self, numbers: Sequence[int]) -> Merged:
        """The form of nodes, with all as results that others read."""
        own, steps = {self._graph.nodes[number] for number in numbers}, self._steps(numbers)
        made = [entry for step in steps for entry in step.outputs]
        wanted = [entry for entry in made if self._uses.is_wanted(entry, own)]
        # What others take for its shape alone is like something that is there, or is there itself.
        specs = {self._spec(entry) for entry in wanted}
        for entry in made:
            if self._spec(entry) not in specs and any(n not in own for n in self._uses.takers(entry)):
                wanted.append(entry)
                specs.add(self._spec(entry))
        return merged(steps, wanted, self._views.resolved, self._forms)

    def settle(self) -> None:
        """Let what several nodes of a cluster make be no view, as nothing is between them."""
        groups = self._clusters.groups()
        nodes = {self._graph.nodes[number] for numbers in groups if len(numbers) > 1 for number in numbers}
        self._views = Views(self._graph, self._facts, nodes, self._views.known)
        self.views.append(self._views)

    def rebuilt(self) -> tuple[Graph, list[int]]:
        """The graph with a node for each cluster, and for each of its entries one that it is like."""
        graph, renewed, instead = self._graph, dict[Node, Node](), dict[Entry, Entry]()
        like = dict[Node, Sequence[int]]()  # of all nodes

        def now(entry: Entry) -> Entry:
            found = instead.get(entry)
            return Entry(renewed.get(entry.node, entry.node), entry.index) if found is None else found

        for numbers in self._clusters.groups():
            node = graph.nodes[numbers[0]]
            if len(numbers) == 1 and not self._reads_a_view(numbers[0]):
                made: Node = node
                if not isinstance(node, Variable):
                    made = rebuilt(node, [now(entry) for entry in node.inputs], renewed)
                    if made is not node:
                        renewed[node] = made
                first = graph.first_entries[numbers[0]]
                like[made] = range(first, first + node.num_outputs)
                continue
            form = self._merged(numbers)
            members = [member for member in (graph.nodes[n] for n in numbers) if isinstance(member, OpNode)]
            op = import_module("operad_fusion.fused").Fused(form, self._of(numbers[0]).dtype, members)
            self.made.append((op, numbers, form))
            name = "+".join(member.name for member in members[:_NAMED])
            cluster = OpNode(op, name, [now(entry) for entry in form.inputs], node.attrs)
            like[cluster] = [graph.entry_id(entry) for entry in form.outputs]
            alike = {self._spec(entry): Entry(cluster, index) for index, entry in enumerate(form.outputs)}
            for member in members:
                for entry in member.entries:
                    if self._spec(entry) in alike:  # of which only shape and type count
                        instead[entry] = alike[self._spec(entry)]
            instead.update((entry, Entry(cluster, index)) for index, entry in enumerate(form.outputs))
        found = Graph([now(entry) for entry in graph.outputs], graph.computed) if instead else graph
        return found, [number for node in found.nodes for number in like[node]]
