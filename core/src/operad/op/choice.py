"""The kernels of one call, part by part, and the operator that they make together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import final

from operad.op.cost import Cost, gradient_cost, own_cost
from operad.op.kernel import FORWARD, Candidate, Kernel, KernelCall, no_kernel, ranked
from operad.op.operator import Operator
from operad.op.parts import PartsOperator
from operad.op.rates import rates


@final
class Choice:
    """Which kernel computes what of a call.

    Attributes:
        call: The call.
        kernels: The kernel of each part; None where none applies. One of the outputs alone
            computes all parts.
    """

    __slots__ = ("call", "kernels")

    def __init__(self, call: KernelCall, kernels: Mapping[str, Kernel | None]) -> None:
        self.call = call
        self.kernels = kernels

    @property
    def forward(self) -> Kernel:
        """The kernel that computes the outputs."""
        kernel = self.kernels[FORWARD]
        assert kernel is not None
        return kernel

    @property
    def has_costs(self) -> bool:
        """Whether more is known of the costs of any of the kernels than what the operator says."""
        measured = rates().kernels
        kernels = [kernel for kernel in self.kernels.values() if kernel is not None]
        return any(kernel.cost is not None or kernel.name in measured for kernel in kernels)

    def of(self, parts: Sequence[str]) -> list[Kernel]:
        """The kernels that compute some parts, each once."""
        found = [self.kernels.get(part, self.forward) for part in parts]
        return list({id(kernel): kernel for kernel in found if kernel is not None}.values())

    def cost(self, parts: Sequence[str]) -> Cost:
        """What some parts compute together: what their kernels say, or else the operator.

        Measurements of `operad tune` correct either.
        """
        call, kernels = self.call, self.of(parts)
        if kernels and all(kernel.cost is not None for kernel in kernels):
            return reduce(Cost.plus, [kernel.estimate(call) for kernel in kernels])
        found = own_cost(call.prop, call.in_shapes, call.out_shapes, call.in_types)
        if FORWARD not in parts:
            wanted = [part.removesuffix("_grad") for part in parts]
            found = gradient_cost(found, call.prop.multiplies, wanted)
        # Of a kernel that computes all parts what was measured is the outputs.
        names = {k.name for k in kernels if FORWARD in parts or k.parts is not None}
        return found.corrected(next((c for name, c in rates().kernels.items() if name in names), None))

    def scratch_bytes(self, parts: Sequence[str]) -> int:
        """Memory that the kernels of some parts take for themselves while they run, one after another."""
        return max(
            (k.scratch_bytes(self.call) for k in self.of(parts) if k.scratch_bytes is not None), default=0
        )

    def operator(self) -> Operator:
        """What computes all parts: the kernel's own operator, where one kernel computes them all."""
        every = list(self.kernels.values())
        if all(kernel is every[0] for kernel in every):
            return self._made(self.forward)
        names = self.call.prop.list_arguments()
        computed: dict[int, tuple[Kernel, list[int]]] = {}
        missing: dict[int, str] = {}
        for part, kernel in list(self.kernels.items())[1:]:
            place = names.index(part.removesuffix("_grad"))
            if kernel is None:
                missing[place] = part
            else:
                computed.setdefault(id(kernel), (kernel, []))[1].append(place)
        gradients = {frozenset(places): partial(self._made, kernel) for kernel, places in computed.values()}
        errors = {place: partial(self._missing, part) for place, part in missing.items()}
        return PartsOperator(self._made(self.forward), gradients, errors)

    def _made(self, kernel: Kernel) -> Operator:
        call = self.call
        return kernel.factory(call.prop, call.ctx, call.in_shapes, call.in_types)

    def _missing(self, part: str) -> Exception:
        tried = [Candidate(kernel, kernel.rejection(self.call, part)) for kernel in ranked(self.call)]
        return no_kernel(self.call, part, tried)


def choose(call: KernelCall) -> Choice:
    """The kernel of each part of a call.

    Raises:
        OperadError: No kernel computes the outputs; the message lists every candidate and its reason.
    """
    kernels = ranked(call)
    if len(kernels) == 1 and kernels[0].parts is None and kernels[0].rejection(call) is None:
        return Choice(call, {FORWARD: kernels[0]})
    return choose_among(call, [kernel for kernel in kernels if kernel.rejection(call) is None])


def choose_among(call: KernelCall, kernels: Sequence[Kernel]) -> Choice:
    """For each part of a call the first of some kernels that computes it, whether it applies or not.

    Raises:
        OperadError: None computes the outputs.
    """
    found = {
        part: next((kernel for kernel in kernels if kernel.computes(call.prop, part)), None)
        for part in call.prop.list_parts()
    }
    if found[FORWARD] is None:
        tried = [Candidate(kernel, kernel.rejection(call, FORWARD)) for kernel in ranked(call)]
        raise no_kernel(call, FORWARD, tried)
    return Choice(call, found)
