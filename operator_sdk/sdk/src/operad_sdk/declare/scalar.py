"""The one number of an operator that is called with `scalar=`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from operad.dtypes import DType
from operad.errors import ParamError
from operad.operator import REQUIRED, Param, param
from operad_sdk.declare.targets import wrapped

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty


@final
@dataclass(frozen=True, slots=True)
class Scalar:
    """The one number of an operator that is called with `scalar=`, MXNet's spelling.

    It reaches the function in the arrays' element type.

    Attributes:
        name: What the function calls it.
        default: Left out: every call must give it.
        above: Exclusive lower bound; `below` likewise.
        doc: One sentence for documentation.
    """

    name: str = "scalar"
    default: Any = REQUIRED
    above: float | None = None
    below: float | None = None
    doc: str = ""

    def as_param(self) -> Param:
        """Operator parameter that the scalar stands for."""
        declared: Param = param(
            float, self.default, gt=self.above, lt=self.below, doc=self.doc, run_time=True
        )
        return declared


def typed_scalar(prop: OperatorProperty, value: Any, in_types: Sequence[DType]) -> Any:
    """The number in the type in which the first argument is computed.

    Raises:
        ParamError: The type cannot hold it.
    """
    dtype = prop.promote(in_types[0])
    try:
        if dtype.kind not in "iu":
            with np.errstate(all="ignore"):  # as where operators run: beyond the type is infinite
                return dtype.type(value).item()
        return int(value) if prop.scalar_beyond == "keep" else wrapped(value, dtype)
    except (OverflowError, ValueError) as error:
        raise ParamError(
            f"{prop.name}: scalar is {value!r}, which {dtype} cannot hold; cast the array with astype"
        ) from error
