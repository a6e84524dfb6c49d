"""Operators that keep all elements in order and change the shape.

Their outputs may share the input's memory, so that a memory plan makes them free.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
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
from operad_shape.references import partly_like, without_axes


class SameOrder(OperatorProperty):
    """The data's elements in order, in the shape that `out_shape` says."""

    forward_inplace = (("data", "output"),)

    def out_shape(self, shape: Shape) -> Shape:
        """The output's shape for data of `shape`."""
        return shape

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """The output's shape once the data's is known."""
        shape = in_shapes[0]
        return list(in_shapes), [self.out_shape(shape) if is_complete(shape) else None], []  # type: ignore[arg-type]

    def forward(self, data: Array, output: Output) -> None:
        """Copy, or nothing where the memory is shared."""
        output.assign(data.reshape(output.shape))

    @gradient(inplace=[("output_grad", "data_grad")])
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """The gradient in the data's shape."""
        data_grad.assign(output_grad.reshape(data_grad.shape))


@operator("Reshape")
class Reshape(SameOrder):
    """The data in another shape.

    In `shape`, 0 keeps a length, -1 is what remains, -2 keeps all remaining lengths, -3 multiplies
    the next two, and -4 splits one into the two numbers that follow, of which one may be -1.

    Shapes:
        data: Any.
        output: As `shape` says.

    Example:
        >>> import operad as od
        >>> x = od.nd.array([[[1, 2], [3, 4], [5, 6]]])
        >>> od.nd.Reshape(x, shape=(0, -3)).shape, od.nd.Reshape(x, shape=(-4, 1, -1, -2)).shape
        ((1, 6), (1, 1, 3, 2))

    Source: InferReshapeShape, src/operator/tensor/matrix_op-inl.h.
    """

    shape = param("shape", (), doc="The shape, with MXNet's codes.")
    reverse = param(bool, False, doc="Read the codes from the last axis to the first.")
    target_shape = param("shape", (), doc="Older form: one length may be 0, and is what remains.")
    keep_highest = param(bool, False, doc="With `target_shape`: keep the first length.")

    def out_shape(self, shape: Shape) -> Shape:
        """The codes applied to `shape`."""
        if not self.shape and self.target_shape:
            return self._legacy(shape)
        lengths, codes = list(shape), list(self.shape)
        if self.reverse:
            lengths, codes = lengths[::-1], codes[::-1]
        found = self._decoded(lengths, codes)
        if -1 in found:
            found = self._filled(found, prod(shape))
        if prod(found) != prod(shape):
            raise ShapeError(
                f"Reshape: data has shape {shape} with {prod(shape)} elements, but shape={self.shape} "
                f"comes to {tuple(found)} with {prod(found)}"
            )
        return tuple(found[::-1] if self.reverse else found)

    def _decoded(self, lengths: list[int], codes: list[int]) -> list[int]:
        found: list[int] = []
        at, code_at = 0, 0
        while code_at < len(codes):
            code = codes[code_at]
            code_at += 1
            if code == -2:
                found += lengths[at:]
                at = len(lengths)
            elif code == -3:
                found.append(self._length(lengths, at) * self._length(lengths, at + 1))
                at += 2
            elif code == -4:
                found += self._split(self._length(lengths, at), codes[code_at : code_at + 2])
                at, code_at = at + 1, code_at + 2
            elif code in (0, -1) or code > 0:
                found.append(self._length(lengths, at) if code == 0 else code)
                at += 1
            else:
                raise ShapeError(f"Reshape: shape={self.shape} has the unknown code {code}")
        return found

    def _length(self, lengths: list[int], at: int) -> int:
        if at >= len(lengths):
            raise ShapeError(
                f"Reshape: shape={self.shape} asks for axis {at} of data with {len(lengths)} axes"
            )
        return lengths[at]

    def _split(self, length: int, parts: list[int]) -> list[int]:
        if len(parts) != 2 or parts.count(-1) > 1:
            raise ShapeError(f"Reshape: in shape={self.shape}, -4 needs two lengths, at most one of them -1")
        if -1 in parts:
            known = parts[1 - parts.index(-1)]
            parts = [length // max(known, 1) if part == -1 else part for part in parts]
        if prod(parts) != length:
            raise ShapeError(
                f"Reshape: shape={self.shape} cannot split a length of {length} into {tuple(parts)}"
            )
        return parts

    def _filled(self, found: list[int], size: int) -> list[int]:
        known = prod(length for length in found if length != -1)
        if found.count(-1) > 1 or known == 0 or size % known:
            raise ShapeError(
                f"Reshape: no length of the open axis of {tuple(found)} fits data of {size} elements"
            )
        return [size // known if length == -1 else length for length in found]

    def _legacy(self, shape: Shape) -> Shape:
        if self.keep_highest and not shape:
            raise ShapeError("Reshape: data has no axes, expected a first one for keep_highest to keep")
        target = [shape[0], *self.target_shape[1:]] if self.keep_highest else list(self.target_shape)
        found = [-1 if length == 0 else length for length in target]
        found = self._filled(found, prod(shape)) if -1 in found else found
        if prod(found) != prod(shape):
            raise ShapeError(
                f"Reshape: data has shape {shape}, which does not fit target_shape={self.target_shape}"
            )
        return tuple(found)


@operator("Flatten")
class Flatten(SameOrder):
    """Each item of the data as one row.

    Shapes:
        data: (N, ...).
        output: (N, product of the other lengths).

    Example:
        >>> import operad as od
        >>> od.nd.Flatten(od.nd.array([[[1, 2], [3, 4]]])).asnumpy()
        array([[1., 2., 3., 4.]], dtype=float32)

    Source: Flatten, src/operator/tensor/matrix_op.cc.
    """

    contract = Contract(reference=lambda data: data.reshape(data.shape[0], prod(data.shape[1:])))

    def out_shape(self, shape: Shape) -> Shape:
        """Two axes."""
        if not shape:
            raise ShapeError("Flatten: data has no axes, expected (N, ...)")
        return (shape[0], prod(shape[1:]))


@operator("expand_dims")
class expand_dims(SameOrder):
    """The data with a new axis of length 1.

    Shapes:
        data: Any.
        output: As data, with a 1 at `axis`.

    Example:
        >>> import operad as od
        >>> od.nd.expand_dims(od.nd.array([1, 2]), axis=-1).shape
        (2, 1)

    Source: expand_dims, src/operator/tensor/matrix_op.cc.
    """

    axis = param(int, doc="Where the new axis stands in the output.")
    contract = Contract(reference=np.expand_dims)

    def out_shape(self, shape: Shape) -> Shape:
        """One axis more."""
        axis = normal_axis("expand_dims", self.axis, len(shape) + 1)
        return (*shape[:axis], 1, *shape[axis:])


@operator("squeeze")
class squeeze(SameOrder):
    """The data without axes of length 1.

    Shapes:
        data: Any.
        output: As data, without the axes; (1,) where none would be left.

    Example:
        >>> import operad as od
        >>> x = od.nd.array([[[1], [2]]])
        >>> od.nd.squeeze(x).shape, od.nd.squeeze(x, axis=0).shape
        ((2,), (2, 1))

    Source: squeeze, src/operator/tensor/matrix_op.cc.
    """

    axis = param("shape", None, doc="Axes to remove, each of length 1; all such axes if None.")
    contract = Contract(reference=without_axes)

    def out_shape(self, shape: Shape) -> Shape:
        """The axes that stay."""
        if self.axis is None:
            removed = {axis for axis, length in enumerate(shape) if length == 1}
        else:
            removed = {normal_axis("squeeze", axis, len(shape)) for axis in self.axis}
        for axis in removed:
            if shape[axis] != 1:
                raise ShapeError(f"squeeze: axis {axis} of data {shape} has length {shape[axis]}, expected 1")
        kept = tuple(length for axis, length in enumerate(shape) if axis not in removed)
        return kept or (1,)


@operator("reshape_like")
class reshape_like(SameOrder):
    """The data in the shape of another array, or with some axes taken from it.

    Shapes:
        lhs: Any.
        rhs: Its shape counts, not its values.
        output: As rhs; with `lhs_begin` ... `rhs_end`, lhs with those axes replaced by those of rhs.

    Example:
        >>> import operad as od
        >>> od.nd.reshape_like(od.nd.array([1, 2, 3, 4]), od.nd.array([[0, 0], [0, 0]])).shape
        (2, 2)

    Source: reshape_like, src/operator/tensor/elemwise_unary_op_basic.cc.
    """

    lhs_begin = param(int, None, doc="First axis of lhs to replace.")
    lhs_end = param(int, None, doc="Axis of lhs after the last to replace.")
    rhs_begin = param(int, None, doc="First axis of rhs to take.")
    rhs_end = param(int, None, doc="Axis of rhs after the last to take.")
    contract = Contract(reference=partly_like)

    forward_inplace = (("lhs", "output"),)

    def list_arguments(self) -> list[str]:
        """Two."""
        return ["lhs", "rhs"]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Needs both shapes."""
        left, right = in_shapes
        if not (is_complete(left) and is_complete(right)):
            return list(in_shapes), [None], []
        assert left is not None
        assert right is not None
        out = (*left[: self._at(self.lhs_begin, left, 0)],
               *right[self._at(self.rhs_begin, right, 0) : self._at(self.rhs_end, right, len(right))],
               *left[self._at(self.lhs_end, left, len(left)) :])  # fmt: skip
        if prod(map(int, out)) != prod(map(int, left)):  # type: ignore[arg-type]  # both complete
            raise ShapeError(f"reshape_like: lhs has shape {left}, which does not fit {out}")
        return list(in_shapes), [out], []

    def _at(self, given: int | None, shape: Sequence[Any], default: int) -> int:
        return default if given is None else given + len(shape) if given < 0 else given

    def forward(self, lhs: Array, output: Output) -> None:
        """Copy, or nothing where the memory is shared."""
        output.assign(lhs.reshape(output.shape))

    @gradient(inplace=[("output_grad", "lhs_grad")])
    def data_gradient(self, output_grad: Array, lhs_grad: Output) -> None:
        """The gradient in lhs's shape; rhs has none."""
        lhs_grad.assign(output_grad.reshape(lhs_grad.shape))
