"""Layers that apply a function to each element."""

from __future__ import annotations

from typing import Any

from operad_gluon.block import HybridBlock


class Activation(HybridBlock):
    """A function of each element by its name.

    Args:
        activation: "relu", "sigmoid", "tanh", "softrelu" or "softsign".
    """

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]  # as many inputs as it takes
        """The function of `x`."""
        return F.Activation(x, act_type=self._act_type, name="fwd")
