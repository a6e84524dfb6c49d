"""The rules by which functions become an operator, one test for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import ShapeError
from operad.operator import BackwardArrays, BackwardEntry, ForwardArrays, OpContext, OpReq
from operad_check.testing import check_forward, gradient_check
from operad_sdk import (
    BROADCAST,
    DeclarationError,
    Scalar,
    binary,
    define,
    gradient,
    lock_cost_limit,
    param,
    unary,
)
from operator_sdk.sdk.tests.declare.declaring import ONE, X, declared, run


def test_a_target_that_is_not_named_is_returned() -> None:
    op = declared(forward=lambda data: data * 2)
    np.testing.assert_array_equal(run(op, X)[0], X * 2)


def test_a_target_that_is_named_is_filled() -> None:
    op = declared(forward=lambda data, output: np.multiply(data, 2, out=output))
    np.testing.assert_array_equal(run(op, X)[0], X * 2)


def test_some_targets_may_be_filled_and_others_returned_in_declared_order() -> None:
    def forward(data: Any, double: Any) -> Any:
        double[...] = 2 * data
        return data + 1, data + 3

    op = declared("data:(...) -> one:(...), double:(...), three:(...)", forward=forward)
    one, double, three = run(op, X)
    np.testing.assert_array_equal([one, double, three], [X + 1, X * 2, X + 3])


def test_a_function_that_neither_fills_nor_returns_is_an_error_that_says_which() -> None:
    op = declared(forward=lambda data: None)
    with pytest.raises(DeclarationError, match=r"neither fills nor returns"):
        run(op, X)


def test_a_returned_tuple_of_the_wrong_length_names_what_is_expected() -> None:
    op = declared("data:(...) -> a:(...), b:(...)", forward=lambda data: (data,))
    with pytest.raises(DeclarationError, match=r"a tuple of 1, expected a tuple of 2: a, b"):
        run(op, X)


def test_a_value_that_would_be_lost_is_refused_at_the_declaration() -> None:
    def forward(data: Any, output: Any) -> Any:
        return data * 2

    with pytest.raises(DeclarationError, match=r"takes output to fill and returns 'data \* 2'"):
        declared(forward=forward)


def test_the_target_itself_may_be_returned() -> None:
    def forward(data: Any, output: Any) -> Any:
        return np.add(data, 1, out=output)

    np.testing.assert_array_equal(run(declared(forward=forward), X)[0], X + 1)


@pytest.mark.parametrize("fills", [False, True])
def test_requests_are_the_binders(fills: bool) -> None:
    filling = lambda data, output: np.add(data, 1, out=output)  # noqa: E731 - a pair of one-liners
    op = declared(forward=filling if fills else lambda data: data + 1)
    there = [np.full(X.shape, 100.0)]
    np.testing.assert_array_equal(run(op, X, req=OpReq.ADD, out=there)[0], X + 101)
    untouched = [np.full(X.shape, 100.0)]
    np.testing.assert_array_equal(run(op, X, req=OpReq.NULL, out=untouched)[0], untouched[0])


def test_a_function_is_not_called_where_nothing_it_computes_is_wanted() -> None:
    called: list[str] = []

    def lhs_grad(output_grad: Any) -> Any:
        called.append("lhs")
        return output_grad

    def rhs_grad(output_grad: Any) -> Any:
        called.append("rhs")
        return output_grad

    spec = "lhs:(...), rhs:(...) -> output:(...)"
    op = declared(spec, forward=lambda lhs, rhs: lhs + rhs, lhs_grad=lhs_grad, rhs_grad=rhs_grad)
    made = op().create_operator(cpu(), [(2,)] * 2, [np.dtype("f4")] * 2)
    grads = [None, np.zeros(2, "f4")]
    head = np.ones(2, "f4")
    made.backward(
        OpContext(cpu(), True), BackwardArrays([head], [None] * 2, [None], [OpReq.NULL, OpReq.WRITE], grads)
    )
    assert called == ["rhs"]
    np.testing.assert_array_equal(grads[1], head)


def test_wanted_names_the_targets_that_are_asked_for() -> None:
    asked: list[frozenset[str]] = []

    def backward(output_grad: Any, wanted: frozenset[str], lhs_grad: Any, rhs_grad: Any) -> None:
        asked.append(wanted)
        lhs_grad[...] = rhs_grad[...] = output_grad

    op = declared("lhs:(2), rhs:(2) -> output:(2)", forward=lambda lhs, rhs: lhs + rhs, backward=backward)
    made = op().create_operator(cpu(), [(2,)] * 2, [np.dtype("f4")] * 2)
    head = np.ones(2, "f4")
    made.backward(
        OpContext(cpu(), True),
        BackwardArrays([head], [None] * 2, [None], [OpReq.NULL, OpReq.ADD], [None, head.copy()]),
    )
    assert asked == [{"rhs_grad"}]


def test_a_gradient_computes_what_it_is_called_or_every_argument_in_order() -> None:
    by_name = declared(
        "lhs:(...), rhs:(...) -> output:(...)",
        forward=lambda lhs, rhs: lhs * rhs,
        lhs_grad=lambda output_grad, rhs: output_grad * rhs,
        rhs_grad=lambda output_grad, lhs: output_grad * lhs,
    )
    at_once = declared(
        "lhs:(...), rhs:(...) -> output:(...)",
        forward=lambda lhs, rhs: lhs * rhs,
        backward=lambda output_grad, lhs, rhs: (output_grad * rhs, output_grad * lhs),
    )
    for op in (by_name, at_once):
        gradient_check(op, [X, X + 1])


def test_what_a_gradient_names_and_nothing_else_is_its_dependency() -> None:
    op = declared(forward=np.tanh, backward=lambda output_grad, output: output_grad * (1 - output * output))
    reads = op().backward_dependency([True])
    assert reads == [BackwardEntry("out_grad", 0), BackwardEntry("out_data", 0)]


def test_the_shape_of_a_target_needs_no_dependency() -> None:
    op = declared(
        "data:(N, D) -> output:(N)",
        forward=lambda data: data.sum(1),
        data_grad=lambda output_grad, data_grad: np.copyto(data_grad, output_grad[:, None]),
    )
    assert op().backward_dependency([True]) == [BackwardEntry("out_grad", 0)]
    gradient_check(op, [X])


def test_an_argument_without_a_gradient_gets_zeros_and_is_not_differentiable() -> None:
    spec = "data:(...), index:I(...) -> output:(...)"
    op = declared(spec, forward=lambda data, index: data, data_grad=lambda output_grad: output_grad)
    assert op().differentiable_inputs() == [True, False]


def test_two_functions_with_one_target_are_refused() -> None:
    op = declared(
        forward=lambda data: data, data_grad=lambda output_grad: output_grad, backward=lambda output_grad: 1
    )
    with pytest.raises(DeclarationError, match="compute the same gradient"):
        _ = op().binding


def test_a_group_is_a_tuple_and_its_gradient_one_sequence() -> None:
    def joined(shapes: Any, dim: int) -> Any:
        return (*shapes[0][:dim], sum(shape[dim] for shape in shapes), *shapes[0][dim + 1 :])

    op = declared(
        "arg[num_args]:(*S[i]) -> output:(*joined(S, dim))",
        num_args=param(int, ge=1),
        dim=param(int, 1),
        functions={"joined": joined},
        forward=lambda arg, dim: np.concatenate(arg, dim),
        backward=lambda output_grad, arg, dim: np.split(
            output_grad, np.cumsum([a.shape[dim] for a in arg])[:-1], dim
        ),
    )
    assert op(num_args=2).infer_shape([(2, 3), (2, 1)])[1] == [(2, 4)]
    assert op(num_args=2).infer_shape([(2, 3), None])[1] == [None]
    gradient_check(op, [X, X[:, :1], X], num_args=3)


def test_what_is_absent_is_none_and_its_gradient_counts_in_a_returned_tuple() -> None:
    op = declared(
        "data:(N), bias:(N) if not no_bias -> output:(N)",
        no_bias=param(bool, False),
        forward=lambda data, bias: data if bias is None else data + bias,
        backward=lambda output_grad, bias: (output_grad, None if bias is None else output_grad),
    )
    gradient_check(op, [X[0], X[1]])
    gradient_check(op, [X[0]], no_bias=True)
    assert op.optional_inputs == ("data", "bias")


def test_a_member_of_a_group_may_be_a_pair_in_place() -> None:
    op = declared(
        "arg[num_args]:(...) -> output:(...)", inplace="arg0 -> output", num_args=param(int, ge=1),
        forward=lambda arg: sum(arg),
        backward=gradient(inplace="output_grad -> arg0_grad")(
            lambda output_grad, num_args: [output_grad] * num_args
        ),
    )  # fmt: skip
    gradient_check(op, [X, X], num_args=2)
    assert op(num_args=2).forward_inplace_option(["a", "b"], ["y"]) == [("a", "y")]


def test_a_ufunc_that_takes_no_output_by_position_gets_it_by_name() -> None:
    op = binary("larger", BROADCAST)(np.maximum)
    check_forward(op, [X, X[:1]], np.maximum(X, X[:1]))


def test_a_function_that_accumulates_gets_zeros_or_what_is_there() -> None:
    def data_grad(output_grad: Any, data_grad: Any) -> None:
        data_grad += output_grad

    op = declared(forward=lambda data: data, data_grad=gradient(accumulate=True)(data_grad))
    gradient_check(op, [X])


def test_broadcast_gradients_are_returned_unreduced_and_summed_back() -> None:
    op = binary("scaled", BROADCAST)(np.multiply)
    op.gradient("lhs")(lambda output_grad, rhs: output_grad * rhs)
    op.gradient("rhs")(lambda output_grad, lhs: output_grad * lhs)
    gradient_check(op, [X, X[:1]])
    gradient_check(op, [X[:, :1], X[:1]])
    gradient_check(op, [X, np.ones((4, 1, 3))])
    with pytest.raises(ShapeError, match="do not broadcast"):
        op().infer_shape([(2, 3), (2, 4)])


def test_a_pair_in_place_needs_no_target_where_there_is_one() -> None:
    op = unary("halved", inplace="data")(lambda data: data / 2)
    op.gradient(inplace="output_grad")(lambda output_grad: output_grad / 2)
    assert op().forward_inplace_option([0], [1]) == [(0, 1)]
    assert op().backward_inplace_option(["head"], [0], [1], ["grad"]) == [("head", "grad")]


def test_states_may_stand_anywhere_and_are_updated_in_place() -> None:
    def forward(weight: Any, mom: Any, grad: Any) -> Any:
        mom += grad
        return weight - mom

    op = declared("weight:(N), state mom:(N), grad:(N) -> output:(N)", forward=forward)
    assert op().list_inputs() == ["weight", "mom", "grad"]
    assert op().list_arguments() == ["weight", "grad"]
    mom = np.ones(3)
    np.testing.assert_array_equal(run(op, X[0], X[1], aux=[mom])[0], X[0] - X[1] - 1)
    np.testing.assert_array_equal(mom, X[1] + 1)


@pytest.mark.parametrize("word", ["out", "ctx", "wanted", "self"])
def test_a_word_is_no_name_of_a_tensor(word: str) -> None:
    with pytest.raises(DeclarationError, match="a word of its own"):
        declared(f"{word}:(...) -> output:(...)", forward=lambda: 0)


def test_a_parameter_may_be_called_ctx_only_where_it_is_ignored() -> None:
    def declare(ctx: Any) -> Any:
        return define(
            "filled", "-> output:(1)", lambda output: output.fill(1), summary="One.", example=("[1.]",),
            params={"ctx": ctx},
        )  # fmt: skip

    assert declare(param(str, "", ignored="the call says where"))(ctx="cpu(0)").ctx == "cpu(0)"
    with pytest.raises(DeclarationError, match="'ctx' is a word of its own"):
        declare(param(str, "", doc="Where."))


def test_a_parameter_with_the_name_of_a_tensor_is_refused() -> None:
    with pytest.raises(DeclarationError, match="is a parameter, and a tensor"):
        declared(data=param(int, 1), forward=lambda data: data)


def test_an_unknown_name_is_refused_at_the_declaration_with_a_suggestion() -> None:
    with pytest.raises(DeclarationError, match="did you mean 'data'"):
        declared(forward=lambda dta: dta)


def test_names_of_ones_own_stand_for_the_operators_in_the_function_form() -> None:
    @unary("shifted", scalar=Scalar("by", default=1.0))
    def shifted(x: Any, by: float) -> Any:
        return x + by

    @shifted.gradient
    def _(output_grad: Any, x: Any, by: float) -> Any:
        return output_grad + 0 * x

    np.testing.assert_array_equal(run(shifted, X, scalar=2.0)[0], X + 2)
    gradient_check(shifted, [X], scalar=2.0)


def test_a_table_line_writes_its_documentation() -> None:
    op = define(
        "doubled", ONE, lambda data: 2 * data, lambda output_grad: 2 * output_grad,
        summary="`y = 2 x`; `dy/dx = 2`.", example=("[1, 2]", "[2., 4.]"), reference=lambda data: data + data,
    )  # fmt: skip
    assert op.__doc__ is not None
    assert ">>> od.nd.doubled(od.nd.array([1, 2])).asnumpy().round(4)" in op.__doc__
    gradient_check(op, [X])


def test_a_ufunc_is_called_itself() -> None:
    op = unary("root")(np.sqrt)
    assert op().create_operator(cpu(), [(2,)], [np.dtype("f4")]).direct is np.sqrt


def test_a_function_runs_under_the_lock_if_it_says_that_it_only_calls_ufuncs() -> None:
    class Root:
        only_ufuncs = True

        def __call__(self, data: Any, output: Any) -> None:
            np.sqrt(data, output)

    def is_under_lock(forward: Any) -> bool:
        return unary("root")(forward)().create_operator(cpu(), [(2,)], [np.dtype("f4")]).runs_under_lock

    assert [is_under_lock(forward) for forward in (np.sqrt, Root(), lambda data: data**0.5)] == [
        True,
        True,
        False,
    ]


def test_a_function_runs_under_the_lock_up_to_the_cost_that_it_says() -> None:
    @lock_cost_limit(100)
    def root(data: Any, output: Any) -> None:
        np.sqrt(data, output)

    def cost(forward: Any) -> float:
        return unary("root")(forward)().create_operator(cpu(), [(2,)], [np.dtype("f4")]).lock_cost_limit_us

    assert [cost(root), cost(lambda data: data**0.5)] == [100, 0]


def test_a_kernel_names_what_it_wants_as_forward_does() -> None:
    op = unary("twice")(lambda data: data * 2)

    @op.kernel("cpu", priority=1, when=lambda call: call.in_shapes[0] == (2, 3))
    def fast(data: Any, output: Any) -> None:
        np.multiply(data, 3, out=output)

    np.testing.assert_array_equal(run(op, X)[0], X * 3)
    np.testing.assert_array_equal(run(op, X[0])[0], X[0] * 2)


def test_a_hidden_output_for_training_may_stay_unwritten_in_prediction() -> None:
    op = declared(
        "data:(N) -> output:(N), hidden train mask:uint8(N)",
        forward=lambda data, is_train: (data, data > 0 if is_train else None),
        data_grad=lambda output_grad, mask: output_grad * mask,
    )
    assert op().train_only_outputs == {1}
    made = op().create_operator(cpu(), [(3,)], [X.dtype])
    for is_train, mask in ((False, [7, 7, 7]), (True, [1, 0, 1])):
        outs = [np.empty(3), np.full(3, 7, np.uint8)]
        made.forward(OpContext(cpu(), is_train), ForwardArrays([X[0]], [OpReq.WRITE] * 2, outs))
        np.testing.assert_array_equal(outs[0], X[0])
        assert outs[1].tolist() == mask
    with pytest.raises(DeclarationError, match="neither fills nor returns output"):
        run(declared("data:(N) -> output:(N), hidden mask:(N)", forward=lambda data: (None, data)), X[0])


def test_a_gradient_of_what_is_no_argument_is_named() -> None:
    with pytest.raises(DeclarationError, match="dta_grad computes 'dta_grad', which this operator does not"):
        declared(forward=lambda data: data, dta_grad=lambda output_grad: output_grad)
