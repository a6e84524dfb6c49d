"""The contract checks on operators that a program registered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, ParamError
from operad_check import check_operator
from operad_sdk import Contract

CUBES = "cubes are products of arrays"


class Cube(od.operator.CustomOp):
    factor = 3

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] * in_data[0] * in_data[0])

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], self.factor * out_grad[0] * in_data[0] * in_data[0])


class WrongCube(Cube):
    factor = 2


def registered(name: str, op: type[Cube], arguments: int = 1, **members: Any) -> Any:
    class Prop(od.operator.CustomOpProp):
        """The third power."""

        def list_arguments(self) -> list[str]:
            return ["data", "label"][:arguments]

        def infer_shape(self, in_shape: Any) -> Any:
            return [in_shape[0]] * arguments, [in_shape[0]], []

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Cube:
            return op()

    for key, value in members.items():
        setattr(Prop, key, value)
    return od.operator.register(name)(Prop)


@pytest.mark.parametrize(("op", "holds"), [(Cube, True), (WrongCube, False)])
@pytest.mark.parametrize("check", ["B301", "F213"])
def test_a_registered_operator_is_checked(op: type[Cube], holds: bool, check: str) -> None:
    pytest.importorskip("operad_elemwise", reason=CUBES)
    name = f"check_{op.__name__}"
    registered(name, op)
    made = od.operator.as_operator(name, Contract(reference=lambda data: data**3))
    report = check_operator(made, checks=[check], profile="dev")
    assert report.passed is (holds or check == "F213")


@pytest.mark.parametrize("check", ["F201", "F204", "F210", "R504", "S104"])
def test_what_mxnets_classes_leave_open_breaks_no_contract(check: str) -> None:
    pytest.importorskip("operad_elemwise", reason=CUBES)
    registered("open_cube", Cube, arguments=2)
    assert check_operator(od.operator.as_operator("open_cube"), checks=[check], profile="dev").passed


def test_the_registered_class_may_state_its_contract() -> None:
    stated = Contract(reference=lambda data: data**3)
    registered("stated_cube", Cube, contract=stated)
    assert od.operator.as_operator("stated_cube").contract is stated
    given = Contract()
    assert od.operator.as_operator("stated_cube", given).contract is given


def test_a_loss_is_known_by_need_top_grad() -> None:
    prop = registered(
        "loss_cube", Cube, __init__=lambda self: super(prop, self).__init__(need_top_grad=False)
    )
    contract = od.operator.as_operator("loss_cube").contract
    assert "need_top_grad=False" in contract.ignores_head_gradient
    assert contract.no_numeric_gradient


def test_an_operator_of_its_own_takes_floating_types_and_no_parameters() -> None:
    registered("typed_cube", Cube)
    op = od.operator.as_operator("typed_cube")
    assert op().infer_type([np.dtype("float64")])[1] == [np.dtype("float64")]
    with pytest.raises(DTypeError, match="data is int32, expected a floating type"):
        op().infer_type([np.dtype("int32")])
    with pytest.raises(ParamError, match="factor"):
        op(factor=2)
    with pytest.raises(ArgumentError, match="'typed_cube' cannot be made with the parameters"):
        od.operator.as_operator("typed_cube", factor=2)


def test_arrays_without_elements_or_axes_have_shapes() -> None:
    registered("shaped_cube", Cube, arguments=2)
    for shape in ((), (0,), (2, 0)):
        x = od.nd.ones(shape)
        assert od.nd.Custom(x, x, op_type="shaped_cube").shape == shape
