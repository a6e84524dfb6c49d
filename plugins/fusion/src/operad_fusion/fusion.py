"""The pass: clusters of a graph become one node each.

Its decisions are kept with the graph, and with all that they depend on: which lengths are equal, which arrays
are large, and the questions that were asked of forms, views and bytes. At another size at which every answer
is the same, the decisions are the same, so the graph of before serves: only shapes and views differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from math import prod
from typing import Any, Final, final

from operad.first_use import import_module
from operad.graph import Graph, Pass
from operad_fusion.again import Again, Facts
from operad_fusion.candidates import FROM_SIZE, Candidate, Candidates, answer, obstacle_to_code
from operad_fusion.clustering import Clustering
from operad_fusion.merging import resolved
from operad_fusion.parts import forms_of
from operad_fusion.settings import MODE
from operad_fusion.views import Views
from operad_passes import numbers, tables


def _run(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    mode = MODE.read()
    if mode == "off":
        return graph, {"shapes": facts["shapes"], "types": facts["types"]}
    known: dict[Hashable, _Decisions] = {} if graph.computed else graph.memo.setdefault("fusion", {})
    key = mode, _pattern(facts)
    kept = known.get(key)
    if kept is not None and (made := kept.at(facts)) is not None:
        return kept.graph, made
    candidates = Candidates(graph, facts, is_exact=mode == "exact")
    if not candidates.are_there():
        return graph, {"shapes": facts["shapes"], "types": facts["types"]}
    found = known[key] = _Decisions(graph, facts, candidates)
    return found.graph, found.first


def _pattern(facts: Facts) -> Hashable:
    """Key of what decides without a question: equal shapes, equal lengths, and large arrays."""
    shapes: dict[tuple[int, ...], int] = {}
    entries = tuple([shapes.setdefault(shape, len(shapes)) for shape in facts["shapes"].values])
    lengths = {0: 0, 1: 1}
    alike = tuple([tuple([lengths.setdefault(n, len(lengths)) for n in shape]) for shape in shapes])
    sizes = tuple([prod(shape) >= FROM_SIZE for shape in shapes])
    places = (*facts["types"].values, *facts["contexts"], *facts["wanted"], facts["num_outputs"])
    return entries, alike, sizes, places


@final
class _Answers:
    """Answers to all that the clusters of a graph asked of forms and views, at the size of `facts`."""

    def __init__(self, clusters: Clustering, candidates: Candidates, facts: Facts) -> None:
        self._graph, self._is_exact = clusters.graph, candidates.is_exact
        shapes = facts["shapes"].values
        self._asked = [
            (number, ids, before, _is_plain(before, [shapes[i] for i in ids]))
            for number, before in candidates.asked
            for ids in [candidates.arrays(number)]
        ]
        self._views = [(views.clustered, views.answers()) for views in clusters.views]
        self._questions = [
            (found, dtype, clusters.views.index(views), has_code)
            for found, dtype, views, has_code in clusters.questions
        ]

    def again(self, facts: Facts) -> list[Views] | None:
        """The views at another size; None where an answer is another one."""
        shapes, types = facts["shapes"].values, facts["types"].values
        for number, ids, before, is_plain in self._asked:
            specs = [(shapes[i], types[i]) for i in ids]
            if not _is_same(self._graph.nodes[number], specs, before, is_plain, self._is_exact):
                return None
        found: list[Views] = []
        for clustered, answers in self._views:
            found.append(Views(self._graph, facts, clustered, found[0].known if found else None))
            if found[-1].answers(entry for entry, *_ in answers) != answers:
                return None

        def spec_of(entry: Any) -> tuple[Any, Any]:
            number = self._graph.entry_id(entry)
            return shapes[number], types[number]

        for form, dtype, number, has_code in self._questions:
            now = resolved(form, found[number].resolved)
            if (obstacle_to_code(now, dtype, spec_of) is None) != has_code:
                return None
        return found


def _is_plain(before: Candidate | str, shapes: Sequence[tuple[int, ...]]) -> bool:
    """Return whether there is code for a node whatever the lengths: it takes each array as one row."""
    return isinstance(before, Candidate) and before.is_even and {*shapes} == {before.space}


def _is_same(node: Any, specs: Any, before: Candidate | str, is_plain: bool, is_exact: bool) -> bool:
    """Return whether a node contributes at other sizes what it did before."""
    if is_plain and isinstance(before, Candidate):
        shapes, types = zip(*specs[: node.num_args], strict=True)
        return forms_of(node, shapes, types) == [part.form for part in before.parts]
    now = answer(node, specs, is_exact)
    if isinstance(before, str) or isinstance(now, str):
        return isinstance(before, str) and isinstance(now, str)
    return now._replace(space=before.space) == before


@final
class _Decisions:
    """Clusters of a graph, and what has to be as it was where they are to serve another size.

    Attributes:
        graph: The graph with a node for each cluster.
        first: Its facts at the size at which it was made.
    """

    def __init__(self, graph: Graph, facts: Facts, candidates: Candidates) -> None:
        clusters = Clustering(graph, facts, candidates)
        clusters.merge()
        self._own = graph
        self._answers = []
        repeats = clusters.repeatable()
        self._again = None if repeats is None else Again(graph, facts, *repeats)
        self._changed: Graph | None = None
        if self._again is not None and self._again.choice is not None:
            self._answers.append(_Answers(clusters, candidates, facts))
            self._changed, origins = self._again.rewritten()
            self._like = numbers(self._changed, origins, graph)
            facts = self._of_changed(self._changed, facts)
            candidates = Candidates(self._changed, facts, is_exact=candidates.is_exact)
            clusters = Clustering(self._changed, facts, candidates)
            clusters.merge()
        clusters.settle()
        self.graph, self._entries = clusters.rebuilt()
        self._made = clusters.made
        self._is_exact = candidates.is_exact
        for op, members, form in self._made:
            op.take(_size(op, clusters.specs(form), form.views, lambda: clusters, members))
        self._answers.append(_Answers(clusters, candidates, facts))
        self.first = self._of_graph(facts)

    def at(self, facts: Facts) -> Facts | None:
        """Facts of the graph at another size of its pattern; None where another graph is needed."""
        views = self._answers[0].again(facts)
        if views is None:
            return None
        if self._again is not None and not self._again.is_same(facts):
            return None
        graph = self._own
        if self._changed is not None:
            graph, facts = self._changed, self._of_changed(self._changed, facts)
            views = self._answers[1].again(facts)
            if views is None:
                return None
        late = cache(partial(_clusters, graph, facts, self._is_exact))
        shapes, types = facts["shapes"], facts["types"]
        try:
            for op, members, form in self._made:
                now = resolved(form, views[-1].resolved)
                specs = tuple([(shapes.of(entry), types.of(entry)) for entry in (*now.inputs, *now.outputs)])
                if not op.take(_size(op, specs, now.views, late, members)):
                    return None
        except import_module("operad_sdk.vector").NoVectorCodeError:
            return None
        return self._of_graph(facts)

    def _of_changed(self, graph: Graph, facts: Facts) -> Facts:
        entries, nodes = self._like
        contexts = [facts["contexts"][number] for number in nodes]
        return {**facts, **tables(graph, entries, facts), "contexts": contexts}

    def _of_graph(self, facts: Facts) -> Facts:
        return tables(self.graph, self._entries, facts)


def _clusters(graph: Graph, facts: Facts, is_exact: bool) -> Clustering:
    """The clusters, found once more for who asks about them."""
    found = Clustering(graph, facts, Candidates(graph, facts, is_exact=is_exact))
    found.merge()
    found.settle()
    return found


def _size(op: Any, specs: Any, views: Any, late: Callable[[], Clustering], members: Sequence[int]) -> Any:
    return import_module("operad_fusion.fused").Size(op.compiled, specs, views, late, members)


fusion: Final = Pass(
    "fusion",
    _run,
    requires=("shapes", "types", "contexts", "num_outputs", "wanted"),
    provides=("shapes", "types"),
    reads_names=False,
)
