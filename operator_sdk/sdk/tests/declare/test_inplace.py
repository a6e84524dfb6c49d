"""Pairs in place: which are allowed, and when they give way."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check.testing import check_forward, gradient_check
from operad_sdk import DeclarationError, OperatorProperty, gradient, operator, param

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def test_a_pair_in_place_gives_way_to_a_later_reader():
    @operator("two")
    class Two(OperatorProperty):
        spec = "lhs:(N), rhs:(N) -> output:(N)"

        def forward(lhs, rhs):
            return lhs * rhs

        @gradient(inplace="output_grad -> lhs_grad, rhs -> lhs_grad")
        def lhs_grad(output_grad, rhs):
            return output_grad * rhs

        @gradient(inplace="output_grad")
        def rhs_grad(output_grad, lhs):
            return output_grad * lhs

    pairs = Two().backward_inplace_option(["g"], ["l", "r"], ["o"], ["lg", "rg"])
    assert sorted(pairs) == [("g", "rg"), ("r", "lg")]
    gradient_check(Two, [X[0], X[1]])


def test_a_pair_of_groups_in_place_is_a_pair_for_each_number():
    @operator("each")
    class Each(OperatorProperty):
        spec = "args[num_args]:(*S[i]) -> output[num_args]:(*S[i])"
        num_args = param(int, 2)
        inplace = "args -> output"

        def forward(args, output):
            for array, target in zip(args, output, strict=True):
                np.negative(array, out=target)

    pairs = Each().forward_inplace_option(["a", "b"], ["x", "y"])
    assert pairs == [("a", "x"), ("b", "y")]
    check_forward(Each, [X[0], X[1]], [-X[0], -X[1]])


@pytest.mark.parametrize(
    "inplace", ["output_grad -> output", "output_grad -> nothing", "args -> args0_grad", "output_grad"]
)
def test_a_pair_in_place_that_is_none_is_refused(inplace):
    class Pairs(OperatorProperty):
        spec = "data:(N), args[num_args]:(N) -> output:(N)"
        num_args = param(int, 2)

        def forward(data):
            return data

        @gradient(inplace=inplace)
        def backward(output_grad, args, data_grad, args_grad): ...

    with pytest.raises(DeclarationError, match=r"inplace of pairs\.backward"):
        operator("pairs")(Pairs)().backward_inplace_option(["g"], ["d", "a", "b"], ["o"], ["dg", "ag", "bg"])
