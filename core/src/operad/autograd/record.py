"""Recording: imperative calls become nodes of a graph.

A recorded array knows the graph entry it is the value of. A node keeps exactly the arrays that the
operator declared its gradient to read; every other buffer is free as soon as the caller lets go of
it. What a node keeps does not refer back to the graph, so a graph dies with the last array that
depends on it, without the help of the garbage collector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from operad.graph import Entry, OpNode, Variable
from operad.ndarray import NDArray, Plan, Spec, overwritten
from operad.operator import BackwardEntry


@final
class GradBuffer:
    """Where the gradient of a marked variable goes.

    Attributes:
        array: The buffer.
        req: `write`, `add` or `null`.
    """

    __slots__ = ("array", "req")

    def __init__(self, array: NDArray, req: str) -> None:
        self.array = array
        self.req = req


@final
class Info:
    """What autograd knows of an array: its entry, and its gradient buffer if it is marked."""

    __slots__ = ("buffer", "entry")

    def __init__(self, entry: Entry, buffer: GradBuffer | None = None) -> None:
        self.entry = entry
        self.buffer = buffer

    @property
    def grad(self) -> NDArray | None:
        """The gradient buffer."""
        return None if self.buffer is None else self.buffer.array


@final
class Saved:
    """What a recorded node keeps for its gradient.

    Attributes:
        plan: How the call was run; None for a `Function`.
        out_specs: Specifications of the outputs.
        arrays: By what they are: argument or output, and its index.
        aux: The auxiliary states.
    """

    __slots__ = ("_versions", "arrays", "aux", "out_specs", "plan")

    def __init__(
        self,
        plan: Plan | None,
        out_specs: Sequence[Spec],
        arrays: dict[BackwardEntry, NDArray],
        aux: Sequence[NDArray],
    ) -> None:
        self.plan = plan
        self.out_specs = out_specs
        self.arrays = arrays
        self.aux = aux
        self._versions = [array._chunk.var.version for array in arrays.values()]

    def check_unchanged(self) -> None:
        """Raise GradientError if an array the gradient reads was written after it was recorded."""
        for (key, array), version in zip(self.arrays.items(), self._versions, strict=True):
            if array._chunk.var.version != version:
                assert self.plan is not None
                prop = self.plan.prop
                names = prop.list_arguments() if key.kind == "in_data" else prop.list_outputs()
                raise overwritten(f"backward of {prop.name}", f"its {names[key.index]}", "it was recorded")


FREED: Final = Saved(None, (), {}, ())
"""What a node keeps after a backward that did not retain the graph."""

_CONSTANT: Final = Entry(Variable("constant"))
"""Stands for every array that no gradient flows to."""


@final
class Tape:
    """The recorder that `record()` puts into the thread's state."""

    def tracks(self, array: NDArray) -> bool:
        """Whether a gradient may flow to `array`."""
        return array._autograd is not None

    def record(self, plan: Plan, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> None:
        """Add a node for a call, if a gradient may flow to one of its arguments."""
        num_args = plan.num_args
        wanted = tuple([x._autograd is not None for x in inputs[:num_args]])
        if True not in wanted:
            return
        reads = plan.backward_reads(wanted)
        if reads is None:
            return
        arrays: dict[BackwardEntry, NDArray] = {}
        for read in reads:
            if read.kind == "in_data":
                arrays[read] = inputs[read.index].detach()
            elif read.kind == "out_data":
                arrays[read] = outputs[read.index].detach()
        entries = [_CONSTANT if x._autograd is None else x._autograd.entry for x in inputs[:num_args]]
        node = OpNode(plan.prop, plan.name, entries)
        node.saved = Saved(plan, plan.out_specs, arrays, [aux.detach() for aux in inputs[num_args:]])
        for i in range(plan.num_visible):
            outputs[i]._autograd = Info(Entry(node, i))


tape: Final = Tape()
