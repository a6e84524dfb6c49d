"""Faults of shape and type inference."""

from __future__ import annotations

import numpy as np

from operad.errors import ShapeError
from operad.operator import Operator, OperatorProperty, assign
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


class _Sum(Operator):
    def forward(self, op_ctx, arrays):
        assign(
            arrays.out_data[0],
            arrays.req[0],
            (arrays.in_data[0] + arrays.in_data[1]).astype(arrays.out_data[0].dtype),
        )


class _Sums(OperatorProperty):
    has_gradient = False

    def list_arguments(self):
        return ["lhs", "rhs"]

    def create_operator(self, ctx, in_shapes, in_types):
        return _Sum()


def _same(name, lhs, rhs):
    """Shapes of two arguments that are alike, as they should be inferred."""
    if lhs is None or rhs is None:
        return lhs if rhs is None else rhs
    if len(lhs) != len(rhs):
        raise ShapeError(f"{name}: rhs has {len(rhs)} axes {rhs}, expected {len(lhs)} axes as lhs {lhs}")
    for axis, (a, b) in enumerate(zip(lhs, rhs, strict=True)):
        if a is not None and b is not None and a != b:
            raise ShapeError(f"{name}: rhs has shape {rhs}, expected {lhs}: axis {axis} is {b}, not {a}")
    return tuple(a if b is None else b for a, b in zip(lhs, rhs, strict=True))


class GuessedOnes(_Sums):
    """The sum of arrays of one shape; an unknown axis is taken to be 1."""

    name = "zoo_guessed_ones"

    def infer_shape(self, in_shapes):
        shape = _same(self.name, *in_shapes)
        shape = None if shape is None else tuple(1 if size is None else size for size in shape)
        return [shape, shape], [shape], []


class GuessedBroadcast(_Sums):
    """A sum with a column or an array; an unknown operand is taken to be no column."""

    name = "zoo_guessed_broadcast"

    def infer_shape(self, in_shapes):
        lhs, rhs = in_shapes
        if lhs is None or None in lhs:
            return [lhs, rhs], [None], []
        if rhs is None or None in rhs:
            rhs = lhs
        if len(lhs) != 2 or len(rhs) != 2 or rhs[0] != lhs[0] or rhs[1] not in (1, lhs[1]):
            raise ShapeError(f"{self.name}: rhs has shape {rhs}, expected {lhs} or axis 1 of length 1")
        return [lhs, rhs], [lhs], []


class Unpacking(_Sums):
    """The sum of matrices; the first has to be known."""

    name = "zoo_unpacking"

    def infer_shape(self, in_shapes):
        rows, columns = in_shapes[0]
        shape = _same(self.name, (rows, columns), in_shapes[1])
        return [shape, shape], [shape], []


class Forgetful(_Sums):
    """The sum of arrays of one shape; what is known of only one of them is dropped."""

    name = "zoo_forgetful"

    def infer_shape(self, in_shapes):
        if any(shape is None or None in shape for shape in in_shapes):
            return [None, None], [None], []
        shape = _same(self.name, *in_shapes)
        return [shape, shape], [shape], []


class TwoRounds(_Sums):
    """The sum of arrays of one shape; the output takes another round."""

    name = "zoo_two_rounds"

    def infer_shape(self, in_shapes):
        shape = _same(self.name, *in_shapes)
        known = all(given is not None and None not in given for given in in_shapes)
        return [shape, shape], [shape if known else None], []


class Growing(_Sums):
    """The sum of arrays of one shape; unknown axes get a new length each time."""

    name = "zoo_growing"
    seen = 0

    def infer_shape(self, in_shapes):
        shape = _same(self.name, *in_shapes)
        if shape is None:
            type(self).seen += 1
            return [None, None], [(None,) * (type(self).seen % 3)], []
        return [shape, shape], [shape], []


class BadShape(_Sums):
    """The sum of arrays of one shape; the error is none of ours."""

    name = "zoo_bad_shape"

    def infer_shape(self, in_shapes):
        try:
            shape = _same(self.name, *in_shapes)
        except ShapeError:
            raise ValueError("bad shape") from None
        return [shape, shape], [shape], []


class LengthsDivided(_Sums):
    """The sum; lengths that follow from the output's are quotients of floats."""

    name = "zoo_lengths_divided"

    def infer_shape(self, in_shapes):
        shape = _same(self.name, *in_shapes)
        return [shape, shape], [shape], []

    def infer_shape_backward(self, in_shapes, out_shapes):
        (shape,) = out_shapes
        return [None if shape is None else tuple(size and size / 1 for size in shape)] * 2


class LearnsBackwards(_Sums):
    """The sum; its arguments follow from its output where that is not known."""

    name = "zoo_learns_backwards"

    def infer_shape(self, in_shapes):
        shape = _same(self.name, *in_shapes)
        return [shape, shape], [shape], []

    def infer_shape_backward(self, in_shapes, out_shapes):
        return list(in_shapes) if out_shapes[0] is not None else [out_shapes[0]] * 2


class LearnsWhatIsKnown(_Sums):
    """The sum; lengths follow from the output's where they are known already."""

    name = "zoo_learns_what_is_known"

    def infer_shape(self, in_shapes):
        shape = _same(self.name, *in_shapes)
        return [shape, shape], [shape], []

    def infer_shape_backward(self, in_shapes, out_shapes):
        known = [shape is not None and None not in shape for shape in in_shapes]
        return [
            out_shapes[0] if is_known else shape for is_known, shape in zip(known, in_shapes, strict=True)
        ]


class NothingNamed(_Sums):
    """The sum of arrays of one shape; the error says nothing."""

    name = "zoo_nothing_named"

    def infer_shape(self, in_shapes):
        try:
            shape = _same(self.name, *in_shapes)
        except ShapeError:
            raise ShapeError(f"{self.name}: shapes do not fit") from None
        return [shape, shape], [shape], []


class _Alike(_Sums):
    def infer_shape(self, in_shapes):
        shape = _same(self.name, *in_shapes)
        return [shape, shape], [shape], []


class AlwaysSingle(_Alike):
    """The sum, in single precision unless both types are known."""

    name = "zoo_always_single"

    def infer_type(self, in_types):
        if None in [None if t is None else t.name for t in in_types]:
            return [np.dtype(np.float32)] * 2, [np.dtype(np.float32)], []
        return list(in_types), [in_types[0]], []


class ForgottenTypes(_Alike):
    """The sum; types are known together or not at all."""

    name = "zoo_forgotten_types"

    def infer_type(self, in_types):
        found = next((t for t in in_types if t is not None), None)
        if in_types[1] is None and found is not None and in_types[0] is not None:
            return [None, found], [None], []
        return [found, found], [found], []


class TypesRequired(_Alike):
    """The sum, in the wider of two types, both of which have to be known."""

    name = "zoo_types_required"

    def infer_type(self, in_types):
        if all(t is None for t in in_types):
            return [None, None], [None], []
        wider = max(in_types, key=lambda t: t.itemsize)
        return [wider, wider], [wider], []


ZOO = without_gradients(
    [
        Fault("F203", GuessedOnes, "an unknown axis is taken to be 1"),
        Fault("F203", GuessedBroadcast, "an unknown operand is taken to be like the other"),
        Fault("F204 F206", Unpacking, "raises where the first argument is not known"),
        Fault("F204 F220", Forgetful, "forgets what was given, also a known argument"),
        Fault("F204 F220", LengthsDivided, "lengths that follow from the output are no integers"),
        Fault("F205", TwoRounds, "completes in a second round only"),
        Fault("F205 F203", Growing, "gives something else each time"),
        Fault("F206", BadShape, "clashing shapes raise a ValueError"),
        Fault("F206", NothingNamed, "the error names no argument and no axis"),
        Fault("F223", LearnsBackwards, "a condition is the wrong way round"),
        Fault("F223 F220", LearnsWhatIsKnown, "completes what is complete"),
        Fault("F217", AlwaysSingle, "guesses float32"),
        Fault("F217", ForgottenTypes, "forgets a type that was given"),
        Fault("F217 D601", TypesRequired, "raises where a type is not known"),
    ]
)
