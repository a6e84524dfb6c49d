"""Resources of functions that run inside a trace."""

from __future__ import annotations

from typing import Any, NoReturn, final

from operad_sdk.differentiate import TraceError


@final
class TraceResources:
    """All resources that a function asks for: new memory, and nothing that is drawn.

    Args:
        xp: The array module.
    """

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def __getitem__(self, position: int) -> TraceResources:
        return self

    def get_space(self, shape: Any, dtype: Any) -> Any:
        """Zeros, where operations outside a trace get undefined contents."""
        return self._xp.zeros(shape, dtype)

    def __getattr__(self, name: str) -> NoReturn:
        raise TraceError("it draws random numbers, which would be others than those of the first time")
