"""What all operators of a training step have in common: their types, and what the contract checks expect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from operad.dtypes import DType
from operad.errors import DTypeError
from operad.operator import InferredTypes
from operad_sdk import Contract, OperatorProperty
from operad_sdk.domains import Domain

_NO_GRADIENT: Final = "it is a step of training, through which nothing is differentiated"
_MOVES_STATES: Final = "the call is the step of training itself: its states move whatever the mode"


def step_contract(
    *states: str, inputs: Mapping[str, Domain] | None = None, reference: Callable[..., Any] | None = None
) -> Contract:
    """The contract of an operator with `states`.

    Args:
        inputs: Domains of arguments.
        reference: The outputs in NumPy.
    """
    return Contract(
        inputs=inputs or {},
        reference=reference,
        no_numeric_gradient=_NO_GRADIENT,
        expected_failures={"F216": _MOVES_STATES} if states else {},
    )


class TrainingStep(OperatorProperty):
    """An operator on weights and their gradients, which are floating."""

    has_gradient = False

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Floating types; the learning rate may be any number."""
        for name, dtype in zip(self.list_arguments(), in_types, strict=True):
            if name != "rate" and dtype is not None and dtype.kind != "f":
                raise DTypeError(
                    f"{self.name}: {name} is {dtype}, expected a floating type; cast with astype"
                )
        return super().infer_type(in_types)
