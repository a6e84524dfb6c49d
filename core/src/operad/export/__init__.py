"""Operators in other frameworks: `operad.export.torch("LRN", nsize=3)`.

The functions are those of plugins, one per framework (entry points `export.<framework>` of
`operad.attributes`). What they wrap is here: an operator as functions of plain arrays, and its signature.
"""

from __future__ import annotations

from typing import Any as _Any

from operad.export.plain import PlainOperator as PlainOperator
from operad.export.signature import OperatorSignature as OperatorSignature
from operad.export.signature import Tensor as Tensor
from operad.export.signature import signature_of as signature_of
from operad.front import added as _added


def __getattr__(name: str) -> _Any:
    """The exporter to a framework; the package that would add it is named where none is installed."""
    return _added("export", name)
