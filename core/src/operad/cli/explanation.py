"""Why a part of a call has the kernel that it has: what `operad why` and `executor.why()` show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import NamedTuple, final

from operad.dtypes import DType
from operad.errors import OperadError
from operad.op import Choice, Kernel, KernelCall, Shape, ranked


@final
class PartKernel(NamedTuple):
    """The kernel of one part.

    Attributes:
        part: `forward`, or the gradient of an argument.
        kernel: Its name; None where no kernel computes the part.
        us: Estimated microseconds on one thread.
        scratch_bytes: Memory that it says it takes for itself.
        others: Every other kernel that computes the part, with why it does not here.
        prepared: What it has prepared, with bytes.
    """

    part: str
    kernel: str | None
    us: float
    scratch_bytes: int
    others: dict[str, str]
    prepared: dict[str, int]


def arrays_in_words(prepared: Mapping[str, int]) -> str:
    """The arrays of a kernel's own, with bytes, as tables show them."""
    return ", ".join([f"{name} prepared ({size} bytes)" for name, size in prepared.items()])


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
        name = None if taken is None else taken.name
        found.append(PartKernel(part, name, us, scratch, others, _prepared(choice, part)))
    return found


def _prepared(choice: Choice, part: str) -> dict[str, int]:
    """Arrays that a part has prepared."""
    own = choice.preparations([part])
    arrays = zip(choice.prepared, choice.prepared_arrays(), strict=True)
    return {one[1]: _bytes(array) for one, array in arrays if one in own}


def _bytes(array: tuple[Shape, DType]) -> int:
    shape, dtype = array
    return prod(shape) * dtype.itemsize


def _might_compute(kernel: Kernel, call: KernelCall, part: str) -> bool:
    """Return whether a kernel computes a part; one that does not apply may name what is not there."""
    with suppress(OperadError):
        return kernel.computes(call.prop, part)
    return False


def _passed_over(kernel: Kernel, taken: Kernel | None, call: KernelCall) -> str:
    if taken is not None and kernel.priority != taken.priority:
        return f"priority {kernel.priority} is below {taken.priority}"
    us = kernel.estimate(call).us
    if taken is not None and us < taken.estimate(call).us:
        return f"{taken.name} is asked first"
    return f"{us:.3g} us by estimate, which is not less"
