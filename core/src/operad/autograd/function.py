"""Differentiable functions written by hand over arrays.

Source: autograd.Function, python/mxnet/autograd.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.autograd.record import Info, Saved
from operad.errors import ArgumentError, GradientError
from operad.graph import Entry, OpNode, Variable
from operad.ndarray import NDArray, recording_state
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

    def __init__(self) -> None:
        self.saved_tensors: tuple[NDArray, ...] = ()
        self._used = False

    def save_for_backward(self, *arrays: NDArray) -> None:
        """Keep arrays for `backward`, as `saved_tensors`."""
        self.saved_tensors = arrays

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs, one array or several, from arrays. Nothing inside is recorded."""
        raise GradientError(f"{type(self).__name__} defines no forward")

    def backward(self, *output_grads: Any) -> Any:
        """The gradient of every input, from the gradient of every output."""
        raise GradientError(f"{type(self).__name__} defines no backward")

    def __call__(self, *inputs: NDArray) -> Any:
        """Apply the function, and record it if recording is on."""
        if self._used:
            raise GradientError(f"{type(self).__name__}: an instance serves one call; make a new one")
        self._used = True
        recorder, recording_state.recorder = recording_state.recorder, None
        try:
            result = self.forward(*inputs)
        finally:
            recording_state.recorder = recorder
        outputs = [result] if isinstance(result, NDArray) else list(result)
        if recorder is not None and any(x._autograd is not None for x in inputs):
            outputs = self._recorded(inputs, outputs)
        return outputs[0] if isinstance(result, NDArray) else outputs

    def _recorded(self, inputs: Sequence[NDArray], outputs: Sequence[NDArray]) -> list[NDArray]:
        entries = [Entry(Variable("constant")) if x._autograd is None else x._autograd.entry for x in inputs]
        node = OpNode(FunctionProperty(self, len(inputs), len(outputs)), type(self).__name__, entries)
        node.saved = Saved(None, [output._spec for output in outputs], {}, ())
        fresh = [output.detach() for output in outputs]
        for i, output in enumerate(fresh):
            output._autograd = Info(Entry(node, i))
        return fresh


class FunctionProperty(OperatorProperty):
    """Makes a `Function` a node of the recorded graph."""

    name = "_Function"

    def __init__(self, function: Function, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self._function = function
        self._num_inputs = num_inputs
        self._num_outputs = num_outputs

    def list_arguments(self) -> list[str]:
        """Numbered."""
        return [f"arg{i}" for i in range(self._num_inputs)]

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

    def run_backward(self, output_grads: Sequence[NDArray]) -> list[NDArray]:
        """Call the function's `backward`, unrecorded."""
        recorder, recording_state.recorder = recording_state.recorder, None
        try:
            result = self._function.backward(*output_grads)
        finally:
            recording_state.recorder = recorder
        grads = [result] if isinstance(result, NDArray) else list(result)
        if len(grads) != self._num_inputs:
            name = type(self._function).__name__
            raise ArgumentError(
                f"{name}.backward returned {len(grads)} gradients, expected {self._num_inputs}"
            )
        return grads
