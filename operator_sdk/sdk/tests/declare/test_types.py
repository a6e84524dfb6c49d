"""Element types of what is declared: what is accepted, computed in, cast and truncated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import DTypeError, ParamError
from operad.operator import BackwardArrays, OpContext, OpReq
from operad_check.testing import check_forward, gradient_check
from operad_sdk import (
    BINARY,
    BROADCAST,
    OperatorProperty,
    Scalar,
    as_dtype,
    binary,
    param,
    unary,
)
from operad_sdk.errors import DeclarationError
from operator_sdk.sdk.tests.declare.declaring import X, declared, run


def test_a_value_is_broadcast_and_a_float_is_not_cast_to_an_integer() -> None:
    np.testing.assert_array_equal(run(declared(forward=lambda data: 3), X)[0], np.full(X.shape, 3.0))
    with pytest.raises(DTypeError, match="a value of float64 is returned where int64 is asked for"):
        run(declared(forward=lambda data: data + 0.5), [1, 2])


def test_half_precision_is_computed_in_the_declared_type() -> None:
    seen: list[Any] = []

    def forward(data: Any, output: Any) -> None:
        seen.extend([data.dtype, output.dtype])
        output[...] = data

    op = declared(compute_dtype="float32", forward=forward)
    (out,) = run(op, X.astype("f2"))
    assert out.dtype == "f2"
    assert seen == [np.float32, np.float32]
    check_forward(op, [X.astype("f4")], [X])


def test_a_result_that_is_narrower_than_its_type_of_computation_is_not_written_directly() -> None:
    """The function writes float32, which is rounded once; called with the arrays alone it wrote float16."""
    dtype = param("dtype", "float32", doc="Type of the output.")
    op = declared("data:(*S) -> output:dtype(*S)", dtype=dtype, compute_dtype="float32", forward=_square)
    made = op(dtype="float16").create_operator(cpu(), [(2,)], [np.dtype("f4")])
    assert made.direct is None
    assert op().create_operator(cpu(), [(2,)], [np.dtype("f4")]).direct is not None


def _square(data: Any, output: Any) -> None:
    np.multiply(data, data, output)


def test_gradients_of_integers_are_truncated_towards_zero() -> None:
    op = declared(forward=lambda data: data, backward=lambda output_grad, data: -0.75 * data * output_grad)
    made = op().create_operator(cpu(), [(2,)], [np.dtype("i4")])
    grad = np.full(2, 9, "i4")
    head, data = np.array([1, 1], "i4"), np.array([2, -3], "i4")
    made.backward(OpContext(cpu(), True), BackwardArrays([head], [data], [None], [OpReq.WRITE], [grad]))
    assert grad.tolist() == [-1, 2]
    made.backward(OpContext(cpu(), True), BackwardArrays([head], [data], [None], [OpReq.ADD], [grad]))
    assert grad.tolist() == [-2, 4]


@pytest.mark.parametrize("spec", [BINARY, BROADCAST])
def test_slopes_are_truncated_before_they_meet_a_head_gradient_of_integers(spec: str) -> None:
    op = binary("scaled", spec)(lambda lhs, rhs: lhs * rhs)
    op.gradient("lhs")(lambda output_grad, rhs: 0.75 * rhs * output_grad)
    op.gradient("rhs")(lambda output_grad, rhs_grad: np.multiply(output_grad, -1.5, rhs_grad))
    made = op().create_operator(cpu(), [(2,), (2,)], [np.dtype("i4")] * 2)
    grads = [np.full(2, 9, "i4"), np.full(2, 9, "i4")]
    head, data = np.array([4, 5], "i4"), np.array([1, -2], "i4")
    requests = [OpReq.WRITE, OpReq.ADD]
    made.backward(OpContext(cpu(), True), BackwardArrays([head], [data, data], [None], requests, grads))
    assert [grad.tolist() for grad in grads] == [[0, -5], [5, 4]]


def test_integers_are_computed_in_the_declared_type_and_truncated() -> None:
    op = declared(integers_as="float64", forward=lambda data, output: np.sqrt(data, output))
    (out,) = run(op, np.array([2, 9], "i4"))
    assert (out.tolist(), out.dtype) == ([1, 3], np.int32)
    (out,) = run(op, np.array([2, 9], "i4"), req=OpReq.ADD)
    assert out.tolist() == [8, 10]
    assert op().create_operator(cpu(), [(2,)], [np.dtype("i4")]).direct is None


@pytest.mark.parametrize(("beyond", "expected"), [("wrap", 44), ("keep", 300)])
def test_a_scalar_beyond_the_type_wraps_or_is_kept(beyond: Any, expected: int) -> None:
    seen: list[Any] = []

    def forward(data: Any, scalar: Any, output: Any) -> None:
        seen.append(scalar)
        output[...] = 0

    number = Scalar(default=1.0)
    run(unary("shifted", scalar=number, scalar_beyond=beyond)(forward), np.array([1], "u1"), scalar=300.5)
    assert seen == [expected]
    with pytest.raises(ParamError, match="cannot hold"):
        run(unary("shifted", scalar=number)(forward), np.array([1], "u1"), scalar=np.inf)


def test_what_is_computed_and_given_has_the_promoted_type() -> None:
    scaled = unary(
        "scaled", scalar=Scalar(), promote=lambda prop, dtype: as_dtype("int64") if dtype == "bool" else dtype
    )(np.multiply)
    (out,) = run(scaled, np.array([True, False]), scalar=3.5)
    assert (out.tolist(), out.dtype) == ([3, 0], np.int64)
    (out,) = run(scaled, np.array([1, 2], "f4"), scalar=3.5)
    assert (out.tolist(), out.dtype) == ([3.5, 7.0], np.float32)


def test_gradients_of_integers_may_be_declared_to_be_zero() -> None:
    op = declared(
        is_flat_for_integers=True, forward=lambda data: data, data_grad=lambda output_grad: output_grad
    )
    made = op().create_operator(cpu(), [(2,)], [np.dtype("i4")])
    head, grad = np.array([5, 6], "i4"), np.full(2, 9, "i4")
    made.backward(OpContext(cpu(), True), BackwardArrays([head], [None], [None], [OpReq.WRITE], [grad]))
    assert grad.tolist() == [0, 0]
    gradient_check(op, [X])


def test_states_of_half_precision_are_computed_in_single_and_kept() -> None:
    def forward(weight: Any, mom: Any) -> Any:
        assert mom.dtype == np.float32
        mom += weight
        return weight - mom

    op = declared("weight:(N), state mom:(N) -> output:(N)", forward=forward)
    op.compute_dtype = "float32"
    weight, mom = X[0].astype("float16"), np.ones(3, "float16")
    np.testing.assert_array_equal(run(op, weight, aux=[mom])[0], [-1] * 3)
    np.testing.assert_array_equal(mom, X[0] + 1)


def test_types_are_accepted_for_every_argument() -> None:
    op = declared(
        "lhs:(...), rhs:T(...) -> output:(...)", accepts={"rhs": "integer"}, forward=lambda lhs: lhs
    )
    with pytest.raises(DTypeError, match="rhs is float32, expected an integer type"):
        op().infer_type([np.dtype("f4"), np.dtype("f4")])
    single = declared(accepts=("float32", "float64"), forward=lambda data: data)
    with pytest.raises(DTypeError, match="data is float16, expected float32 or float64"):
        single().infer_type([np.dtype("f2")])


@pytest.mark.parametrize(
    ("line", "accepts", "refused"),
    [
        ("data:(N) -> output:(N)", "integer", {"data"}),
        ("data:any(N) -> output:int64(N)", "integer", {"data"}),
        ("a:any(N), b:any(N) -> output:int64(N)", "integer", {"a", "b"}),
        ("a:T(N), b:T(N) -> output:T(N)", ("int32", "int64"), {"a", "b"}),
        ("data:(N), index:any(M) -> output:(M)", "integer", {"data"}),
        ("data:any(N), index:int64(M) -> output:int64(M)", "integer", {"data", "index"}),
        ("data:(N), index:any(M) -> output:(M)", {"index": "integer"}, {"index"}),
        ("a[2]:any(N) -> output:int64(N)", {"a": "integer"}, {"a0", "a1"}),
    ],
)
def test_accepts_is_about_the_common_type_or_where_there_is_none_about_any(line, accepts, refused):
    words = {"name": "accepting", "spec": line, "accepts": accepts}
    prop = type("Accepting", (OperatorProperty,), words)()
    names = prop.list_arguments()

    for place, name in enumerate(names):
        types = [None] * len(names)
        types[place] = np.dtype("float32")
        if name in refused:
            with pytest.raises(DTypeError, match="is float32, expected"):
                prop.infer_type(types)
        else:
            prop.infer_type(types)


def test_accepts_names_arguments_that_there_are():
    with pytest.raises(DeclarationError, match="accepts names 'dta', expected one of data, index"):
        type(
            "Misnamed",
            (OperatorProperty,),
            {
                "spec": "data:(N), index:any(M) -> output:(M)",
                "accepts": {"dta": "integer"},
                "name": "misnamed",
            },
        )
