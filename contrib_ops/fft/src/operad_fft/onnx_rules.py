"""Fourier transforms as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np


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


def _transformed(node: Any) -> Any:
    """DFT along any axis and of any length: a product with cosines and sines, in double precision."""
    rank, shape = node.rank(), node.lengths()
    axis = (node.scalar(2, -2) if node.opset >= 20 else node.attr("axis", 1)) % rank
    length, parts = node.whole((shape[axis], shape[-1]))
    is_back, is_half = node.attr("inverse", 0), node.attr("onesided", 0)
    count = node.scalar(1, 2 * (length - 1) if is_back and is_half else length)
    number = count // 2 + 1 if is_half and not is_back else count
    turns = np.exp((2j if is_back else -2j) * np.pi / count * np.outer(np.arange(length), np.arange(number)))
    turns[count:] = 0  # of a longer signal its beginning is taken
    if is_back and is_half:  # the other half is its mirror image: all but the ends count twice
        turns[1 : (count + 1) // 2] *= 2
    of_real, of_imag = (np.stack([one.real, one.imag], -1) for one in (turns, 1j * turns))
    own = 1 if is_back and is_half else 2  # such a result is real
    matrix = np.stack([of_real, of_imag], 1)[:, :parts, :, :own].reshape(length * parts, own * number)
    order = [*(i for i in range(rank - 1) if i != axis), axis, rank - 1]
    flat = node.call("transpose", node.cast(node.sym(), "float64"), axes=tuple(order))
    flat = node.reshape(flat, (*(0,) * (rank - 2), -1))
    made = node.call("dot", flat, node.const(matrix / (count if is_back else 1), "float64"))
    made = node.reshape(made, (*(0,) * (rank - 2), number, own))
    return node.cast(
        node.call("transpose", made, axes=tuple(int(i) for i in np.argsort(order))), node.dtype()
    )


IMPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"DFT": _transformed}
