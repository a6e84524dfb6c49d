"""The arrays of a backward call, and the pairs that an operator declares of them."""

from __future__ import annotations

from operad.op import OperatorProperty
from operad.op.entry import BackwardEntry, inplace_pairs


class Pairs(OperatorProperty):
    def list_arguments(self):
        return ["lhs", "rhs"]

    def list_outputs(self):
        return ["output", "mask"]

    num_visible_outputs = 1

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]] * 2, []

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        assert [len(out_grad), len(in_data), len(out_data), len(in_grad)] == [1, 2, 2, 2]
        return [(out_grad[0], in_grad[1]), (out_data[1], in_grad[0])]


def test_pairs_are_what_is_read_and_the_argument_of_the_gradient():
    assert inplace_pairs(Pairs()) == [(BackwardEntry("out_grad", 0), 1), (BackwardEntry("out_data", 1), 0)]
