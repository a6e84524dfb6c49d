"""Positions in a declaration: parameters that name an axis, and arguments whose elements are positions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from operad.operator import OperatorProperty
from operad_sdk.contract import contract_of
from operad_sdk.domains import Drawn, Index

_AXIS: Final = re.compile(r"(^|_)(axis|axes|dim)\d?$")


def axis_params(cls: type[OperatorProperty]) -> list[str]:
    """Names of the parameters whose value is an axis, or a list of axes, by those names.

    Those with bounds, or with a reason why they are narrowed, are the author's word on which axes there are.
    """
    narrowed = contract_of(cls).narrowed
    return [
        name
        for name, param in cls.params.items()
        if _AXIS.search(name)
        and param.type in (int, "shape", "indices")
        and param.choices is None
        and not param.bounds
        and name not in narrowed
    ]


def index_arguments(cls: type[OperatorProperty], names: Sequence[str]) -> list[int]:
    """Numbers of the arguments whose elements are positions in others, as their domains say."""
    contract = contract_of(cls)
    return [number for number, name in enumerate(names) if isinstance(contract.domain(name), Index)]


def position_arguments(cls: type[OperatorProperty], names: Sequence[str]) -> list[int]:
    """Numbers of the arguments whose elements may be positions in others: those, and drawn integers."""
    contract = contract_of(cls)
    return [number for number, name in enumerate(names) if _may_hold_positions(contract.domain(name))]


def _may_hold_positions(domain: Any) -> bool:
    return isinstance(domain, Index) or (isinstance(domain, Drawn) and not domain.is_real)
