"""Names of `od.nd` beside its operators, and how it finds those.

Every installed operator is a function of `od.nd`, found when it is first asked for. Names that begin
with `_` work too.
"""

from __future__ import annotations

import sys
from typing import Any

from operad import registry, storage
from operad.device import Context, as_context
from operad.imperative import Provenance
from operad.ndarray.function import operator_function
from operad.ndarray.ndarray import NDArray


def make(name: str, ctx: Context | None = None, **params: Any) -> NDArray:
    """The array that the operator `name` makes from no other; a parameter that is None is left out.

    Args:
        ctx: Device; the thread's default context if None.
    """
    given = {key: value for key, value in params.items() if value is not None}
    made: NDArray = operator_function(name, NDArray)(ctx=as_context(ctx, name.lstrip("_")), **given)
    return made._with_provenance(Provenance.MADE)


def release_idle_memory(ctx: Context | None = None) -> None:
    """Give memory of a device that no array uses, kept for later ones, back to the system."""
    storage.get().release_all(as_context(ctx, "release_idle_memory"))


def __getattr__(name: str) -> Any:
    return registry.module_attribute(sys.modules["operad.ndarray"], "nd", name, NDArray._function_of)


def __dir__() -> list[str]:
    own = vars(sys.modules["operad.ndarray"])
    return sorted({*own, *registry.attribute_names("nd"), *registry.list_operators()})
