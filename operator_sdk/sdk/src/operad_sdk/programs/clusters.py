"""Steps of a trace that one kernel computes.

What stands between two steps that no form has - products, sorts, parts of arrays - is tried as one form.
Where that is none, because it reduces other axes or has other lengths, steps are gathered one by one, each
with those that it reads. A view is no work: a form reads through it, and what else reads it takes NumPy's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import Any, Final, final

import numpy as np

from operad.first_use import cached_property
from operad_sdk.differentiate import PROGRAM, Node, TraceError
from operad_sdk.differentiate.dispatch import each
from operad_sdk.differentiate.indexing import is_basic, is_whole
from operad_sdk.differentiate.made_up import is_elementwise
from operad_sdk.differentiate.tracing import AppliedPrimitive
from operad_sdk.differentiate.walk import behind
from operad_sdk.programs.cluster import Cluster, cluster_of, operands, views_something
from operad_sdk.vector.primitives import NoVectorCodeError

MOST_STEPS: Final = 2000
"""Steps of a program; a loop that has more stays as it is."""
_MOST_TOGETHER: Final = 48
"""Steps that are tried as one kernel; a loop becomes several, whose code is the same."""
_OF_FORMS: Final = frozenset(("sum", "max", "min", "pick", "put", "round", "any", "all"))
_CHEAP: Final = frozenset(
    (
        np.add, np.subtract, np.multiply, np.negative, np.absolute, np.square, np.maximum, np.minimum,
        np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and,
        np.logical_or, np.logical_not,
    )
)  # fmt: skip
"""Functions that cost less than to write what they give, and to read it again."""
_MOST_REPEATED: Final = 4
"""Steps that are computed again for a later stage."""
_SMALLER: Final = 8
"""Factor by which what was reduced is smaller, so that it is read again."""
_REDUCING: Final = frozenset(("sum", "max", "min", "pick", "any", "all"))
_FUNCTIONS: Final = frozenset((np.round, np.around))


@final
class Clusters:
    """The clusters of a trace.

    Args:
        inputs: The nodes that are given.
        results: Those that are wanted.
        always: Whether kernels are taken where NumPy's calls are faster, too.

    Attributes:
        steps: All steps behind the results, in order.
        by_node: The cluster that makes a node, for those that one does.

    Raises:
        TraceError: There are too many steps, or they read what is not given.
    """

    def __init__(self, inputs: Sequence[Node], results: Sequence[Node], *, always: bool = False) -> None:
        self._given = set(inputs)
        self._ends = set(results)
        self._always = always
        reached = behind(results) - self._given
        if any(node.leads and node.step is None for node in reached):
            raise TraceError("it reads an array that is no argument")
        found = [node for node in reached if node.step is not None]
        if len(found) > MOST_STEPS:
            raise TraceError(f"it has {len(found)} steps, and a program has {MOST_STEPS} at most")
        self.steps: Final = sorted(found, key=lambda node: node.number)
        self._readers: dict[Node, list[Node]] = {}
        for node in self.steps:
            for one in operands(node):
                self._readers.setdefault(one, []).append(node)
        self.by_node: Final[dict[Node, Cluster]] = {}
        for group in self._groups():
            for cluster in self._of_group(group):
                if self._always or cluster.cost.favour_vectors:
                    self.by_node.update(dict.fromkeys(cluster.makes, cluster))

    @cached_property
    def every(self) -> list[Cluster]:
        """Each cluster once."""
        return list(dict.fromkeys(self.by_node.values()))

    def count_readers(self, node: Node) -> int:
        """Number of readers of a node, and one more where it is a result."""
        return len(self._readers.get(node, ())) + (node in self._ends)

    def _groups(self) -> list[list[Node]]:
        """Steps of forms that hang together with no other step between them."""
        depths: dict[Node, int] = {}
        levels: dict[int, list[Node]] = {}
        for node in self.steps:
            own = max([depths.get(one, 0) + self._ends_form(one) for one in operands(node)], default=0)
            depths[node] = own
            if _is_of_forms(node):
                levels.setdefault(own, []).append(node)
        return [group for level in levels.values() for group in _side_by_side(_connected(level))]

    def _ends_form(self, node: Node) -> bool:
        return node.step is not None and node not in self._given and not _is_of_forms(node)

    def _of_group(self, group: list[Node]) -> Iterator[Cluster]:
        """The clusters of a group: the whole, its stages, or what grows out of its steps."""
        is_of_elements = all(_reduced_axes(node) is None for node in group)
        stages = [group] if is_of_elements else self._stages(group)
        if len(stages) > 1:
            for stage in stages:
                yield from self._of_group(stage)
        elif sum(not views_something(node) for node in group) > _MOST_TOGETHER:
            for first in range(0, len(group), _MOST_TOGETHER):
                for part in _connected(group[first : first + _MOST_TOGETHER]):
                    yield from self._of_group(part)
        elif (whole := self._tried(group)) is not None and (self._always or whole.cost.favour_vectors):
            yield whole
        elif len(parts := _connected(group)) > 1:
            for part in parts:
                yield from self._of_group(part)
        elif whole is None:
            yield from self._grown(group)

    def _stages(self, group: list[Node]) -> list[list[Node]]:
        """Steps by the axes that they wait for: one kernel reduces along the same ones.

        What no reduction of a stage reads is computed in the stage that reads it, so that what goes from
        stage to stage is what was reduced.
        """
        reduced: list[Any] = [None]
        stages: dict[Node, int] = {}
        for node in group:
            own = max([stages.get(one, 0) for one in operands(node)], default=0)
            axes = _reduced_axes(node)
            while reduced[own] is not None and _is_apart(node, axes, reduced[own]):
                own += 1
                reduced += [None] * (own == len(reduced))
            if axes is not None:
                reduced[own] = axes
            stages[node] = own
        for node in reversed(group):
            readers = self._readers.get(node, ())
            if _reduced_axes(node) is None and node not in self._ends and stages.keys() >= set(readers):
                stages[node] = min(stages[one] for one in readers)
        for node in group:
            for number in sorted(
                {stages.get(one, 0) for one in self._readers.get(node, ())} - {stages[node]}
            ):
                if stages[node] < number:
                    self._repeat(node, number, stages)
        found = [sorted(nodes, key=lambda node: node.number) for nodes in _by_value(stages)]
        return [stage for one in found for stage in _connected(one)]

    def _repeat(self, node: Node, stage: int, stages: dict[Node, int]) -> None:
        """Have a later stage compute again what costs less than to be written and read."""
        chain = _cheap(node, stages)
        if chain is None:
            return
        again: dict[Node, Node] = {}
        for old in chain:
            assert old.step is not None
            made = again[old] = Node(PROGRAM, old.value, is_input=True)
            made.number, made.line = old.number, old.line
            made.step = _reading(old.step, again)
            stages[made] = stage
            for one in operands(made):
                self._readers.setdefault(one, []).append(made)
        for reader in list(self._readers[node]):
            if stages.get(reader) == stage and reader not in again.values():
                assert reader.step is not None
                reader.step = _reading(reader.step, {node: again[node]})
                self._readers[node].remove(reader)
                self._readers.setdefault(again[node], []).append(reader)

    def _grown(self, group: list[Node]) -> Iterator[Cluster]:
        parts: list[list[Node]] = []
        for node in group:
            read = set(operands(node))
            near = sorted((part for part in parts if not read.isdisjoint(part)), key=len, reverse=True)
            tries = [near] if len(near) > 1 else []
            for found in (*tries, *([part] for part in near)):
                joined = sorted({node, *(one for part in found for one in part)}, key=lambda n: n.number)
                if not self._is_cyclic(joined, parts) and self._may_be(joined):
                    parts = [part for part in parts if all(part is not one for one in found)] + [joined]
                    break
            else:
                if self._may_be([node]):
                    parts.append([node])
        for part in parts:
            if (found_one := self._tried(part)) is not None:
                yield found_one

    def _may_be(self, members: Sequence[Node]) -> bool:
        """Return whether steps are a kernel, or without floating numbers may be one with what reads them."""
        return not any(map(_has_floats, members)) or self._tried(members) is not None

    def _is_cyclic(self, joined: Collection[Node], parts: Sequence[list[Node]]) -> bool:
        """Return whether something outside would wait for these steps, and they for it."""
        inside, home = set(joined), {node: part for part in parts for node in part}
        left = [one for node in joined for one in operands(node) if one not in inside]
        seen = set[Node]()
        while left:
            node = left.pop()
            if node in inside:
                return True
            if node not in seen:
                seen.add(node)
                left += [one for each_one in home.get(node, [node]) for one in operands(each_one)]
        return False

    def _tried(self, members: Sequence[Node]) -> Cluster | None:
        makes = self._needed(members)
        inside = set(members)
        if not makes:
            return None
        try:
            return cluster_of(sorted(behind(makes, inside), key=lambda node: node.number), makes)
        except (TraceError, NoVectorCodeError):
            return None

    def _needed(self, members: Sequence[Node]) -> list[Node]:
        """Results of some steps that others read: of a view, the array that it is a view of."""
        inside, found = set(members), dict[Node, None]()
        for node in members:
            if node not in self._ends and inside.issuperset(self._readers.get(node, ())):
                continue
            while node in inside and views_something(node):
                node = operands(node)[0]
            if node in inside:
                found[node] = None
        return list(found)


def _is_apart(node: Node, axes: Any, reduced: Any) -> bool:
    """Return whether a step is none of a stage: it reduces other axes, or repeats what is reduced."""
    if axes is not None:
        return bool(axes != reduced)
    return bool(node.value.size > prod(reduced[0]))


def _by_value(stages: dict[Node, int]) -> list[list[Node]]:
    found: dict[int, list[Node]] = {}
    for node, stage in stages.items():
        found.setdefault(stage, []).append(node)
    return [found[stage] for stage in sorted(found)]


def _reading(step: AppliedPrimitive, instead: dict[Node, Node]) -> AppliedPrimitive:
    """A step that reads other nodes in the place of some."""
    args = [
        each(arg, lambda one: instead.get(one, one) if isinstance(one, Node) else one) for arg in step.args
    ]
    return step._replace(args=args)


def _cheap(node: Node, stages: dict[Node, int]) -> list[Node] | None:
    """The few cheap steps that give a node from what is there or smaller, in order; None if it is not so."""
    chain: list[Node] = []
    left = [node]
    while left:
        one = left.pop()
        if one in chain or one not in stages or one.value.size * _SMALLER <= node.value.size:
            continue
        assert one.step is not None
        is_cheap = one.step.primitive.function in _CHEAP or one.step.primitive.form in ("where", "cast")
        if not (is_cheap or views_something(one)) or len(chain) == _MOST_REPEATED:
            return None
        chain.append(one)
        left += operands(one)
    return sorted(chain, key=lambda one: one.number) or None


def _connected(nodes: Sequence[Node]) -> list[list[Node]]:
    """Nodes, each list of those that hang together."""
    group: dict[Node, list[Node]] = {}
    for node in nodes:
        joined = [node]
        for one in operands(node):
            other = group.get(one)
            if other is not None and other is not joined:
                small, joined = sorted((other, joined), key=len)
                joined += small
                group.update(dict.fromkeys(joined, joined))
        group[node] = joined
    return [
        sorted(one, key=lambda node: node.number) for one in {id(one): one for one in group.values()}.values()
    ]


def _side_by_side(groups: list[list[Node]]) -> list[list[Node]]:
    """Groups, of which those of elements that make arrays of one shape and read the same one are joined."""
    joined: list[list[Node]] = []
    homes: dict[tuple[Any, Node], list[Node]] = {}
    for group in groups:
        shapes = {node.value.shape for node in group if not views_something(node)}
        is_joinable = len(shapes) == 1 and all(_reduced_axes(node) is None for node in group)
        read = dict.fromkeys(one for node in group for one in operands(node) if one not in group)
        shared = [(one.value.shape, one) for one in read if is_joinable and one.value.shape in shapes]
        home = next((homes[key] for key in shared if key in homes), None)
        if home is None or len(home) + len(group) > _MOST_TOGETHER:
            joined.append(home := [])
        home += group
        home.sort(key=lambda node: node.number)
        homes.update(dict.fromkeys(shared, home))
    return joined


def _reduced_axes(node: Node) -> Any:
    """The shape that a step reduces, and the axes along which it does; None for one that reduces nothing."""
    assert node.step is not None
    primitive, args, _ = node.step
    if primitive.form not in _REDUCING:
        return None
    shape = args[0].value.shape
    axis = args[-1 if primitive.form == "pick" else 1]
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis) % max(1, len(shape))
    return shape, tuple(sorted(map(int, axes)))


def _has_floats(node: Node) -> bool:
    """Return whether a step alone may be a kernel; what it cannot be alone, it may be with what reads it."""
    return not views_something(node) and any(one.value.dtype.kind == "f" for one in operands(node))


def _is_of_forms(node: Node) -> bool:
    assert node.step is not None
    primitive, args, _ = node.step
    if is_elementwise(primitive):
        return True
    if primitive.form == "take":
        return is_whole(args[1], args[0].value.shape)
    if primitive.form == "replace":
        index = args[2]
        is_mask = isinstance(index, Node) and index.value.dtype == bool
        return is_mask or (is_basic(index) and is_whole(index, node.value.shape))
    return (
        primitive.form in _OF_FORMS
        or primitive.form in ("reshape", "transpose", "broadcast")
        or (primitive.function in _FUNCTIONS)
    )
