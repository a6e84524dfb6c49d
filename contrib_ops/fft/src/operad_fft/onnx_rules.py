"""Fourier transforms as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def _dft(node: Any, value: str, *, inverse: bool) -> Any:
    """DFT along the last axis but that of the parts, which is an input since version 20."""
    if node.opset >= 20:
        return node.add("DFT", value, "", node.const(-2, "int64"), inverse=int(inverse))
    return node.add("DFT", value, axis=len(node.shapes[0]) - 1, inverse=int(inverse))


def fft(node: Any) -> Any:
    """Real and imaginary parts side by side."""
    return node.reshape(
        _dft(node, node.unsqueeze(node.inputs[0], -1), inverse=False), like=(*node.shapes[0], 2)
    )


def ifft(node: Any) -> Any:
    """The real part, times the length, for it is not normalised."""
    length = node.fixed_lengths(None, len(node.shapes[0]) - 1)[0]
    pairs = node.reshape(node.inputs[0], (*node.shapes[0][:-1], length, 2))
    real = node.slice(_dft(node, pairs, inverse=True), [0], [1], [-1])
    return node.add("Mul", node.squeeze(real, -1), node.const(float(length)))


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"_contrib_fft": fft, "_contrib_ifft": ifft}
