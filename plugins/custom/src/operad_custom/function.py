"""Differentiable functions that a program writes by hand over arrays.

Source: autograd.Function, python/mxnet/autograd.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad import NDArray, autograd
from operad.errors import ArgumentError, GradientError


class Function:
    """A function with a gradient of its own.

    Subclasses define `forward` and `backward`::

        class Sigmoid(Function):
            def forward(self, x):
                y = 1 / (1 + nd.exp(-x))
                self.save_for_backward(y)
                return y

            def backward(self, dy):
                (y,) = self.saved_tensors
                return dy * y * (1 - y)

    An instance serves one call.
    """

    saved_tensors: tuple[Any, ...] = ()
    _versions: autograd.Versions | None = None
    _used = False

    def save_for_backward(self, *arrays: Any) -> None:
        """Keep arrays for `backward`, as `saved_tensors`.

        An NDArray must not be written until backward has run, which refuses it else. A NumPy array is
        copied; other values are kept as they are.
        """
        self.saved_tensors = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in arrays)
        self._versions = autograd.Versions([x for x in arrays if isinstance(x, NDArray)])

    def _check_unchanged(self) -> None:
        """Raise GradientError if a saved array was written after it was saved."""
        changed = None if self._versions is None else self._versions.first_changed()
        if changed is not None:
            positions = [i for i, x in enumerate(self.saved_tensors) if isinstance(x, NDArray)]
            what = f"saved_tensors[{positions[changed]}]"
            raise autograd.overwritten(f"backward of {type(self).__name__}", what, "it was saved")

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs, one array or several, from arrays. Nothing inside is recorded."""
        raise GradientError(f"{type(self).__name__} defines no forward")

    def backward(self, *output_grads: Any) -> Any:
        """The gradient of every input, from the gradient of every output."""
        raise GradientError(f"{type(self).__name__} defines no backward")

    def __call__(self, *inputs: NDArray) -> Any:
        """Apply the function, and record it if recording is on."""
        name = type(self).__name__
        for i, x in enumerate(inputs):
            if not isinstance(x, NDArray):
                raise ArgumentError(
                    f"{name}: argument {i} is {type(x).__name__}, expected an NDArray; "
                    "give other values to __init__"
                )
        if self._used:
            raise GradientError(f"{name}: an instance serves one call; make a new one")
        self._used = True
        with autograd.pause(train_mode=autograd.is_training()):
            result = self.forward(*inputs)
        kinds = [_kind(x) for x in inputs]
        outputs = autograd.record_function(
            name, inputs, _arrays(result, f"{name}.forward"), lambda grads: self._gradients(grads, kinds)
        )
        return outputs[0] if isinstance(result, NDArray) else outputs

    def _gradients(self, output_grads: Sequence[NDArray], kinds: Sequence[str]) -> list[NDArray]:
        """Gradients that `backward` returns, one array for each input, of the input's kind."""
        self._check_unchanged()
        name = f"{type(self).__name__}.backward"
        grads = _arrays(self.backward(*output_grads), name)
        if len(grads) != len(kinds):
            raise ArgumentError(f"{name} returned {len(grads)} gradients, expected {len(kinds)}")
        for i, (grad, kind) in enumerate(zip(grads, kinds, strict=True)):
            if _kind(grad) != kind:
                raise ArgumentError(f"{name}: the gradient of input {i} is {_kind(grad)}, expected {kind}")
        return grads


def _arrays(result: Any, what: str) -> list[NDArray]:
    found = [result] if isinstance(result, NDArray) else result
    if not isinstance(found, (list, tuple)):
        raise ArgumentError(f"{what} returned {type(result).__name__}, expected an NDArray or a list of them")
    for i, x in enumerate(found):
        if not isinstance(x, NDArray):
            raise ArgumentError(f"{what} returned {type(x).__name__} at {i}, expected an NDArray")
    return list(found)


def _kind(array: NDArray) -> str:
    """Type, shape and context of an array, in words."""
    return f"{array.dtype.name}{array.shape} on {array.context}"
