"""Names of `od.nd` beside its operators, and how it finds those.

Every installed operator is a function of `od.nd`, found when it is first asked for. Names that begin
with `_` work too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from operad import registry, storage
from operad.device import Context, as_context, current_context
from operad.imperative import Provenance
from operad.ndarray.function import operator_function
from operad.ndarray.ndarray import NDArray

_MADE: Final = Provenance.MADE  # a look-up of 70 ns
_makers: Final[dict[str, Callable[..., Any]]] = registry.follow({})


def make(name: str, ctx: Context | None = None, **params: Any) -> NDArray:
    """The array that the operator `name` makes from no other; a parameter that is None is left out.

    Args:
        ctx: Device; the thread's default context if None.
    """
    for value in params.values():
        if value is None:
            params = {key: value for key, value in params.items() if value is not None}
            break
    params["ctx"] = current_context() if ctx is None else as_context(ctx, name.lstrip("_"))
    function = _makers.get(name)
    if function is None:
        function = _makers[name] = operator_function(name, NDArray)
    made: NDArray = function(**params)
    made._provenance = _MADE
    return made


def release_idle_memory(ctx: Context | None = None) -> None:
    """Give memory of a device that no array uses, kept for later ones, back to the system."""
    storage.get().release_all(as_context(ctx, "release_idle_memory"))


def __getattr__(name: str) -> Any:
    return registry.module_attribute(sys.modules["operad.ndarray"], "nd", name, NDArray._function_of)


def __dir__() -> list[str]:
    own = vars(sys.modules["operad.ndarray"])
    return sorted({*own, *registry.attribute_names("nd"), *registry.list_operators()})
