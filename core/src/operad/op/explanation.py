"""Why a part of a call has the kernel that it has: what `operad why` and `executor.why()` show."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, final

from operad.errors import OperadError
from operad.op.choice import Choice
from operad.op.kernel import Kernel, KernelCall, ranked


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
            if kernel is not taken and _might_compute(kernel, call, part)
        }
        us, scratch = choice.cost([part]).us, choice.scratch_bytes([part])
        found.append(PartKernel(part, None if taken is None else taken.name, us, scratch, others))
    return found


def _might_compute(kernel: Kernel, call: KernelCall, part: str) -> bool:
    """Whether a kernel computes a part; one that does not apply may name what is not there."""
    with suppress(OperadError):
        return kernel.computes(call.prop, part)
    return False


def _passed_over(kernel: Kernel, taken: Kernel | None, call: KernelCall) -> str:
    if taken is None or kernel.priority == taken.priority:
        return f"{kernel.estimate(call).us:.3g} us by estimate, which is not less"
    return f"priority {kernel.priority} is below {taken.priority}"
