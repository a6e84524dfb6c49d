"""Kernels of forms for NVIDIA's processors, as text of PTX.

The text of a kernel is that of other processors with vectors of one element: a thread computes rows of its
own, or columns, and knows by its number which. So what a kernel means is proved by running its text on the
host. No device has run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from numpy.typing import NDArray

from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.machine import all_targets
from operad_sdk.vector.primitives import NoVectorCodeError

ENTRY: Final = "entry"
"""The kernel's name: `entry(table, units, scratch, scratch_bytes)`, the last one for each thread."""
_TRIPLE: Final = "nvptx64-nvidia-cuda"
_OF_C: Final = frozenset(("sin", "cos", "tan", "atan2", "power", "fmod", "erfc", "gamma"))
_REGISTERS: Final = ("tid", "ntid", "ctaid", "nctaid")


def ptx_of(form: CompiledForm, arrays: Sequence[NDArray[Any]], architecture: str) -> str:
    """The kernel for arrays that lie so, on an architecture, such as `sm_80`.

    Args:
        form: Compiled for vectors of one element.
    Raises:
        NoVectorCodeError: There is none; the message says why.
    """
    assert form.lanes == 1, "a thread computes one element at a time"
    if missing := sorted(_OF_C.intersection(form.operations)):
        raise NoVectorCodeError(f"{', '.join(missing)} has no code for {architecture}, without a C library")
    llvm = all_targets()
    module = llvm.parse_assembly(form.walk(arrays).text.text + _entry())
    module.verify()
    module.triple = _TRIPLE
    target = llvm.Target.from_triple(_TRIPLE).create_target_machine(cpu=architecture, opt=2)
    found: str = target.emit_assembly(module)
    return found


def _entry() -> str:
    """The function that each thread begins with: its share of the units."""
    reads = [
        f"  %{name}32 = call i32 @llvm.nvvm.read.ptx.sreg.{name}.x()\n  %{name} = zext i32 %{name}32 to i64"
        for name in _REGISTERS
    ]
    declared = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in _REGISTERS]
    return "\n".join([
        *declared,
        f"define ptx_kernel void @{ENTRY}(ptr %table, i64 %units, ptr %scratch, i64 %scratch_bytes) {{",
        *reads,
        "  %before = mul i64 %ctaid, %ntid",
        "  %number = add i64 %before, %tid",
        "  %threads = mul i64 %nctaid, %ntid",
        "  %begin = mul i64 %units, %number",
        "  %first = udiv i64 %begin, %threads",
        "  %end = add i64 %begin, %units",
        "  %last = udiv i64 %end, %threads",
        "  %offset = mul i64 %number, %scratch_bytes",
        "  %mine = getelementptr i8, ptr %scratch, i64 %offset",
        "  call void @kernel(ptr %table, i64 %first, i64 %last, ptr %mine)",
        "  ret void",
        "}",
        "",
    ])  # fmt: skip
