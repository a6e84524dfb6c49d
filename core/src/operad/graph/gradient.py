"""The gradient pass: backward nodes for a graph.

Two sweeps. The first, from inputs to outputs, decides which nodes matter: for each operator node,
the arguments whose gradient somebody will use, and so the entries its backward will read. An
argument's gradient is used if it is asked for, or if the backward of its producer reads it; that of
a loss does not, so nothing is computed above a loss for its sake. The second sweep, from outputs to
inputs, makes the backward nodes and sums the gradients that meet.

What leads to no wanted entry gets no backward node, and neither does a node to which no gradient
flows. No gradient flows through arguments that the operator calls not differentiable; what no gradient
reaches has a gradient of zeros.

Sums. Gradients of one entry are added in the order in which the second sweep meets its readers, that of
the last reader first: `((g1 + g2) + g3) + ...`; a head gradient comes before them all. The gradients of
an entry with one or two readers are added by one node. From three on each backward node adds its own to
the sum of those before it, in the sum's memory (`BackwardNode.adds_to`): otherwise an unrolled network
would hold one gradient per use of a weight until all of them are added. What this costs is that the
backward nodes of one entry's readers run one after another.

Source: Gradient, nnvm/src/pass/gradient.cc. Differs: a node that no gradient reaches is pruned
rather than fed zeros, also if it is a loss (a loss under `BlockGrad` sends nothing down).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, NamedTuple, final

from operad.errors import GradientError
from operad.graph.ir import BackwardNode, Entry, Node, OpNode, Variable, depth_first, topological_order
from operad.graph.primitives import GradAdd, ZerosLike
from operad.graph.signature import Answers
from operad.operator import BackwardEntry, OperatorProperty

MAX_SUM_READERS: Final = 2
"""The gradients of an entry with more readers are added in the memory of the sum."""


def gradient(
    outputs: Sequence[Entry],
    head_grads: Sequence[Entry | None],
    wrt: Sequence[Entry],
    order: Iterable[Node] | None = None,
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
    Raises:
        GradientError: A head gradient that is needed is None, or the way to a wanted entry leads
            through a backward node (a gradient of a gradient).
    """
    return _GradientPass(
        outputs, head_grads, wrt, topological_order(outputs) if order is None else order
    ).run()


class _Demand(NamedTuple):
    """What is asked of one operator node.

    Attributes:
        wanted: One flag per argument: whether somebody will use its gradient.
        reads: What its backward then reads; empty if no gradient is wanted.
        heads: The outputs whose gradients are among them.
        below: The producers of arguments that gradients go down to.
    """

    wanted: tuple[bool, ...]
    reads: tuple[BackwardEntry, ...]
    heads: tuple[int, ...]
    below: tuple[Node, ...]


def _read_with_heads(
    op: OperatorProperty, wanted: tuple[bool, ...]
) -> tuple[tuple[BackwardEntry, ...], tuple[int, ...]]:
    reads = tuple(op.backward_dependency(wanted)) if True in wanted else ()
    return reads, tuple([index for kind, index in reads if kind == "out_grad"])


@final
class _GradientPass:
    def __init__(
        self,
        outputs: Sequence[Entry],
        head_grads: Sequence[Entry | None],
        wrt: Sequence[Entry],
        order: Iterable[Node],
    ) -> None:
        self._wrt = wrt
        self._targets = set(wrt)
        self._leads = {entry.node for entry in wrt}  # the nodes on the ways to `wrt`
        self._second_order: set[Node] = set()  # the backward nodes among them
        self._demands: dict[Node, _Demand] = {}
        self._readers: Counter[Entry] = Counter()  # backward nodes that will give a gradient of the entry
        self._flags: Answers[list[bool]] = Answers()
        self._reads: Answers[tuple[tuple[BackwardEntry, ...], tuple[int, ...]]] = Answers()
        for node in order:
            if isinstance(node, OpNode):
                self._ask(node)
            elif isinstance(node, BackwardNode) and any(entry.node in self._leads for entry in node.inputs):
                self._second_order.add(node)
                self._leads.add(node)
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
            read = self._reads.get((node.signature, wanted), _read_with_heads, node.op, wanted)
            self._demands[node] = _Demand(wanted, *read, below)
            self._leads.add(node)

    def _is_used(self, entry: Entry) -> bool:
        demand = self._demands.get(entry[0])
        if demand is not None and entry[1] in demand.heads:
            return True
        return entry in self._targets or entry[0] in self._second_order

    def _below(self, node: Node) -> tuple[Node, ...]:
        demand = self._demands.get(node)
        return demand.below if demand is not None else ()

    def run(self) -> list[Entry]:
        for node in reversed(self._order):
            if node not in self._reached:
                continue
            if node in self._second_order:
                raise GradientError(
                    f"cannot differentiate through {node.name!r}: it is itself a gradient, and graphs are "
                    "differentiated once; record the operators and use autograd.grad(create_graph=True)"
                )
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
        if True in demand.wanted:
            inputs = [self._resolve(node, kind, index) for kind, index in demand.reads]
            sums = self._sums(node, demand)
            backward = BackwardNode(node, demand.reads, demand.wanted, [*inputs, *sums.values()], tuple(sums))
            self._taken.update(backward.inputs)
            for index, wanted in enumerate(demand.wanted):
                if index in sums:
                    self._terms[node.inputs[index]] = [Entry(backward, index)]
                elif wanted:
                    self._terms.setdefault(node.inputs[index], []).append(Entry(backward, index))
        self._reached.update(demand.below)

    def _sums(self, node: OpNode, demand: _Demand) -> dict[int, Entry]:
        """The sums that gradients of `node` are added to, by the argument's index."""
        sums: dict[int, Entry] = {}
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
                f"output {index} ({entry.name!r}) needs a head gradient, for what is wanted depends on it; "
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


@cache
def _grad_add(num_args: int) -> GradAdd:
    return GradAdd(num_args=num_args)


def _primitive(op: OperatorProperty, entry: Entry, inputs: Sequence[Entry]) -> Entry:
    """A gradient of `entry`, made by one of the graph's own operators, in the group of `entry`."""
    group = entry.node.attrs.get("__ctx_group__")
    attrs = None if group is None else {"__ctx_group__": group}
    return Entry(OpNode(op, f"{entry.name}_grad", inputs, attrs))
