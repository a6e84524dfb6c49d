"""Resources of functions that run inside a trace."""

from __future__ import annotations

from typing import Any, NoReturn, final

from operad_sdk.differentiate.errors import refusal


@final
class TraceResources:
    """All resources that a function asks for: new memory, and nothing that is drawn.

    Args:
        xp: The array module.
        is_drawn: Whether outputs hold what was drawn the first time; then the generator is None.
    """

    def __init__(self, xp: Any, *, is_drawn: bool = False) -> None:
        self._xp = xp
        if is_drawn:
            self.generator = None

    def __getitem__(self, position: int) -> TraceResources:
        return self

    def get_space(self, shape: Any, dtype: Any) -> Any:
        """Zeros, where operations outside a trace get undefined contents."""
        return self._xp.zeros(shape, dtype)

    def __getattr__(self, name: str) -> NoReturn:
        raise refusal("it draws random numbers, which would be others than those of the first time")
