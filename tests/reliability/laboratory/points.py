"""Points: instructions before which the interpreter may switch threads, and whether that can matter there."""

from __future__ import annotations

import dis
import os
from collections.abc import Mapping
from functools import cache
from types import CodeType, ModuleType
from typing import Final

SWITCHES: Final = ("CALL", "RESUME", "YIELD_VALUE", "SEND")
"""How the names of instructions begin behind which the interpreter may switch threads; see `delivery`."""

JUMPS: Final = ("JUMP_BACKWARD", "POP_JUMP_BACKWARD")
"""How the names of jumps begin behind which it may; JUMP_BACKWARD_NO_INTERRUPT is none of them."""

_LOCAL: Final = (
    "LOAD_FAST", "STORE_FAST", "LOAD_CONST", "RETURN_", "POP_TOP", "NOP", "RESUME", "COPY", "SWAP",
    "PUSH_NULL", "PRECALL", "KW_NAMES", "JUMP_FORWARD", "JUMP_BACKWARD", "IS_OP", "BUILD_TUPLE", "CACHE",
    "EXTENDED_ARG", "MAKE_CELL", "PUSH_EXC_INFO", "POP_EXCEPT", "RERAISE",
)  # fmt: skip
"""How the names of instructions begin that touch nothing but the frame. A point behind only such is left out:
to switch there is to switch at the point before."""

_PRIVATE: Final = frozenset({
    "operation.py:__init__", "thread.py:__init__", "thread.py:renew", "thread.py:new_event",
    "failure.py:push_site", "back_pressure.py:is_interruption", "back_pressure.py:_handlers",
    "back_pressure.py:<setcomp>", "back_pressure.py:<listcomp>",
    "interrupts.py:is_from_outside", "interrupts.py:is_interruption", "interrupts.py:_signal_handlers",
    "interrupts.py:_codes", "interrupts.py:<setcomp>", "interrupts.py:<listcomp>", "interrupts.py:<genexpr>",
})  # fmt: skip
"""Functions that touch nothing another thread changes: objects just made, the calling thread's own frames,
the handlers of signals."""


@cache
def points_of(code: CodeType) -> tuple[frozenset[int], frozenset[int]]:
    """Instructions of `code` before which the interpreter may switch threads: always, and behind a jump."""
    points, targets, looked = set(), set(), False
    for instruction in dis.get_instructions(code):
        if looked:
            points.add(instruction.offset)
        looked = instruction.opname.startswith(SWITCHES)
        if instruction.opname.startswith(JUMPS) and not instruction.opname.endswith("NO_INTERRUPT"):
            targets.add(instruction.argval)
    return frozenset(points), frozenset(targets - points)


def shared_in(code: CodeType, names: Mapping[str, object]) -> frozenset[int]:
    """Instructions of `code` that may touch what other threads see."""
    if code not in _shared:
        found = [each for each in dis.get_instructions(code) if not each.opname.startswith(_LOCAL)]
        _shared[code] = frozenset(
            each.offset for each in found
            if each.opname != "LOAD_GLOBAL" or not _is_fixed(names.get(each.argval, len))
        )  # fmt: skip
    return _shared[code]


_shared: Final[dict[CodeType, frozenset[int]]] = {}


def _is_fixed(value: object) -> bool:
    """Whether a module's name is one that nobody binds again: a function, a class, a module, a constant."""
    return callable(value) or (isinstance(value, (ModuleType, int, str, tuple)) and value is not None)


def is_private(code: CodeType) -> bool:
    return f"{os.path.basename(code.co_filename)}:{code.co_name}" in _PRIVATE
