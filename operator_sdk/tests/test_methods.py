from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import BackwardEntry, OpContext, OpReq
from operad_sdk import DeclarationError, OperatorProperty, Output, gradient, operator, param
from operad_sdk.testing import check_forward, gradient_check

X = np.array([0.5, -1.0, 2.0])


def declare(**members):
    members.setdefault("forward", lambda self, data, output: output.assign(data))
    return operator("op")(type("Op", (OperatorProperty,), members))


def entries(kind, *indices):
    return [BackwardEntry(kind, index) for index in indices]


def test_prepared_call_is_the_authors_method_alone():
    cls = declare(spec="data:(N) -> output:(N)")
    op = cls().create_operator(cpu(), [(3,)], [np.dtype("f8")])
    out = np.empty(3)
    call = op.prepare_forward(OpContext(cpu(), True), [X], [OpReq.WRITE], [out], [])
    assert call.func.__func__ is cls.forward
    data, output = call.args
    assert data is X
    assert isinstance(output, Output)
    assert output.array is out


def test_prepared_gradient_is_the_authors_method_alone():
    cls = declare(
        spec="data:(N) -> output:(N)",
        backward=lambda self, output_grad, data_grad: data_grad.assign(output_grad),
    )
    op = cls().create_operator(cpu(), [(3,)], [np.dtype("f8")])
    call = op.prepare_backward(OpContext(cpu(), True), [X], [None], [None], [OpReq.WRITE], [np.empty(3)], [])
    assert call.func.__func__ is cls.backward


def test_run_facts_and_parameters_are_given_by_name():
    seen = []

    def forward(self, is_train, op_ctx, data, output):
        seen.append((is_train, op_ctx.is_train, op_ctx.xp, self.k))
        output.assign(data)

    check_forward(
        declare(spec="data:(N) -> output:(N)", forward=forward, k=param(int)), [X], is_train=False, k=3
    )
    assert set(seen) == {(False, False, np, 3)}


def test_gradient_runs_only_where_its_output_is_wanted():
    ran = []

    class Two(OperatorProperty):
        spec = "lhs:(N), rhs:(N) -> output:(N)"

        def forward(self, lhs, rhs, output):
            output.assign(lhs - rhs)

        @gradient
        def of_lhs(self, output_grad, lhs_grad):
            ran.append("lhs")
            lhs_grad.assign(output_grad)

        @gradient
        def of_rhs(self, output_grad, rhs_grad):
            ran.append("rhs")
            rhs_grad.assign(-output_grad)

    op = operator("two")(Two)().create_operator(cpu(), [(3,), (3,)], [X.dtype] * 2)
    grad = np.empty(3)
    op.backward(
        OpContext(cpu(), True), [X], [None, None], [None], [OpReq.NULL, OpReq.WRITE], [None, grad], []
    )
    assert ran == ["rhs"]
    np.testing.assert_array_equal(grad, -X)


def test_argument_without_gradient_gets_zeros_where_one_is_asked_for():
    cls = declare(
        spec="data:(N), label:(N) -> output:(N)",
        backward=lambda self, output_grad, data_grad: data_grad.assign(output_grad),
    )
    assert cls().differentiable_inputs() == [True, False]
    op = cls().create_operator(cpu(), [(3,), (3,)], [X.dtype] * 2)
    grads = [np.empty(3), np.full(3, np.nan)]
    op.backward(OpContext(cpu(), True), [X], [None, None], [None], [OpReq.WRITE] * 2, grads, [])
    assert grads[1].tolist() == [0, 0, 0]


def test_gradient_counts_only_when_its_condition_holds():
    class Pool(OperatorProperty):
        mode = param(str, choices=("max", "sum"))
        spec = "data:(N) -> output:()"

        def forward(self, data, output):
            output.assign(data.max() if self.mode == "max" else data.sum())

        @gradient(when=lambda prop: prop.mode == "max")
        def of_max(self, output_grad, data, output, data_grad):
            data_grad.assign(output_grad * (data == output))

        @gradient(when=lambda prop: prop.mode == "sum")
        def of_sum(self, output_grad, data_grad):
            data_grad.assign(output_grad)

    pool = operator("pool")(Pool)
    assert pool(mode="sum").backward_dependency([True]) == entries("out_grad", 0)
    assert pool(mode="max").backward_dependency([True]) == [
        *entries("out_grad", 0), *entries("in_data", 0), *entries("out_data", 0),
    ]  # fmt: skip
    gradient_check(pool, [X], mode="max")
    gradient_check(pool, [X], mode="sum")


def test_two_gradients_of_one_argument_are_refused():
    class Twice(OperatorProperty):
        spec = "data:(N) -> output:(N)"

        def forward(self, data, output): ...

        @gradient
        def one(self, output_grad, data_grad): ...

        @gradient
        def other(self, output_grad, data_grad): ...

    with pytest.raises(DeclarationError, match=r"twice.other and twice.one compute the same gradient"):
        operator("twice")(Twice)().backward_dependency([True])


def test_inplace_pair_gives_way_to_a_later_reader():
    class Two(OperatorProperty):
        spec = "lhs:(N), rhs:(N) -> output:(N)"

        def forward(self, lhs, rhs, output):
            output.assign(lhs * rhs)

        @gradient(inplace=[("output_grad", "lhs_grad"), ("rhs", "lhs_grad")])
        def of_lhs(self, output_grad, rhs, lhs_grad):
            lhs_grad.assign(output_grad * rhs)

        @gradient(inplace=[("output_grad", "rhs_grad")])
        def of_rhs(self, output_grad, lhs, rhs_grad):
            rhs_grad.assign(output_grad * lhs)

    two = operator("two")(Two)
    pairs = two().backward_inplace_option(["g"], ["l", "r"], ["o"], ["lg", "rg"])
    assert sorted(pairs) == [("g", "rg"), ("r", "lg")]
    gradient_check(two, [X, X + 1])


@pytest.mark.parametrize(
    "inplace", [[("output_grad", "output")], [("data_grad", "nothing")], [("args", "args0_grad")]]
)
def test_inplace_pair_that_is_none_is_refused(inplace):
    class Pairs(OperatorProperty):
        spec = "data:(N), args0:(N), args1:(N) -> output:(N)"

        def forward(self, data, output): ...

        @gradient(inplace=inplace)
        def all(self, output_grad, args, data_grad): ...

    pairs = operator("pairs")(type("Pairs", (Pairs,), {"spec": lambda self: Pairs.spec}))
    with pytest.raises(DeclarationError, match=r"inplace of pairs\.all"):
        pairs().backward_inplace_option(["g"], ["d", "a", "b"], ["o"], ["dg", "ag", "bg"])


def test_absent_argument_is_none_and_its_gradient_is_nothing():
    seen = []

    class Scale(OperatorProperty):
        no_scale = param(bool, False)
        spec = "data:(N), scale:() if not no_scale -> output:(N), hidden copy:(N) if not no_scale"

        def forward(self, data, scale, output, copy):
            copy.assign(data)
            output.assign(data if scale is None else data * scale)

        def backward(self, output_grad, copy, scale, data_grad, scale_grad):
            seen.append((copy is None, scale is None, scale_grad.wanted))
            data_grad.assign(output_grad if scale is None else output_grad * scale)
            if scale is not None:
                scale_grad.assign((output_grad * copy).sum())

    scale = operator("scale")(Scale)
    gradient_check(scale, [X], no_scale=True)
    assert set(seen) == {(True, True, False)}
    gradient_check(scale, [X, np.array(3.0)])


def test_output_with_an_arguments_name_is_called_out():
    class Cell(OperatorProperty):
        spec = "data:(N), state:(N) -> output:(N), state:(N)"

        def forward(self, data, state, output, out_state):
            output.assign(data * state)
            out_state.assign(data + state)

        def backward(self, output_grad, out_state_grad, data, state, data_grad, state_grad):
            data_grad.assign(output_grad * state + out_state_grad)
            state_grad.assign(output_grad * data + out_state_grad)

    check_forward(operator("cell")(Cell), [X, X + 1], lambda data, state: (data * state, data + state))
    gradient_check(operator("cell2")(Cell), [X, X + 1])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"forward": lambda self, data, outputs: None}, r"op.forward takes 'outputs'.*did you mean 'output'"),
        ({"backward": lambda self, data_grad, label: None}, r"op.backward takes 'label'"),
        ({"backward": lambda self, hidden_grad, data_grad: None}, r"takes 'hidden_grad'"),
        ({"forward": lambda self, data, *, output: None}, r"'output' is keyword-only"),
        ({"forward": lambda self, *arrays: None}, r"name every parameter"),
    ],
)
def test_method_that_names_what_is_not_there_is_refused_at_once(members, message):
    with pytest.raises(DeclarationError, match=message):
        declare(spec="data:(N) -> output:(N), hidden hidden:(N)", **members)
