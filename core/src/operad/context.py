"""Contexts, as users import them, with what plugins add to the module and to the class.

The class stands in `operad.device`, below everything that has a device; what plugins add is found by the
registry, far above. So the class gets its way to the registry here, and `import operad` imports this.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

from operad.device import Context as Context
from operad.device import as_context as as_context
from operad.device import check_gpu as check_gpu
from operad.device import cpu as cpu
from operad.device import cpu_pinned as cpu_pinned
from operad.device import current_context as current_context
from operad.device import gpu as gpu
from operad.device import num_gpus as num_gpus
from operad.front import added


def _method(ctx: Context, name: str) -> Any:
    """The method that a plugin adds: its entry point is called `Context.<name>`."""
    return MethodType(added("Context", name), ctx)


Context.__getattr__ = _method  # type: ignore[attr-defined]


def __getattr__(name: str) -> Any:
    """An attribute that a plugin adds."""
    return added("context", name)
