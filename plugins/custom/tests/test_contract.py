"""The contract checks on operators that a program registered."""

from __future__ import annotations

from typing import Any

import pytest

import operad as od
from operad_custom.custom import as_operator
from operad_sdk import Contract
from operad_sdk.check import check_operator


class Cube(od.operator.CustomOp):
    factor = 3

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] * in_data[0] * in_data[0])

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], self.factor * out_grad[0] * in_data[0] * in_data[0])


class WrongCube(Cube):
    factor = 2


def registered(name: str, op: type[Cube]) -> Any:
    @od.operator.register(name)
    class Prop(od.operator.CustomOpProp):
        """The third power."""

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Cube:
            return op()

    return as_operator(name, Contract(reference=lambda data: data**3))


@pytest.mark.parametrize(("op", "holds"), [(Cube, True), (WrongCube, False)])
@pytest.mark.parametrize("check", ["B301", "F213"])
def test_a_registered_operator_is_checked(op: type[Cube], holds: bool, check: str) -> None:
    report = check_operator(registered(f"check_{op.__name__}", op), checks=[check], profile="dev")
    assert report.passed is (holds or check == "F213")
