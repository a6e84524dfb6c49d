"""Operators that join several arrays into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, PartialShape, Shape, ShapeError, operator, param
from operad_shape.rearrange import Arrays, normal_axis

_NUM_ARGS = param(int, ge=1, doc="Number of arrays; filled in by calls.")


@operator("Concat")
class Concat(OperatorProperty):
    """The arrays one after another along an axis.

    Shapes:
        arg0, ...: Alike but for the length on `dim`.
        output: The lengths on `dim` added.

    Example:
        >>> import operad as od
        >>> od.nd.concat(od.nd.array([[1], [2]]), od.nd.array([[3, 4], [5, 6]]), dim=1).asnumpy()
        array([[1., 3., 4.],
               [2., 5., 6.]], dtype=float32)

    Source: ConcatParam, src/operator/nn/concat-inl.h.
    """

    num_args = _NUM_ARGS
    dim = param(int, 1, doc="The axis.")
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(*S[i]) -> output:(...)"  # what goes together, `infer_shape` says
    element_cost = 0.1
    contract = Contract(reference=lambda *arrays, dim: np.concatenate(arrays, dim))

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Infer shapes: lengths on other axes are shared, and that on `dim` is the sum."""
        ranks = {len(shape) for shape in in_shapes if shape is not None}
        if not ranks:
            return list(in_shapes), [None], []
        if len(ranks) > 1:
            found = ", ".join(f"arg{i}: {shape}" for i, shape in enumerate(in_shapes))
            raise ShapeError(f"Concat: got {found}; expected shapes with the same number of axes")
        ndim = ranks.pop()
        axis = normal_axis(self.dim, ndim, "Concat: ")
        shared = [self._shared(in_shapes, i) if i != axis else None for i in range(ndim)]
        lengths = [None if shape is None else shape[axis] for shape in in_shapes]
        total = None if None in lengths else sum(lengths)  # type: ignore[arg-type]
        filled = [(*shared[:axis], length, *shared[axis + 1 :]) for length in lengths]
        return filled, [(*shared[:axis], total, *shared[axis + 1 :])], []

    def _shared(self, shapes: Sequence[PartialShape], axis: int) -> int | None:
        known = {
            i: shape[axis] for i, shape in enumerate(shapes) if shape is not None and shape[axis] is not None
        }
        for i, length in known.items():
            first = next(iter(known))
            if length != known[first]:
                raise ShapeError(
                    f"Concat: arg{i} has shape {shapes[i]}, but axis {axis} of arg{first} is {known[first]}, "
                    f"expected the same on every axis but dim={self.dim}"
                )
        return next(iter(known.values()), None)

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Infer the shared lengths, and a missing length on `dim`, from a known output."""
        out = out_shapes[0]
        if out is None:
            return list(in_shapes)
        axis = normal_axis(self.dim, len(out), "Concat: ")
        lengths = [None if shape is None else shape[axis] for shape in in_shapes]
        total = out[axis]
        if lengths.count(None) == 1 and total is not None:
            rest = total - sum(length for length in lengths if length is not None)
            lengths = [rest if length is None else length for length in lengths]
        return [
            tuple(length if i == axis else (out[i] if shape is None or shape[i] is None else shape[i])
                  for i in range(len(out)))
            for shape, length in zip(in_shapes, lengths, strict=True)
        ]  # fmt: skip

    def forward(arg: Arrays, dim: int, output: Array) -> None:
        """Copy every array to its position."""
        np.concatenate(arg, dim, out=output)

    def backward(output_grad: Array, dim: int, arg_grad: Arrays, wanted: frozenset[str]) -> None:
        """`d/d arg_i`: the part of `output_grad` that the array became."""
        lead, end = (slice(None),) * (dim % output_grad.ndim), 0
        for number, grad in enumerate(arg_grad):
            begin, end = end, end + grad.shape[dim]
            if f"arg{number}_grad" in wanted:
                grad[...] = output_grad[(*lead, slice(begin, end))]


@operator("_rnn_param_concat")
class RNNParamConcat(Concat):
    """`Concat` under the name by which MXNet joins the parameters of its RNN.

    Shapes:
        arg0, arg1, ...: Alike but for the axis `dim`.
        output: As these, with the sum of their lengths on `dim`.

    Example:
        >>> import operad as od
        >>> od.nd._rnn_param_concat(od.nd.array([1, 2]), od.nd.array([3]), dim=0).asnumpy()
        array([1., 2., 3.], dtype=float32)

    Source: RNNParamConcat, src/operator/nn/concat.cc.
    """


def _stacked(shape: Shape, axis: int, num_args: int) -> Shape:
    position = normal_axis(axis, len(shape) + 1)
    return (*shape[:position], num_args, *shape[position:])


@operator("stack")
class stack(OperatorProperty):
    """The arrays along a new axis.

    Shapes:
        arg0, ...: All alike.
        output: With a new axis of length `num_args` at `axis`.

    Example:
        >>> import operad as od
        >>> od.nd.stack(od.nd.array([1, 2]), od.nd.array([3, 4]), axis=1).asnumpy()
        array([[1., 3.],
               [2., 4.]], dtype=float32)

    Source: StackParam, src/operator/tensor/matrix_op-inl.h.
    """

    axis = param(int, 0, doc="Position of the new axis in the output.")
    num_args = _NUM_ARGS
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(*S) -> output:(*stacked(S, axis, num_args))"
    functions: ClassVar = {"stacked": _stacked}
    contract = Contract(reference=lambda *arrays, axis: np.stack(arrays, axis))

    def forward(arg: Arrays, axis: int, output: Array) -> None:
        """Copy every array to its position."""
        np.stack(arg, axis, out=output)

    def backward(output_grad: Array, axis: int) -> tuple[Array, ...]:
        """`d/d arg_i = output_grad[i]`, along the axis."""
        return tuple(np.moveaxis(output_grad, axis, 0))
