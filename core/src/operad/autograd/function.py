"""Differentiable functions written by hand over arrays.

Source: autograd.Function, python/mxnet/autograd.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, final

import numpy as np

from operad.errors import ArgumentError, GradientError
from operad.imperative import (
    Array,
    Recordable,
    Spec,
    TapeNode,
    Versions,
    copy_into,
    is_recording,
    overwritten,
    refuse_aliases,
    unrecorded,
)
from operad.operator import InferredShapes, OperatorProperty, PartialShape


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
    _versions: Versions | None = None
    _used = False
    _is_linear = False  # whether `backward` can be recorded, for it reads nothing but its arguments

    def save_for_backward(self, *arrays: Any) -> None:
        """Keep arrays for `backward`, as `saved_tensors`.

        An NDArray must not be written until backward has run, which refuses it else. A NumPy array is
        copied; other values are kept as they are.
        """
        self.saved_tensors = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in arrays)
        self._versions = Versions([x for x in arrays if isinstance(x, Array)])

    def _check_unchanged(self) -> None:
        """Raise GradientError if a saved array was written after it was saved."""
        changed = None if self._versions is None else self._versions.first_changed()
        if changed is not None:
            places = [i for i, x in enumerate(self.saved_tensors) if isinstance(x, Array)]
            what = f"saved_tensors[{places[changed]}]"
            raise overwritten(f"backward of {type(self).__name__}", what, "it was saved")

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs, one array or several, from arrays. Nothing inside is recorded."""
        raise GradientError(f"{type(self).__name__} defines no forward")

    def backward(self, *output_grads: Any) -> Any:
        """The gradient of every input, from the gradient of every output."""
        raise GradientError(f"{type(self).__name__} defines no backward")

    def __call__(self, *inputs: Array) -> Any:
        """Apply the function, and record it if recording is on."""
        for i, x in enumerate(inputs):
            if not isinstance(x, Array):
                raise ArgumentError(
                    f"{type(self).__name__}: argument {i} is {type(x).__name__}, expected an NDArray; "
                    "give other values to __init__"
                )
        if self._used:
            raise GradientError(f"{type(self).__name__}: an instance serves one call; make a new one")
        self._used = True
        with unrecorded():
            result = self.forward(*inputs)
        outputs = _arrays(result, f"{type(self).__name__}.forward")
        if is_recording():
            refuse_aliases(type(self).__name__, inputs)
        if is_recording() and any(x._autograd is not None for x in inputs):
            outputs = [output.detach() for output in outputs]
            _record(self, inputs, outputs)
        return outputs[0] if isinstance(result, Array) else outputs


def _record(function: Function, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Make `outputs` the values of a new node that stands for `function`."""
    prop = FunctionProperty(function, [x._spec for x in inputs], len(outputs))
    called = Recordable(type(function).__name__, prop, [output._spec for output in outputs])
    node = TapeNode(called, tuple([x._autograd for x in inputs]))
    for i, output in enumerate(outputs):
        output._autograd = (node, i)


@final
class _Copy(Function):
    """A copy to another device or type: its gradient is copied back."""

    _is_linear = True

    def __init__(self, source: Array) -> None:
        self._spec = source._spec

    def backward(self, output_grad: Array) -> Array:
        """The gradient as the source is."""
        grad = output_grad._new(self._spec)
        copy_into(grad, output_grad)
        if is_recording() and output_grad._autograd is not None:
            record_copy(output_grad, grad)
        return grad


def record_copy(source: Array, target: Array) -> None:
    """Record that `target` holds a copy of `source`."""
    _record(_Copy(source), [source], [target])


def _arrays(result: Any, what: str) -> list[Array]:
    found = [result] if isinstance(result, Array) else result
    if not isinstance(found, (list, tuple)):
        raise ArgumentError(f"{what} returned {type(result).__name__}, expected an NDArray or a list of them")
    for i, x in enumerate(found):
        if not isinstance(x, Array):
            raise ArgumentError(f"{what} returned {type(x).__name__} at {i}, expected an NDArray")
    return list(found)


class FunctionProperty(OperatorProperty):
    """Makes a `Function` a node of the recorded graph."""

    name = "_Function"

    def __init__(self, function: Function, in_specs: Sequence[Spec], num_outputs: int) -> None:
        super().__init__()
        self._function = function
        self.in_specs = in_specs
        self._num_outputs = num_outputs

    def list_arguments(self) -> list[str]:
        """Numbered."""
        return [f"arg{i}" for i in range(len(self.in_specs))]

    def list_outputs(self) -> list[str]:
        """Numbered."""
        return [f"output{i}" for i in range(self._num_outputs)]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Not inferred: the function has run already."""
        return list(in_shapes), [None] * self._num_outputs, []

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """The output gradients; what else it needs, the function keeps itself."""
        return list(out_grad)

    @property
    def is_linear(self) -> bool:
        """Whether what its `backward` computes may be recorded."""
        return self._function._is_linear

    def run_backward(self, output_grads: Sequence[Array], is_recorded: bool = False) -> list[Array]:
        """Call the function's `backward`, unrecorded unless it `is_linear` and that is asked for.

        Raises:
            GradientError: What it saved was overwritten since.
        """
        self._function._check_unchanged()
        with nullcontext() if is_recorded else unrecorded():
            result = self._function.backward(*output_grads)
        name = f"{type(self._function).__name__}.backward"
        grads = _arrays(result, name)
        if len(grads) != len(self.in_specs):
            raise ArgumentError(f"{name} returned {len(grads)} gradients, expected {len(self.in_specs)}")
        for i, (grad, spec) in enumerate(zip(grads, self.in_specs, strict=True)):
            if grad._spec is not spec:
                raise ArgumentError(f"{name}: the gradient of input {i} is {grad._spec}, expected {spec}")
        return grads
