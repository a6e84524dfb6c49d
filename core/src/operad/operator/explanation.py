"""Why a part of a call has the kernel that it has: what `operad why` and `executor.why()` show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from operad.operator.choice import Choice
from operad.operator.cost import Cost, as_cost, gradient_cost
from operad.operator.kernel import FORWARD, Kernel, KernelCall, ranked


@final
class PartKernel(NamedTuple):
    """The kernel of one part.

    Attributes:
        part: `forward`, or the gradient of an argument.
        kernel: Its name; None where no kernel computes the part.
        us: Estimated microseconds on one thread.
        scratch_bytes: Memory that it says it takes for itself.
        others: Every other kernel that computes the part, with why it does not here.
    """

    part: str
    kernel: str | None
    us: float
    scratch_bytes: int
    others: dict[str, str]


def explained(choice: Choice, parts: Sequence[str]) -> list[PartKernel]:
    """The kernels of some parts of a call, and why they have no other."""
    call = choice.call
    kernels = [(kernel, kernel.rejection(call)) for kernel in ranked(call)]
    found = []
    for part in parts:
        taken = next(iter(choice.of([part])), None)
        others = {
            kernel.name: rejection or _passed_over(kernel, taken, call)
            for kernel, rejection in kernels
            if kernel is not taken and (rejection is not None or kernel.computes(call.prop, part))
        }
        us, scratch = part_cost(choice, [part]).us, choice.scratch_bytes([part])
        found.append(PartKernel(part, None if taken is None else taken.name, us, scratch, others))
    return found


def part_cost(choice: Choice, parts: Sequence[str]) -> Cost:
    """What some parts compute together: what their kernels say, or else what the operator is estimated at."""
    declared = choice.cost(parts)
    if declared is not None:
        return declared
    call = choice.call
    forward = as_cost(call.prop.cost(call.in_shapes, call.out_shapes))
    if FORWARD in parts:
        return forward
    return gradient_cost(forward, call.prop.multiplies, [part.removesuffix("_grad") for part in parts])


def _passed_over(kernel: Kernel, taken: Kernel | None, call: KernelCall) -> str:
    if taken is None or kernel.priority == taken.priority:
        own = kernel.us(call)
        return "registered later" if own is None else f"{own:.3g} us declared, which is not less"
    return f"priority {kernel.priority} is below {taken.priority}"
