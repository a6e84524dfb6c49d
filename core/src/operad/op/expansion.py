"""Operators that are made of others, in words that graphs and imperative calls share.

An operator may say which operators compute it (`OperatorProperty.expansion`). A graph then holds these in its
place, before any other pass looks at it, and an imperative call runs and records them one by one. So passes,
plans, tapes and gradients meet the parts alone.

Source: functions of ONNX's operator sets, which are expanded likewise; MXNet 1.x has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, final

if TYPE_CHECKING:
    from operad.op.property import OperatorProperty

Value: TypeAlias = tuple[int, int]
"""Output of a part, as its number and the output's; or (-1, n) for input n of the whole operator, whose
inputs are its arguments and then its auxiliary states."""


@final
class Part(NamedTuple):
    """One of the operators that compute another.

    Attributes:
        name: Unique among the parts.
        op: The operator's property.
        inputs: Its arguments and then its auxiliary states.
        attrs: What was said of it, as of any node of a graph.
    """

    name: str
    op: OperatorProperty
    inputs: tuple[Value, ...]
    attrs: Mapping[str, str]


@final
class Expansion(NamedTuple):
    """The operators that compute one operator.

    Attributes:
        parts: Each after those that it reads; none is itself made of others.
        outputs: One output of a part for each output of the operator.
    """

    parts: tuple[Part, ...]
    outputs: tuple[Value, ...]
