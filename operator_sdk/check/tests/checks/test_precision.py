"""Kernels beside each other, and types of fewer digits."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check import Case, Profile, check_operator, verify
from operad_check.trials.violation import Violation
from operad_sdk import Contract, OperatorProperty, Real, Tolerance, operator

FEW = Profile("few", examples=30, seconds=1.0)


def test_a_kernel_that_is_never_chosen_for_some_types_need_not_run_in_place_there():
    """Of integers the second kernel is always chosen; the first cannot write quotients into them."""

    @operator("precision_half")
    class Half(OperatorProperty):
        """Half of each number, of whole ones rounded towards zero."""

        spec = "data:(*S) -> output:(*S)"
        accepts = "number"
        inplace = "data -> output"
        by_numpy = True

        def forward(data, output):
            np.divide(data, 2, out=output)

        def data_grad(output_grad):
            return output_grad / 2

    @Half.kernel(priority=1, when=lambda call: call.in_types[0].kind in "iu", name="whole")
    def _(data, output):
        np.floor_divide(data - np.fmod(data, 2), 2, out=output)

    (outcome,) = check_operator(Half, checks=["D606"], profile=FEW).outcomes
    assert outcome.status == "does not apply", (outcome.status, outcome.reason, outcome.failure)


def row_norm(factor):
    """Rows over their norms, with a kernel whose gradient has another order, and an error by `factor`."""

    @operator("precision_row_norm")
    class RowNorm(OperatorProperty):
        spec = "data:(N, D) -> output:(N, D), hidden norm:(N, 1)"
        accepts = "floating"

        def forward(data):
            norm = np.sqrt((data * data).sum(1, keepdims=True))
            return data / norm, norm

        def data_grad(output_grad, output, norm):
            return (output_grad - output * (output_grad * output).sum(1, keepdims=True)) / norm

    @RowNorm.kernel("data_grad", priority=1, name="reordered")
    def reordered(output_grad, output, norm):
        terms = [output_grad[:, i : i + 1] * output[:, i : i + 1] for i in reversed(range(output.shape[1]))]
        return factor * output_grad / norm - output / norm * sum(terms)

    return RowNorm


def test_kernels_may_leave_other_roundings_where_multiples_of_the_head_gradient_cancel():
    row = np.array([[1.375, -1.0, -1.625]], "float32")
    case = Case(inputs={"data": row}, out_grads=(row,))
    assert verify("D606", row_norm(1.0), case)
    with pytest.raises(Violation, match=r"by kernel .*reordered"):
        verify("D606", row_norm(1.001), case)


@pytest.mark.parametrize("allowed", [0.0, 1e-3])
def test_kernels_may_differ_by_the_distance_that_is_declared(allowed):
    """An output that is 0 in exact numbers holds roundings, which kernels have others of."""

    @operator("precision_remainder")
    class Remainder(OperatorProperty):
        spec = "data:(N, D) -> output:(N, D)"
        accepts = "floating"
        by_numpy = True
        has_gradient = False
        contract = Contract(tolerances={"float32": Tolerance(0.0, allowed, "it holds roundings")})

        def forward(data):
            return data * 0

    @Remainder.kernel(priority=1, name="rounded")
    def rounded(data):
        return data * 0 + 1e-4

    case = Case(inputs={"data": np.ones((2, 3), "float32")})
    if allowed:
        verify("D606", Remainder, case)
    else:
        with pytest.raises(Violation, match="by kernel"):
            verify("D606", Remainder, case)


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_a_kernel_may_keep_what_is_lost_on_the_way_and_is_judged_by_float64_there(factor):
    """The square of 300 is infinite in half precision, so that the operator's own quotient is 0."""

    @operator("precision_bounded")
    class Bounded(OperatorProperty):
        spec = "data:(N) -> output:(N)"
        accepts = "floating"
        has_gradient = False

        def forward(data):
            return data / (1 + data * data)

    @Bounded.kernel(priority=1, name="wider")
    def wider(data):
        wide = data.astype("float64")
        return (factor * wide / (1 + wide * wide)).astype(data.dtype)

    case = Case(inputs={"data": np.array([300.0], "float16")})
    if factor == 1:
        verify("D606", Bounded, case)
    else:
        with pytest.raises(Violation, match=r"by kernel .*wider"):
            verify("D606", Bounded, case)


def row_sum(result):
    """Sums of rows of numbers up to 512, of which `result` makes the result."""

    @operator("precision_row_sum")
    class RowSum(OperatorProperty):
        spec = "data:(N, D) -> output:(N); D >= 1"
        accepts = "floating"
        contract = Contract(inputs={"data": Real(-512, 512)})

        def forward(data):
            return result(data.sum(1))

        def data_grad(output_grad, data):
            return np.broadcast_to(output_grad[:, None], data.shape)

    return RowSum


def test_large_numbers_say_whether_float64_is_kept():
    found = [
        check_operator(row_sum(result), checks=["D604"], profile=FEW).outcomes[0].status
        for result in (lambda sums: sums, lambda sums: sums.astype(np.float32).astype(sums.dtype))
    ]
    assert found == ["passed", "wrong"]


def test_digits_that_are_lost_in_float64_are_no_narrow_type():
    def noisy(sums):
        return sums + 2.0**-29 * np.sin(sums * 2.0**60)

    (outcome,) = check_operator(row_sum(noisy), checks=["D604"], profile=FEW).outcomes
    assert outcome.status == "passed", outcome.failure
