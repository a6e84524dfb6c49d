"""The one number of an operator that is called with `scalar=`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from operad.operator import REQUIRED, Param, param


@final
@dataclass(frozen=True, slots=True)
class Scalar:
    """The one number of an operator that is called with `scalar=`, MXNet's spelling.

    It reaches the function in the arrays' element type.

    Attributes:
        name: What the function calls it.
        default: Left out: every call must give it.
        above: Exclusive lower bound; `at_least` is inclusive, `below` and `at_most` likewise.
        doc: One sentence for documentation.
    """

    name: str = "scalar"
    default: Any = REQUIRED
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    doc: str = ""

    def as_param(self) -> Param:
        """Operator parameter that the scalar stands for."""
        declared: Param = param(
            float,
            self.default,
            gt=self.above,
            ge=self.at_least,
            lt=self.below,
            le=self.at_most,
            doc=self.doc,
            run_time=True,
        )
        return declared
