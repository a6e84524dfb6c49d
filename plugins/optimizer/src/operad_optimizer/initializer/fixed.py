"""Initializers without chance: constants, interpolation kernels, gate biases."""

from __future__ import annotations

import math
from typing import Any, ClassVar, final

import numpy as np

from operad import NDArray
from operad_optimizer.initializer.base import Initializer, alias, register


@register
@final
class Constant(Initializer):
    """Every element is `value`, a number or an array."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value if isinstance(value, (int, float)) else np.asarray(value).tolist())
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Assign."""
        arr[:] = self.value


class _Alike(Initializer):
    """Every element is one number, which the class has."""

    value: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Assign."""
        arr[:] = self.value


@alias("zeros")
@final
class Zero(_Alike):
    """Every element is 0."""

    value = 0


@alias("ones")
@final
class One(_Alike):
    """Every element is 1."""

    value = 1


@register
@final
class Bilinear(Initializer):
    """The kernel of a deconvolution that interpolates between pixels, for arrays of 4 axes."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """A tent in both directions, the same for every channel."""
        height, width = arr.shape[2:]
        half = math.ceil(width / 2.0)
        centre = (2 * half - 1 - half % 2) / (2.0 * half)
        across = 1 - abs(np.arange(width) / half - centre)
        down = 1 - abs(np.arange(height) / half - centre)
        arr[:] = np.broadcast_to(np.outer(down, across), arr.shape).astype(arr.dtype)


@register
@final
class LSTMBias(Initializer):
    """Biases of an LSTM cell: 0, and `forget_bias` for the forget gate, the second quarter."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Fill the quarters."""
        quarter = arr.shape[0] // 4
        values = np.zeros(arr.shape, arr.dtype)
        values[quarter : 2 * quarter] = self.forget_bias
        arr[:] = values
