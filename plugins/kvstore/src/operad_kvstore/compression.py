"""2-bit compression of gradients with error feedback.

What was not sent is kept in a residual and sent later. With a threshold t, per element:

    r = residual + gradient
    r >= t:   send +t (code 11), residual = r - t
    r <= -t:  send -t (code 10), residual = r + t
    else:     send  0 (code 00), residual = r

Sixteen codes make a word of 32 bits: bytes in the order of the values, and in a byte the first value in the
highest bits. Stores of one process need what arrives, not the words: `quantized` gives that asynchronously.

Source: src/kvstore/gradient_compression-inl.h, whose words these are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self, final

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError, FormatError, ParamError, ShapeError

Floats = np.ndarray[Any, np.dtype[np.float32]]
Words = np.ndarray[Any, np.dtype[np.uint32]]

VALUES_PER_WORD: Final = 16
_SHIFTS: Final = np.array([6, 4, 2, 0], np.uint8)
_DEFAULT_THRESHOLD: Final = 0.5


@final
class TwoBit:
    """The codec of one threshold.

    Args:
        threshold: What a code stands for; positive. Kept as the float32 nearest to it.
    """

    def __init__(self, threshold: float = _DEFAULT_THRESHOLD) -> None:
        self.threshold = float(np.float32(threshold))
        if not 0 < self.threshold < math.inf:
            raise ParamError(
                f"set_gradient_compression: threshold is {threshold!r}, expected a positive number"
            )

    @classmethod
    def from_params(cls, params: object) -> Self:
        """The codec that `set_gradient_compression` was asked for.

        Args:
            params: `{"type": "2bit", "threshold": 0.5}`; without a threshold it is 0.5.
        Raises:
            ArgumentError: It is no such dictionary.
            ParamError: It is of another type, or the threshold is not positive.
        """
        if not isinstance(params, Mapping) or "type" not in params:
            raise ArgumentError(
                f"set_gradient_compression: got {params!r}, "
                "expected a dict such as {'type': '2bit', 'threshold': 0.5}"
            )
        unknown = sorted(map(str, params.keys() - {"type", "threshold"}))
        if unknown:
            raise ArgumentError(
                f"set_gradient_compression: unknown parameter {unknown[0]!r}; there are type, threshold"
            )
        if params["type"] != "2bit":
            raise ParamError(f"set_gradient_compression: type is {params['type']!r}, expected '2bit'")
        try:
            threshold = float(params.get("threshold", _DEFAULT_THRESHOLD))
        except (TypeError, ValueError) as error:
            raise ParamError(
                f"set_gradient_compression: threshold is {params['threshold']!r}, expected a positive number"
            ) from error
        return cls(threshold)

    def quantized(self, gradient: NDArray, residual: NDArray) -> NDArray:
        """Values of a gradient as they arrive, in a new array; updates the residual. Waits for nothing."""
        residual += gradient
        signs: NDArray = (residual >= self.threshold) - (residual <= -self.threshold)
        arriving: NDArray = signs * self.threshold
        residual -= arriving
        return arriving

    def encode(self, gradient: Floats, residual: Floats) -> Words:
        """The words of a gradient; updates the residual.

        Args:
            gradient: Any shape.
            residual: Of the same shape; contiguous.
        Raises:
            ShapeError: The shapes differ.
        """
        if gradient.shape != residual.shape:
            raise ShapeError(f"encode: residual has shape {residual.shape}, expected {gradient.shape}")
        residual += gradient
        is_high, is_low = residual >= self.threshold, residual <= -self.threshold
        residual -= np.float32(self.threshold) * (is_high.astype(np.float32) - is_low)
        codes = np.zeros(num_words(gradient.size) * VALUES_PER_WORD, np.uint8)
        codes[: gradient.size] = (3 * is_high + 2 * is_low).reshape(-1)
        in_bytes: np.ndarray[Any, np.dtype[np.uint8]] = np.bitwise_or.reduce(
            codes.reshape(-1, 4) << _SHIFTS, axis=1
        )
        return in_bytes.view(np.uint32)

    def decode(self, words: Words, count: int) -> Floats:
        """The first `count` values of words.

        Raises:
            ShapeError: There are more or fewer words than `count` values need.
        """
        if words.shape != (num_words(count),):
            raise ShapeError(
                f"decode: got words of shape {words.shape}, expected {(num_words(count),)} for {count} values"
            )
        codes = (np.ascontiguousarray(words).view(np.uint8)[:, np.newaxis] >> _SHIFTS) & 3
        values = np.array([0, 0, -self.threshold, self.threshold], np.float32)  # by code
        found: Floats = values[codes.reshape(-1)[:count]]
        return found


def num_words(count: int) -> int:
    """Number of words that `count` values need."""
    return -(-count // VALUES_PER_WORD)


def residuals_of(state: Mapping[str, Any], length: int, *, compresses: bool) -> Sequence[Any]:
    """Residuals in a state that a store's `state_dict` gave.

    Args:
        state: It.
        length: Of each entry: a key, what else this kind of store goes by, and the residual.
        compresses: Whether the store that gets them has any use for them.
    Raises:
        FormatError: It has not, or they are of another kind of store.
    """
    kept: Sequence[Any] = state["residuals"]
    if kept and (not compresses or len(kept[0]) != length):
        held = "another kind of store compresses" if compresses else "this store compresses nothing"
        raise FormatError(
            f"it has gradients of {len(kept)} keys that compression has held back, and {held}; "
            "give the same kvstore and compression_params"
        )
    return kept
