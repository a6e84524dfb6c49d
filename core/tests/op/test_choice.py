"""Kernels part by part, and the operator that they make together."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.operators import OfTwo
from operad.cli.explanation import explained
from operad.device import cpu
from operad.errors import ArgumentError, OperadError
from operad.op import (
    BackwardArrays,
    BackwardEntry,
    Cost,
    ForwardArrays,
    Kernel,
    KernelCall,
    OpContext,
    Operator,
    OpReq,
    choose,
)

FLOAT32 = np.dtype("float32")


class Product(OfTwo):
    """`lhs * rhs`, whose kernels each test lists."""

    optional_inputs = ("bias",)


class Marked(Operator):
    """Computes numbers that say which kernel it was."""

    def __init__(self, mark):
        self.mark = mark

    def forward(self, op_ctx, arrays):
        arrays.out_data[0][...] = self.mark

    def backward(self, op_ctx, arrays):
        for place, (target, request) in enumerate(zip(arrays.in_grad, arrays.req, strict=True)):
            if request is not OpReq.NULL:
                target[...] = 10 * self.mark + place


def kernel(mark, *parts, **options):
    return Kernel(
        f"k{mark}",
        lambda prop, ctx, shapes, types: Marked(mark),
        parts=(lambda prop: parts) if parts else None,
        **options,
    )


def call_with(*kernels, shape=(2,), is_train=True, threads=1):
    prop = type("Product", (Product,), {"kernels": list(kernels)})()
    return KernelCall(prop, cpu(), [shape, shape], [FLOAT32] * 2, is_train, threads)


def chosen(*kernels, **options):
    return {part: found.name for part, found in choose(call_with(*kernels, **options)).kernels.items()}


def gradients(operator, requests=(OpReq.WRITE, OpReq.WRITE)):
    ones = np.ones(2, FLOAT32)
    grads = [np.full(2, np.nan, FLOAT32) for _ in requests]
    operator.backward(OpContext(cpu(), True), BackwardArrays([ones], [ones, ones], [ones], requests, grads))
    return [float(grad[0]) for grad in grads]


def test_each_part_has_the_best_kernel_that_computes_it():
    assert chosen(
        kernel(0), kernel(1, "forward", priority=1), kernel(2, "rhs_grad", "forward", priority=2)
    ) == {"forward": "k2", "lhs_grad": "k0", "rhs_grad": "k2"}


def test_the_parts_together_are_one_operator():
    operator = choose(call_with(kernel(1), kernel(2, "lhs_grad", priority=1))).operator()
    out = np.empty(2, FLOAT32)
    operator.forward(OpContext(cpu(), True), ForwardArrays([out, out], [OpReq.WRITE], [out]))
    assert out[0] == 1
    assert gradients(operator) == [20, 11]
    assert gradients(operator, [OpReq.NULL, OpReq.WRITE])[1] == 11


def test_one_kernel_for_all_parts_is_the_operator_itself():
    assert isinstance(choose(call_with(kernel(1), kernel(2, "lhs_grad", priority=-1))).operator(), Marked)


def test_a_part_that_no_kernel_computes_raises_and_is_never_zero():
    operator = choose(call_with(kernel(1, "forward", "lhs_grad"))).operator()
    assert gradients(operator, [OpReq.WRITE, OpReq.NULL])[0] == 10
    with pytest.raises(OperadError, match=r"no kernel computes rhs_grad.*k1: computes no rhs_grad"):
        gradients(operator)


def test_outputs_that_no_kernel_computes_are_an_error_at_once():
    with pytest.raises(OperadError, match=r"no kernel for shapes.*k1: computes no forward"):
        choose(call_with(kernel(1, "lhs_grad")))


def test_among_equal_priorities_the_lowest_declared_cost_wins():
    cheap = kernel(2, cost=lambda call: 1.0)
    dear = kernel(3, cost=lambda call: Cost(loops=1e6))
    assert chosen(kernel(1), dear, cheap)["forward"] == "k2"
    assert chosen(kernel(1), dear)["forward"] == "k1"  # the operator's own estimate is less
    assert chosen(cheap, kernel(3, cost=lambda call: 1.0))["forward"] == "k2"  # the first among equals
    assert chosen(cheap, kernel(4, priority=1))["forward"] == "k4"


def test_conditions_see_mode_threads_and_which_arrays_there_are():
    def when(call):
        seen = call.shape("rhs") == call.shape("output") and call.size("lhs") == 2
        return seen and not call.is_train and call.threads > 1 and not call.has("bias")

    kernels = kernel(1), kernel(2, priority=1, when=when)
    assert chosen(*kernels, is_train=False, threads=2)["forward"] == "k2"
    assert chosen(*kernels, is_train=True, threads=2)["forward"] == "k1"
    assert chosen(*kernels, is_train=False, threads=1)["forward"] == "k1"


def test_arrays_that_are_not_there_are_errors_with_their_names():
    call = call_with(kernel(1))
    with pytest.raises(ArgumentError, match=r"asks for 'lsh'.*did you mean 'lhs'"):
        call.shape("lsh")
    with pytest.raises(ArgumentError, match=r".bias. is absent.*has\(\.\.\.\)"):
        call.dtype("bias")
    assert call.size("bias") == 0


def test_costs_and_scratch_memory_of_parts_are_those_of_their_kernels():
    forward = kernel(1, "forward", cost=lambda call: 5.0, scratch_bytes=lambda call: 64)
    both = kernel(2, "lhs_grad", "rhs_grad", cost=lambda call: Cost(flops=7.0), scratch_bytes=lambda call: 8)
    choice = choose(call_with(forward, both))
    assert choice.cost(["forward"]) == Cost(loops=5.0)
    assert choice.cost(["lhs_grad", "rhs_grad"]) == Cost(flops=7.0)  # which one call computes
    assert choice.scratch_bytes(["forward", "rhs_grad"]) == 64


def test_what_no_kernel_says_is_the_operators_estimate():
    choice = choose(call_with(kernel(1)))
    assert choice.cost(["forward"]) == Cost(loops=6.0)
    assert choice.cost(["lhs_grad"]) == Cost(loops=12.0)
    assert not choice.has_costs


def test_wide_elements_take_longer():
    call = call_with(kernel(1))
    call.in_types = [np.dtype("float64")] * 2
    assert choose(call).cost(["forward"]) == Cost(loops=12.0)


def test_why_names_every_other_kernel_with_its_reason():
    never = kernel(3, priority=9, when=lambda call: "not today")
    call = call_with(kernel(1), kernel(2, "lhs_grad", priority=1), never)
    forward, lhs, _ = explained(choose(call), call.prop.list_parts())
    assert (forward.part, forward.kernel, forward.others) == ("forward", "k1", {"k3": "not today"})
    assert lhs.kernel == "k2"
    assert lhs.others == {"k1": "priority 0 is below 1", "k3": "not today"}


HEAD = BackwardEntry("out_grad", 0)
DATA = BackwardEntry("in_data", 0)


class InPlace(Product):
    """Its gradients may lie over what they read."""

    pairs = ()

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [*out_grad, *in_data]

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        roles = {"out_grad": out_grad, "in_data": in_data}
        return [(roles[entry.kind][entry.index], in_grad[target]) for entry, target in self.pairs]


def in_place(pairs, *kernels):
    prop = type("InPlace", (InPlace,), {"kernels": list(kernels), "pairs": pairs})()
    return choose(KernelCall(prop, cpu(), [(2,), (2,)], [FLOAT32] * 2))


@pytest.mark.parametrize("first", [0, 1])
def test_a_kernel_that_may_overwrite_an_array_runs_behind_those_that_read_it(first):
    found = in_place([(HEAD, first)], kernel(0), kernel(1, "lhs_grad", priority=1))
    mine = ["k1", "k0"][first]  # the kernel that overwrites the head gradient, which both read
    assert [one.name for one in found.gradient_kernels()][-1] == mine
    head, data = np.ones(2, FLOAT32), np.ones(2, FLOAT32)
    other = np.full(2, np.nan, FLOAT32)
    grads, req = [other, other], [OpReq.WRITE, OpReq.WRITE]
    grads[first], req[first] = head, OpReq.INPLACE
    order = []
    operator = found.operator()
    for positions, each in operator._operators():
        order.append(positions)
        assert each.mark == (1 if positions == {0} else 0)
    assert order[-1] == {first}
    operator.backward(OpContext(cpu(), True), BackwardArrays([head], [data, data], [data], req, grads))
    assert [float(grad[0]) for grad in grads] == [10, 1]


def test_kernels_that_overwrite_what_the_other_reads_are_refused():
    pairs = [(HEAD, 0), (DATA, 1)]
    with pytest.raises(
        OperadError, match="kernel k1 may write lhs_grad over out_grad 0, which kernel k0 reads"
    ):
        in_place(pairs, kernel(0), kernel(1, "lhs_grad", priority=1)).operator()
    assert in_place(pairs, kernel(0)).operator(), "one kernel knows its own order"
