"""The gradient pass: backward nodes for a graph.

Two sweeps. The first, from inputs to outputs, decides which nodes matter: for each operator node,
the arguments whose gradient somebody will use, and so the entries its backward will read. An
argument's gradient is used if it is asked for, or if the backward of its producer reads it; that of
a loss does not, so nothing is computed above a loss for its sake. The second sweep, from outputs to
inputs, makes the backward nodes and sums the gradients that meet.

What leads to no wanted entry gets no backward node, and neither does a node to which no gradient
flows. No gradient flows through arguments that the operator calls not differentiable.

Sums: up to `MAX_SUM_ARGS` gradients are added by one node, which reads memory once. More are added
by a chain of nodes, one at a time in the order they appear, so that two buffers suffice for any
number of uses. Both add from left to right, hence round alike.

Source: Gradient, nnvm/src/pass/gradient.cc. Differs: a node that no gradient reaches is pruned
rather than fed zeros, also if it is a loss (a loss under `BlockGrad` sends nothing down).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, final

from operad.errors import GradientError
from operad.graph.ir import BackwardNode, Entry, Node, OpNode, depth_first, topological_order
from operad.graph.primitives import GradAdd, ZerosLike
from operad.operator import BackwardEntry

MAX_SUM_ARGS: Final = 8
"""How many gradients one node adds."""


def gradient(
    outputs: Sequence[Entry], head_grads: Sequence[Entry | None], wrt: Sequence[Entry]
) -> list[Entry]:
    """The gradients of `outputs`, weighted with `head_grads` and summed, with respect to `wrt`.

    Every gradient returned is produced by a node of its own and read by no other node, so that the
    caller may bind it to an array under any request, `ADD` included. An entry of `wrt` that no
    gradient reaches gets zeros, whether the outputs depend on it or not.

    Args:
        outputs: Entries to differentiate. An entry that stands twice counts twice.
        head_grads: One gradient an output. None will do where the operator does not read it (a
            loss), or where nothing wanted lies below.
        wrt: Entries whose gradients are wanted; variables or others.
    Raises:
        GradientError: A head gradient that is needed is None, or the way to a wanted entry leads
            through a backward node (a gradient of a gradient).
    """
    return _GradientPass(outputs, head_grads, wrt).run()


class _Demand(NamedTuple):
    """What is asked of one operator node.

    Attributes:
        wanted: One flag an argument: whether somebody will use its gradient.
        reads: What its backward then reads; empty if no gradient is wanted.
        below: The producers of arguments that gradients go down to.
    """

    wanted: tuple[bool, ...]
    reads: tuple[BackwardEntry, ...]
    below: tuple[Node, ...]

    def reads_out_grad(self, index: int) -> bool:
        return BackwardEntry("out_grad", index) in self.reads


def _demands(order: Iterable[Node], wrt: Iterable[Entry]) -> tuple[dict[Node, _Demand], set[BackwardNode]]:
    """The demands on the nodes that lead to `wrt`, and the backward nodes that do."""
    targets = set(wrt)
    target_nodes = {entry.node for entry in targets}
    demands: dict[Node, _Demand] = {}
    second_order: set[BackwardNode] = set()
    for node in order:
        if isinstance(node, BackwardNode):
            if any(_leads(entry.node, demands, second_order, target_nodes) for entry in node.inputs):
                second_order.add(node)
        elif isinstance(node, OpNode):
            flows = list(zip(node.args, node.op.differentiable_inputs(), strict=True))
            below = [
                entry.node for entry, flag in flows
                if flag and _leads(entry.node, demands, second_order, target_nodes)
            ]  # fmt: skip
            if below:
                wanted = tuple(flag and _uses(entry, targets, demands, second_order) for entry, flag in flows)
                reads = node.op.backward_dependency(wanted) if any(wanted) else ()
                demands[node] = _Demand(wanted, tuple(reads), tuple(below))
    return demands, second_order


def _leads(
    node: Node, demands: dict[Node, _Demand], second_order: set[BackwardNode], targets: set[Node]
) -> bool:
    return node in demands or node in second_order or node in targets


def _uses(
    entry: Entry, targets: set[Entry], demands: dict[Node, _Demand], second_order: set[BackwardNode]
) -> bool:
    if entry in targets or entry.node in second_order:
        return True
    demand = demands.get(entry.node)
    return demand is not None and demand.reads_out_grad(entry.index)


@final
class _GradientPass:
    def __init__(
        self, outputs: Sequence[Entry], head_grads: Sequence[Entry | None], wrt: Sequence[Entry]
    ) -> None:
        self._wrt = wrt
        self._demands, self._second_order = _demands(topological_order(outputs), wrt)
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

    def _below(self, node: Node) -> tuple[Node, ...]:
        demand = self._demands.get(node)
        return demand.below if demand is not None else ()

    def run(self) -> list[Entry]:
        for node in reversed(self._order):
            if node in self._reached and node in self._second_order:
                raise GradientError(
                    f"cannot differentiate through {node.name!r}: it is itself a gradient, and gradients of "
                    "gradients are not supported"
                )
            demand = self._demands.get(node) if isinstance(node, OpNode) else None
            if node in self._reached and demand is not None:
                assert isinstance(node, OpNode)
                self._differentiate(node, demand)
        totals = [self._total(entry) for entry in self._wrt]
        self._taken.update(total for total, uses in Counter(totals).items() if total and uses > 1)
        return [self._result(entry) for entry in self._wrt]

    def _differentiate(self, node: OpNode, demand: _Demand) -> None:
        heads = [Entry(node, read.index) for read in demand.reads if read.kind == "out_grad"]
        for entry in heads:
            self._require_head(entry)
        if heads and not any(entry in self._terms for entry in heads):
            return  # nothing flows in, so nothing flows out
        if any(demand.wanted):
            inputs = [self._resolve(node, read) for read in demand.reads]
            self._taken.update(inputs)
            backward = BackwardNode(node, demand.reads, demand.wanted, inputs)
            for index, (arg, wanted) in enumerate(zip(node.args, demand.wanted, strict=True)):
                if wanted:
                    self._terms.setdefault(arg, []).append(Entry(backward, index))
        self._reached.update(demand.below)

    def _resolve(self, node: OpNode, read: BackwardEntry) -> Entry:
        if read.kind == "in_data":
            return node.args[read.index]
        entry = Entry(node, read.index)
        if read.kind == "out_data":
            return entry
        return self._total(entry) or _zeros(entry)

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
        if len(terms) <= MAX_SUM_ARGS:
            terms[:] = [self._sum(entry, terms)] if len(terms) > 1 else terms
        while len(terms) > 1:
            terms[:2] = [self._sum(entry, terms[:2])]
        return terms[0]

    def _sum(self, entry: Entry, terms: Sequence[Entry]) -> Entry:
        self._taken.update(terms)
        return Entry(OpNode(GradAdd(num_args=len(terms)), f"{entry.name}_grad", terms, _group_of(entry)))

    def _result(self, entry: Entry) -> Entry:
        self._require_head(entry)
        found = self._total(entry) or _zeros(entry)
        if found in self._taken:
            found = self._sum(entry, [found])
        return found


def _zeros(entry: Entry) -> Entry:
    return Entry(OpNode(ZerosLike(), f"{entry.name}_grad", [entry], _group_of(entry)))


def _group_of(entry: Entry) -> dict[str, str]:
    """Attributes that place a gradient with the value it is the gradient of."""
    group = entry.node.attrs.get("__ctx_group__")
    return {} if group is None else {"__ctx_group__": group}
