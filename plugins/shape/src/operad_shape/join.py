"""Operators that join several arrays into one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad_sdk import (
    Array,
    Contract,
    OperatorProperty,
    Output,
    PartialShape,
    Shape,
    gradient,
    operator,
    param,
)
from operad_shape.rearrange import is_complete, normal_axis


class Join(OperatorProperty):
    """Arrays `arg0`, `arg1`, ... next to one another."""

    num_args = param(int, ge=1, doc="How many arrays; calls need not give it.")
    key_var_num_args = "num_args"

    def list_arguments(self) -> list[str]:
        """Numbered."""
        return [f"arg{i}" for i in range(self.num_args)]

    @abstractmethod
    def places(self, joined: Array, shapes: Sequence[Shape]) -> list[Array]:
        """A view of the joined array for each argument."""

    def forward(self, arg: tuple[Array, ...], output: Output) -> None:
        """Copy every array to its place."""
        with output.writing() as out:
            for place, array in zip(self.places(out, [array.shape for array in arg]), arg, strict=True):
                place[...] = array

    @gradient
    def gradients(self, output_grad: Array, arg_grad: tuple[Output, ...]) -> None:
        """Copy every place to its array."""
        shapes = [grad.shape for grad in arg_grad]
        for place, grad in zip(self.places(output_grad, shapes), arg_grad, strict=True):
            if grad.wanted:
                grad.assign(place)


@operator("Concat")
class Concat(Join):
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

    dim = param(int, 1, doc="The axis.")
    contract = Contract(reference=lambda *arrays, dim: np.concatenate(arrays, dim))

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Lengths on other axes are shared; that on `dim` is the sum."""
        ranks = {len(shape) for shape in in_shapes if shape is not None}
        if not ranks:
            return list(in_shapes), [None], []
        if len(ranks) > 1:
            found = ", ".join(f"arg{i}: {shape}" for i, shape in enumerate(in_shapes))
            raise ShapeError(f"Concat: the arrays have different numbers of axes: {found}")
        ndim = ranks.pop()
        axis = normal_axis("Concat", self.dim, ndim)
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
        """A known output gives the shared lengths, and the one length on `dim` that is missing."""
        out = out_shapes[0]
        if out is None:
            return list(in_shapes)
        axis = normal_axis("Concat", self.dim, len(out))
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

    def places(self, joined: Array, shapes: Sequence[Shape]) -> list[Array]:
        """Consecutive parts."""
        axis = self.dim % joined.ndim
        lead = (slice(None),) * axis
        begin, views = 0, []
        for shape in shapes:
            views.append(joined[(*lead, slice(begin, begin + shape[axis]))])
            begin += shape[axis]
        return views


@operator("stack")
class stack(Join):
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

    axis = param(int, 0, doc="Where the new axis stands in the output.")
    contract = Contract(reference=lambda *arrays, axis: np.stack(arrays, axis))

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """All arrays have one shape."""
        known = [shape for shape in in_shapes if is_complete(shape)]
        if not known:
            return list(in_shapes), [None], []
        for i, shape in enumerate(in_shapes):
            if is_complete(shape) and shape != known[0]:
                raise ShapeError(f"stack: arg{i} has shape {shape}, expected {known[0]} like the others")
        shape = known[0]
        assert shape is not None
        axis = normal_axis("stack", self.axis, len(shape) + 1)
        return [shape] * self.num_args, [(*shape[:axis], self.num_args, *shape[axis:])], []

    def places(self, joined: Array, shapes: Sequence[Shape]) -> list[Array]:
        """One index of the new axis each."""
        lead = (slice(None),) * (self.axis % joined.ndim)
        return [joined[(*lead, i, ...)] for i in range(len(shapes))]
