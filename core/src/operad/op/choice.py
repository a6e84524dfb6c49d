"""The kernels of one call, part by part, and the operator that they make together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any, final

from operad.dtypes import DType
from operad.errors import OperadError
from operad.op.cost import Cost, gradient_cost, own_cost
from operad.op.entry import BackwardEntry, inplace_pairs
from operad.op.kernel import FORWARD, Candidate, Kernel, KernelCall, no_kernel, ranked
from operad.op.operator import Operator
from operad.op.parts import KernelOperator, PartsOperator
from operad.op.rates import rates
from operad.op.shapes import Shape
from operad.resource import ResourceRequest


@final
class Choice:
    """Kernels chosen for the parts of a call.

    Attributes:
        call: The call.
        kernels: The kernel of each part; None where none applies. One of the outputs alone
            computes all parts.
        prepared: Arrays that are prepared, each by its kernel and its name.
    """

    __slots__ = ("_ordered", "call", "kernels", "prepared")

    def __init__(
        self,
        call: KernelCall,
        kernels: Mapping[str, Kernel | None],
        prepared: Sequence[tuple[Kernel, str]] = (),
    ) -> None:
        self.call = call
        self.kernels = kernels
        self.prepared = tuple(prepared)
        self._ordered: list[Kernel] | None = None

    @property
    def forward(self) -> Kernel:
        """The kernel that computes the outputs."""
        kernel = self.kernels[FORWARD]
        assert kernel is not None
        return kernel

    @property
    def has_costs(self) -> bool:
        """Return whether more is known of the costs of any of the kernels than what the operator says."""
        measured = rates().kernels
        kernels = [kernel for kernel in self.kernels.values() if kernel is not None]
        return any(kernel.cost is not None or kernel.name in measured for kernel in kernels)

    @property
    def has_demands(self) -> bool:
        """Return whether it asks for more, or for other memory and resources, than the operator declares."""
        return bool(self.prepared) or any(
            kernel is not None and kernel.has_demands for kernel in self.kernels.values()
        )

    def kernel_of(self, part: str) -> Kernel | None:
        """The kernel of one part."""
        return self.kernels.get(part, self.forward)

    def bare(self) -> Choice:
        """The choice of who gives kernels nothing but what the operator declares."""
        call = self.call
        given = (call.prop, call.ctx, call.in_shapes, call.in_types, call.is_train, call.threads)
        return choose(KernelCall(*given, is_bare=True)) if self.has_demands else self

    def preparations(self, parts: Sequence[str]) -> list[tuple[Kernel, str]]:
        """Arrays that the kernels of some parts would have prepared for these."""
        return [
            (kernel, name)
            for kernel in self.of(parts)
            for name, prepared in kernel.prepares.items()
            if any(part in prepared.parts and self.kernel_of(part) is kernel for part in parts)
        ]

    def with_prepared(self, prepared: Sequence[tuple[Kernel, str]]) -> Choice:
        """The same kernels with these of the arrays that they would have prepared."""
        return Choice(self.call, self.kernels, prepared)

    def prepared_arrays(self) -> list[tuple[Shape, DType]]:
        """Shape and type of each prepared array."""
        return [
            kernel.ask("prepares", kernel.prepares[name].array, self.call) for kernel, name in self.prepared
        ]

    def gradient_kernels(self) -> list[Kernel]:
        """The kernels of the gradients, each once, in the order in which they run.

        One that may overwrite an array, as its pairs in place allow, runs behind all others that read it.

        Raises:
            OperadError: Two may each overwrite what the other reads, so that no order is right.
        """
        if self._ordered is None:
            self._ordered = self._in_order()
        return self._ordered

    def _in_order(self) -> list[Kernel]:
        left = self.of([part for part in self.call.prop.list_parts() if part != FORWARD])
        found: list[Kernel] = []
        while left:
            free = [one for one in left if not any(self._spoilt(one, other) for other in left)]
            if not free:
                raise self._contradiction(left[0], next(each for each in left if self._spoilt(left[0], each)))
            found.append(free[0])
            left = [one for one in left if one is not free[0]]
        return found

    def _spoilt(self, one: Kernel, other: Kernel) -> list[tuple[BackwardEntry, int]]:
        """Pairs by which a kernel may overwrite what another reads."""
        pairs = [] if one is other else self.inplace_pairs(one)
        reads = {entry for part in self.parts_of(other) for entry in self.reads(part)} if pairs else ()
        return [pair for pair in pairs if pair[0] in reads]

    def _contradiction(self, one: Kernel, other: Kernel) -> Exception:
        (kind, index), target = self._spoilt(one, other)[0]
        part = f"{self.call.prop.list_arguments()[target]}_grad"
        return OperadError(
            f"{self.call.prop.name}: kernel {one.name} may write {part} over {kind} {index}, which kernel "
            f"{other.name} reads, and that one may overwrite what this one reads; "
            "declare inplace='' for one of them, or let one kernel compute both gradients"
        )

    def parts_of(self, kernel: Kernel) -> list[str]:
        """The gradients that a kernel computes here."""
        parts = [part for part in self.call.prop.list_parts() if part != FORWARD]
        return [part for part in parts if self.kernel_of(part) is kernel]

    def reads(self, part: str) -> list[BackwardEntry]:
        """The operator's arrays that the kernel of a gradient reads."""
        prop, kernel = self.call.prop, self.kernel_of(part)
        if kernel is None or kernel.reads is None:
            return list(prop.backward_dependency([f"{name}_grad" == part for name in prop.list_arguments()]))
        return list(kernel.ask("reads", kernel.reads, prop, part))

    def inplace_pairs(self, kernel: Kernel) -> list[tuple[BackwardEntry, int]]:
        """Pairs of what may be overwritten and the argument whose gradient by a kernel may lie there."""
        prop, names = self.call.prop, self.call.prop.list_arguments()
        parts = self.parts_of(kernel)
        if kernel.inplace is not None:
            asked = [kernel.ask("inplace", kernel.inplace, prop, part) for part in parts]
            found = {pair for pairs in asked for pair in pairs}
        else:
            found = set(inplace_pairs(prop))
        return sorted((entry, target) for entry, target in found if f"{names[target]}_grad" in parts)

    def forward_resources(self) -> list[ResourceRequest]:
        """Resources that the kernel of the outputs asks the resource manager for."""
        return self._resources(self.forward, FORWARD)

    def backward_resources(self) -> list[ResourceRequest]:
        """Resources of the kernels of the gradients: one after another where any has its own, else once."""
        kernels = self.gradient_kernels()
        if not any(kernel.resources is not None for kernel in kernels):
            return list(self.call.prop.backward_resource(self.call.in_shapes))
        return [one for kernel in kernels for one in self._resources(kernel, "")]

    def _resources(self, kernel: Kernel, part: str) -> list[ResourceRequest]:
        """Those of the outputs, or, for any other part, of all gradients of a kernel."""
        prop, shapes = self.call.prop, self.call.in_shapes
        if kernel.resources is not None:
            return list(kernel.ask("resources", kernel.resources, self.call, part))
        return list((prop.forward_resource if part == FORWARD else prop.backward_resource)(shapes))

    @property
    def resource_spans(self) -> dict[int, slice]:
        """Places in `backward_resources` that are a kernel's, by its id; none where all share them."""
        if not any(kernel is not None and kernel.resources is not None for kernel in self.kernels.values()):
            return {}
        kernels = self.gradient_kernels()
        found, first = {}, 0
        for kernel in kernels:
            end = first + len(self._resources(kernel, ""))
            found[id(kernel)] = slice(first, end)
            first = end
        return found

    def of(self, parts: Sequence[str]) -> list[Kernel]:
        """The kernels that compute some parts, each once."""
        found = [self.kernels.get(part, self.forward) for part in parts]
        return list({id(kernel): kernel for kernel in found if kernel is not None}.values())

    def cost(self, parts: Sequence[str]) -> Cost:
        """Cost of some parts together: what their kernels say, or else the operator.

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
            (
                kernel.ask("scratch_bytes", kernel.scratch_bytes, self.call)
                for kernel in self.of(parts)
                if kernel.scratch_bytes is not None
            ),
            default=0,
        )

    def operator(self) -> Operator:
        """Operator of all parts: the kernel's own, where one kernel computes them all."""
        every = list(self.kernels.values())
        if all(kernel is every[0] for kernel in every):
            return self._made(self.forward)
        names = self.call.prop.list_arguments()
        positions = {part: names.index(part.removesuffix("_grad")) for part in list(self.kernels)[1:]}
        gradients = {
            frozenset(positions[part] for part in self.parts_of(kernel)): partial(self._made, kernel)
            for kernel in self.gradient_kernels()
        }
        errors = {
            position: partial(self._missing, part)
            for part, position in positions.items()
            if self.kernels[part] is None
        }
        prop = self.call.prop
        ignore_values = [kernel.ignores_values for kernel in (*prop.derived_kernels(), *prop.kernels)]
        return PartsOperator(self._made(self.forward), gradients, errors, takes_values=all(ignore_values))

    def _made(self, kernel: Kernel, prop: Any = None) -> Operator:
        call, prop = self.call, prop or self.call.prop
        made = kernel.ask("__init__", kernel.factory, prop, call.ctx, call.in_shapes, call.in_types)
        requested = self.resource_spans.get(id(kernel))
        if not (self.prepared or kernel.prepares or requested):
            return made
        num_args = len(call.in_shapes)
        ins: list[int | None] = list(range(num_args))
        wanted = [(kernel, name) for name in kernel.prepares]
        ins += [num_args + self.prepared.index(one) if one in self.prepared else None for one in wanted]
        return KernelOperator(made, ins, requested)

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
    prop = call.prop
    found = {
        part: next((kernel for kernel in kernels if kernel.computes(prop, part)), None)
        for part in prop.list_parts()
    }
    if found[FORWARD] is None:
        tried = [Candidate(kernel, kernel.rejection(call, FORWARD)) for kernel in ranked(call)]
        raise no_kernel(call, FORWARD, tried)
    return Choice(call, found)
