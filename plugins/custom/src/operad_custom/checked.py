"""A registered operator as an operator of its own, for the contract checks and for `registry.register`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.dtypes import DType
from operad.errors import ArgumentError, DTypeError
from operad.operator import InferredTypes, OperatorProperty
from operad_custom.custom import Custom, RegisteredOperator
from operad_custom.registered import registered
from operad_custom.user import CustomOpProp
from operad_sdk import Contract


def as_operator(op_type: str, contract: Contract | None = None, **params: Any) -> type[RegisteredOperator]:
    """A registered operator as a class of its own, for `operad_check` and `operad.registry.register`.

    A class that leaves element types to `CustomOpProp.infer_type` is taken to compute in floating ones.

    Args:
        op_type: The name that it was registered by.
        contract: What the contract checks cannot find out by themselves; None: the attribute `contract` of
            the registered class, else what follows from `need_top_grad`.
        params: What the registered class is made with.

    Raises:
        OperatorNotFoundError: Nothing is registered by that name.
        ArgumentError: The registered class takes other parameters.
    """
    cls: Any = registered(op_type)
    given = {key: str(value) for key, value in params.items()}
    try:
        prop: CustomOpProp = cls(**given)
    except TypeError as error:
        raise ArgumentError(
            f"as_operator: {cls.__name__} of {op_type!r} cannot be made with the parameters {given}: {error}"
        ) from error
    declared = contract or getattr(cls, "contract", None) or _contract(prop)
    is_floating = cls.infer_type is CustomOpProp.infer_type

    def __init__(self: RegisteredOperator, **none: Any) -> None:  # noqa: N807 - it becomes that method
        OperatorProperty.__init__(self, **none)
        self._bind(given)

    def infer_type(self: RegisteredOperator, in_types: Sequence[DType | None]) -> InferredTypes:
        for name, dtype in zip(self.list_arguments(), in_types, strict=True):
            if is_floating and dtype is not None and dtype.kind != "f":
                raise DTypeError(f"{op_type}: {name} is {dtype.name}, expected a floating type")
        return RegisteredOperator.infer_type(self, in_types)

    members = {
        "name": op_type, "op_type": op_type, "contract": declared, "__doc__": cls.__doc__,
        "__init__": __init__, "infer_type": infer_type, "kernels": [*Custom.kernels],
    }  # fmt: skip
    return type(op_type, (RegisteredOperator,), members)


def _contract(prop: CustomOpProp) -> Contract:
    if prop.need_top_grad_:
        return Contract()
    return Contract(
        ignores_head_gradient="it was made with need_top_grad=False",
        no_numeric_gradient="it is the gradient of a loss that only a contract could state",
    )
