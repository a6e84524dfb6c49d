"""The tape: imperative calls that were recorded, each a node that knows the nodes of its inputs.

An array's place on the tape is a pair: the node it comes from, and which of its outputs it is. A node
keeps exactly the arrays that the operator declared its gradient to read; every other buffer is free as
soon as the caller lets go of it.

# invariant: what a node keeps are detached arrays, which have no place on the tape. So nodes refer to
# earlier nodes only, there is no cycle, and a tape dies with the last array that depends on it, without
# the help of the garbage collector. No list of all nodes exists.

Nodes become nodes of a graph only when a backward pass is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from operator import attrgetter
from typing import Final, final

from operad.imperative.aliases import refuse_aliases
from operad.imperative.array import Array, Provenance
from operad.imperative.plan import Plan, Recordable
from operad.imperative.versions import overwritten

_numbers: Final = count()
_number_of: Final = attrgetter("number")
_entry_of: Final = attrgetter("_autograd")
_ONE: Final = (True,)
_new: Final = object.__new__
version_of: Final = attrgetter("_chunk.var.version")
"""Number of writes to an array's memory."""


@final
class Marked:
    """An array that gradients are computed for: where the tape begins.

    Attributes:
        number: Position in the order of recording.
        grad: The gradient buffer.
        req: How a backward pass writes it: `write`, `add` or `null`.
        is_fresh: Whether one has written it since somebody set this to False.
    """

    __slots__ = ("grad", "is_fresh", "number", "req")

    def __init__(self, grad: Array, req: str) -> None:
        self.number = next(_numbers)
        self.grad = grad
        self.req = req
        self.is_fresh = False


@final
class TapeNode:
    """A recorded call.

    Attributes:
        number: Position in the order of recording; larger than that of every node of `inputs`.
        plan: What was called.
        inputs: For each argument its place on the tape; None where no gradient flows to it.
        saved: What the gradient reads of arguments and outputs, in the order of `plan.saved_tensors`; None
            once a backward pass that did not retain it has run.
        versions: How often the variables of `saved` had been written when the call was recorded.
        aux: The auxiliary states.
    """

    __slots__ = ("aux", "inputs", "number", "plan", "saved", "versions")

    def __init__(
        self,
        plan: Recordable,
        inputs: tuple[TapeEntry | None, ...],
        saved: Sequence[Array] = (),
        aux: Sequence[Array] = (),
    ) -> None:
        self.number = next(_numbers)
        self.plan = plan
        self.inputs = inputs
        self.saved: Sequence[Array] | None = saved
        self.versions = list(map(version_of, saved))
        self.aux = aux

    def check_unchanged(self) -> None:
        """Raise GradientError if an array the gradient reads was written after it was recorded."""
        assert self.saved is not None
        for i, (array, version) in enumerate(zip(self.saved, self.versions, strict=True)):
            if array._chunk.var.version != version:
                assert isinstance(self.plan, Plan)
                prop = self.plan.prop
                kind, index = self.plan.saved_tensors(self.wanted).entries[i]
                names = prop.list_arguments() if kind == "in_data" else prop.list_outputs()
                raise overwritten(f"backward of {prop.name}", f"its {names[index]}", "it was recorded")

    @property
    def wanted(self) -> tuple[bool, ...]:
        """For each argument, whether a gradient flows to it."""
        return tuple([entry is not None for entry in self.inputs])


TapeEntry = tuple[TapeNode | Marked, int]
"""An array's place on the tape: a node, and which of its outputs the array is."""


def record(plan: Plan, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Note a call, if a gradient may flow to one of its arguments.

    Args:
        plan: How it was run.
        inputs: The arguments and then the auxiliary states.
        outputs: All outputs, hidden ones included.
    Raises:
        BindError: An input shares memory with a recorded result that it is not.
    """
    num_args = plan.signature.num_args
    entries = (inputs[0]._autograd,) if num_args == 1 else tuple(map(_entry_of, inputs[:num_args]))
    if None in entries or not entries:  # what is made of nothing is no result of a variable
        refuse_aliases(plan.name, inputs[:num_args])
        if not any(entries):
            for output in outputs:
                output._provenance = Provenance.UNTRACKED
            return
    wanted = _ONE if num_args == 1 else tuple(map(bool, entries))
    tensors = plan.saved.get(wanted) or plan.saved_tensors(wanted)
    # Written out as in `hot`: what constructors do, in one call.
    saved, versions = [], []
    arrays = (*inputs, *outputs)
    for position in tensors.positions:
        array = arrays[position]
        chunk = array._chunk
        if chunk.note is not None:
            kept = array.detach()
        else:
            kept = _new(array.__class__)
            kept._chunk = chunk
            kept._data = array._data
            kept._spec = array._spec
            kept._autograd = None
        saved.append(kept)
        versions.append(chunk.var.version)
    node = _new(TapeNode)
    node.number = next(_numbers)
    node.plan = plan
    node.inputs = entries
    node.saved = saved
    node.versions = versions
    node.aux = [x.detach() for x in inputs[num_args:]] if len(inputs) > num_args else ()
    for i in range(plan.signature.num_visible):
        outputs[i]._autograd = (node, i)


def tape_of(heads: Sequence[TapeEntry]) -> list[TapeNode | Marked]:
    """The nodes that `heads` depend on, in the order they were recorded."""
    found: dict[TapeNode | Marked, None] = dict.fromkeys(node for node, _ in heads)
    pending = list(found)
    while pending:
        node = pending.pop()
        if node.__class__ is Marked:
            continue
        for entry in node.inputs:  # type: ignore[union-attr]  # it is a node
            if entry is not None and entry[0] not in found:
                found[entry[0]] = None
                pending.append(entry[0])
    return sorted(found, key=_number_of)
