"""The gradient pass: nodes that compute gradients of a graph.

Two sweeps. The first, from inputs to outputs, decides which nodes matter: for each operator node,
the arguments whose gradient is used, and so the entries its backward will read. An
argument's gradient is used if it is asked for, or if the backward of its producer reads it; that of
a loss does not, so nothing is computed above a loss for its sake. The second sweep, from outputs to
inputs, makes the nodes that compute gradients and sums the gradients that meet.

What leads to no wanted entry gets no such node, and neither does a node to which no gradient
flows. No gradient flows through arguments that the operator calls not differentiable; what no gradient
reaches has a gradient of zeros.

Sums. Gradients of one entry are added in the order in which the second sweep meets its readers, that of
the last reader first: `((g1 + g2) + g3) + ...`; a head gradient comes before them all. The gradients of
an entry with one or two readers are added by one node. From three on each of their nodes adds its own to
the sum of those before it, in the sum's memory (`OpNode.adds_to`): otherwise an unrolled network
would hold one gradient per use of a weight until all of them are added. What this costs is that the
nodes of one entry's gradients run one after another. Symbols get one node that adds them all, since
they may read every entry.

Source: Gradient, nnvm/src/pass/gradient.cc. Differs: a node that no gradient reaches is pruned
rather than fed zeros, also if it is a loss (a loss under `BlockGrad` sends nothing down).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple, final

from operad.errors import GradientError
from operad.graph.ir import Entry, Node, OpNode, Variable, depth_first, topological_order
from operad.graph.primitives import GradAdd, OnesLike, ZerosLike
from operad.graph.signature import Memo
from operad.op import Gradient, OperatorProperty

MAX_SUM_READERS: Final = 2
"""The gradients of an entry with more readers are added in the memory of the sum."""


def gradient(
    outputs: Sequence[Entry],
    head_grads: Sequence[Entry | None],
    wrt: Sequence[Entry],
    order: Iterable[Node] | None = None,
    adds_in_place: bool = True,
) -> list[Entry]:
    """The gradients of `outputs`, weighted with `head_grads` and summed, with respect to `wrt`.

    Every gradient returned is produced by a node of its own and read by no other node, so that the
    caller may bind it to an array under any request, `ADD` included. An entry of `wrt` that no
    gradient reaches gets zeros, whether the outputs depend on it or not.

    Args:
        outputs: Entries to differentiate. An entry that stands twice counts twice.
        head_grads: One gradient per output. None will do where the operator does not read it (a
            loss), or where nothing wanted lies below.
        wrt: Entries whose gradients are wanted; variables or others.
        order: The nodes of `outputs` in topological order, where the caller has it.
        adds_in_place: Whether gradients of many readers are added to a sum in its memory.
    Raises:
        GradientError: A head gradient that is needed is None, or a node on the way adds to a sum in place.
    """
    nodes = topological_order(outputs) if order is None else order
    return _GradientPass(outputs, head_grads, wrt, nodes, adds_in_place).run()


class _Demand(NamedTuple):
    """Gradients that are asked of one operator node.

    Attributes:
        wanted: One flag per argument: whether its gradient is used.
        op: What computes these gradients; None if none is wanted.
        heads: The outputs whose gradients it reads.
        below: The producers of arguments that gradients go down to.
    """

    wanted: tuple[bool, ...]
    op: Gradient | None
    heads: tuple[int, ...]
    below: tuple[Node, ...]


def _with_heads(op: OperatorProperty, wanted: tuple[bool, ...]) -> tuple[Gradient | None, tuple[int, ...]]:
    if True not in wanted:
        return None, ()
    found = Gradient(op, wanted)
    return found, tuple([index for kind, index in found.reads if kind == "out_grad"])


def ones_like(entry: Entry) -> Entry:
    """The head gradient of an output whose elements are summed."""
    return _primitive(_ONES_LIKE, entry, [entry])


@final
class _GradientPass:
    def __init__(
        self,
        outputs: Sequence[Entry],
        head_grads: Sequence[Entry | None],
        wrt: Sequence[Entry],
        order: Iterable[Node],
        adds_in_place: bool,
    ) -> None:
        self._wrt = wrt
        self._adds_in_place = adds_in_place
        self._targets = set(wrt)
        self._leads = {entry.node for entry in wrt}  # the nodes on the ways to `wrt`
        self._demands: dict[Node, _Demand] = {}
        self._readers: Counter[Entry] = Counter()  # nodes that will give a gradient of the entry
        self._flags: Memo[list[bool]] = Memo()
        # Nodes that act alike share a gradient, so that each question is asked once.
        self._operators: Memo[tuple[Gradient | None, tuple[int, ...]]] = Memo()
        for node in order:
            if isinstance(node, OpNode):
                self._ask(node)
        # Along the ways gradients flow and no others, so that what lies beside them (constants of a
        # recorded program, say) cannot change the order in which gradients are summed.
        self._order = depth_first(outputs, self._below)
        self._reached = {entry.node for entry in outputs}
        self._terms: dict[Entry, list[Entry]] = {}
        self._missing: dict[Entry, int] = {}
        # invariant: holds every gradient that some node reads or the caller gave
        self._taken: set[Entry] = set()
        for index, (entry, head) in enumerate(zip(outputs, head_grads, strict=True)):
            if head is None:
                self._missing.setdefault(entry, index)
            else:
                self._terms.setdefault(entry, []).append(head)
                self._taken.add(head)

    def _ask(self, node: OpNode) -> None:
        """Note what is asked of a node, if it leads to `wrt`; those it reads have been asked."""
        differentiable = self._flags.get(node.signature, node.op.differentiable_inputs)
        flows = [
            entry if flag and entry[0] in self._leads else None
            for entry, flag in zip(node.inputs, differentiable, strict=False)
        ]
        below = tuple([entry[0] for entry in flows if entry is not None])
        if below:
            used = [entry if entry is not None and self._is_used(entry) else None for entry in flows]
            self._readers.update([entry for entry in used if entry is not None])
            wanted = tuple([entry is not None for entry in used])
            found = self._operators.get((node.signature, wanted), _with_heads, node.op, wanted)
            self._demands[node] = _Demand(wanted, *found, below)
            self._leads.add(node)

    def _is_used(self, entry: Entry) -> bool:
        demand = self._demands.get(entry[0])
        if demand is not None and entry[1] in demand.heads:
            return True
        return entry in self._targets

    def _below(self, node: Node) -> tuple[Node, ...]:
        demand = self._demands.get(node)
        return demand.below if demand is not None else ()

    def run(self) -> list[Entry]:
        for node in reversed(self._order):
            if node not in self._reached:
                continue
            demand = self._demands.get(node)
            if demand is not None:
                assert isinstance(node, OpNode)
                self._differentiate(node, demand)
        totals = [self._total(entry) for entry in self._wrt]
        self._taken.update(total for total, uses in Counter(totals).items() if total and uses > 1)
        return [self._result(entry) for entry in self._wrt]

    def _differentiate(self, node: OpNode, demand: _Demand) -> None:
        heads = [Entry(node, index) for index in demand.heads]
        for entry in heads:
            self._require_head(entry)
        if heads and not any(entry in self._terms for entry in heads):
            return  # nothing flows in, so nothing flows out
        if isinstance(node.op, Gradient) and not node.op.reads_heads and self._is_reached(node):
            raise GradientError(
                f"cannot differentiate {node.name!r}: the gradient of {node.op.of.name} does not read the "
                "gradient of the output, so it is not differentiable; where only its values "
                "are wanted, bind with grad_req='null'"
            )
        op = demand.op
        if op is not None:
            if node.adds_to:
                raise GradientError(
                    f"cannot differentiate {node.name!r}: it adds to a sum in the memory of that; "
                    "Symbol.gradient makes gradients that do not"
                )
            inputs = [self._resolve(node, kind, index) for kind, index in op.entries]
            sums = self._sums(node, demand)
            adds_to = [op.targets.index(index) for index in sums]
            inputs += [*node.aux, *sums.values()]
            backward = OpNode(op, f"{node.name}_backward", inputs, node.attrs, node, adds_to)
            if op.is_stateful:
                backward.control_deps = [node]  # which leaves in the operator what this needs
            self._taken.update(backward.inputs)
            for position, index in enumerate(op.targets):
                if index in sums:
                    self._terms[node.inputs[index]] = [Entry(backward, position)]
                else:
                    self._terms.setdefault(node.inputs[index], []).append(Entry(backward, position))
        self._reached.update(demand.below)

    def _is_reached(self, node: Node) -> bool:
        return any(Entry(node, index) in self._terms for index in range(node.num_outputs))

    def _sums(self, node: OpNode, demand: _Demand) -> dict[int, Entry]:
        """The sums that gradients of `node` are added to, by the argument's index."""
        sums: dict[int, Entry] = {}
        if not self._adds_in_place:
            return sums
        for index, wanted in enumerate(demand.wanted):
            entry = node.inputs[index]
            # One gradient per sum: that of an argument given twice waits beside it for the next reader.
            if wanted and self._readers[entry] > MAX_SUM_READERS and entry not in node.inputs[:index]:
                total = self._total(entry)
                if total is not None:
                    is_head = isinstance(total.node, Variable) or total in self._taken
                    sums[index] = self._sum(entry, [total]) if is_head else total
        return sums

    def _resolve(self, node: OpNode, kind: str, index: int) -> Entry:
        if kind == "in_data":
            return node.inputs[index]
        entry = Entry(node, index)
        if kind == "out_data":
            return entry
        return self._total(entry) or _primitive(_ZEROS_LIKE, entry, [entry])

    def _require_head(self, entry: Entry) -> None:
        index = self._missing.get(entry)
        if index is not None:
            raise GradientError(
                f"output {index} ({entry.name!r}) needs a head gradient: a requested gradient depends on it; "
                "pass one in head_grads, or make the output a loss"
            )

    def _total(self, entry: Entry) -> Entry | None:
        terms = self._terms.get(entry)
        if not terms:
            return None
        if len(terms) > 1:
            terms[:] = [self._sum(entry, terms)]
        return terms[0]

    def _sum(self, entry: Entry, terms: Sequence[Entry]) -> Entry:
        self._taken.update(terms)
        return _primitive(_grad_add(len(terms)), entry, terms)

    def _result(self, entry: Entry) -> Entry:
        self._require_head(entry)
        found = self._total(entry) or _primitive(_ZEROS_LIKE, entry, [entry])
        if found in self._taken:
            found = self._sum(entry, [found])
        return found


_ZEROS_LIKE: Final = ZerosLike()
_ONES_LIKE: Final = OnesLike()


@cache
def _grad_add(num_args: int) -> GradAdd:
    return GradAdd(num_args=num_args)


def _primitive(op: OperatorProperty, entry: Entry, inputs: Sequence[Entry]) -> Entry:
    """A gradient of `entry`, made by one of the graph's own operators, in the group of `entry`."""
    group = entry.node.attrs.get("__ctx_group__")
    attrs = None if group is None else {"__ctx_group__": group}
    return Entry(OpNode(op, f"{entry.name}_grad", inputs, attrs))
