"""Marks of a trace for events that the core announces by hooks: binding, monitored nodes, saved arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pluggy

from operad_profiler.annotations import Domain
from operad_profiler.recording import is_recording

_DOMAIN: Final = Domain("operad")
_announced: Final = pluggy.HookimplMarker("operad")


@_announced
def executor_bound(executor: Any) -> None:
    """Mark the binding of an executor, with its outputs and the bytes of its plan."""
    if is_recording():
        outputs = ", ".join(executor.output_dict)
        _mark(f"bind {outputs}: {executor.memory_plan.planned_bytes} bytes")


@_announced
def operator_run(name: str, operator: str) -> None:
    """Mark the end of a monitored node."""
    if is_recording():
        _mark(f"monitored {name} ({operator})")


@_announced
def arrays_saved(path: str, names: Sequence[str]) -> None:
    """Mark a file of arrays that was written."""
    if is_recording():
        _mark(f"save {path}: {len(names) or 'unnamed'} arrays")


def _mark(text: str) -> None:
    _DOMAIN.new_marker(text).mark()
