"""Dynamic loss scaling.

Small gradients are 0 in half precision. So the loss is multiplied by a number, and gradients are divided
by it before weights move. The number grows until gradients overflow; such a step is left out, and the
number halved. After Micikevicius et al., "Mixed precision training", 2018.

Source: LossScaler, python/mxnet/contrib/amp/loss_scaler.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from operad import NDArray, nd
from operad.errors import ParamError


@final
class LossScaler:
    """The number that losses are multiplied with.

    Attributes:
        loss_scale: The number now.

    Args:
        init_scale: The first number.
        scale_factor: What it is multiplied with when it grows, and divided by when gradients overflow.
        scale_window: Steps without overflow after which it grows.
        max_scale: The largest number.

    Raises:
        ParamError: Nothing would be scaled so.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        scale_factor: float = 2.0,
        scale_window: int = 2000,
        max_scale: float = 2.0**24,
    ) -> None:
        if not 1 <= init_scale <= max_scale or scale_factor <= 1 or scale_window < 1:
            raise ParamError(
                f"LossScaler: got init_scale {init_scale}, scale_factor {scale_factor}, scale_window "
                f"{scale_window} and max_scale {max_scale}; expected a scale from 1 to max_scale, a factor "
                "above 1 and a window of at least one step"
            )
        self.loss_scale = float(init_scale)
        self._factor, self._window, self._most = float(scale_factor), scale_window, float(max_scale)
        self._unskipped = 0

    def has_overflow(self, gradients: Sequence[NDArray]) -> bool:
        """Return whether an element of any gradient is infinite or NaN; waits for them."""
        return bool(gradients) and not all(
            nd.invoke("multi_all_finite", group, {"num_arrays": len(group)}).asscalar()
            for group in _by_context(gradients)
        )

    def update_scale(self, skipped: bool) -> None:
        """Choose the number of the next step, after one that was or was not left out."""
        if skipped:
            self.loss_scale = max(1.0, self.loss_scale / self._factor)
            self._unskipped = 0
            return
        self._unskipped += 1
        if self._unskipped == self._window:
            self.loss_scale = min(self._most, self.loss_scale * self._factor)
            self._unskipped = 0

    def state_dict(self) -> dict[str, Any]:
        """The number, and how many steps it has stood."""
        return {"loss_scale": self.loss_scale, "unskipped": self._unskipped}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was called."""
        self.loss_scale, self._unskipped = float(state["loss_scale"]), int(state["unskipped"])


def _by_context(arrays: Sequence[NDArray]) -> list[list[NDArray]]:
    groups: dict[tuple[Any, Any], list[NDArray]] = {}
    for array in arrays:
        groups.setdefault((array.context, array.dtype), []).append(array)
    return list(groups.values())
