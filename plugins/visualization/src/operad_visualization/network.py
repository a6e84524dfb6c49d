"""A symbol as plain records, from which tables and pictures are made.

Everything is read off the symbol's JSON form and the shapes of its internals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from operad import Symbol
from operad.errors import ArgumentError, ShapeError

Shape = tuple[int, ...]

_FIRST_STATE: Final = re.compile(r"(.*_)?state(_cell|_\d+)?")

_LEARNED: Final = (
    "_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean"
)  # fmt: skip
"""Ends of names of variables that are learned, as in MXNet."""


@final
@dataclass(frozen=True, slots=True)
class Node:
    """A variable or an operator of a network.

    Attributes:
        name: Its name.
        op: The operator; empty for a variable.
        attrs: Parameters and attributes that were given, as text.
        inputs: Numbers of nodes and of their outputs.
        is_state: Whether it is an auxiliary state.
        shapes: Of the outputs that are visible; empty where no shapes were given.
        dtypes: Of the same outputs, likewise.
    """

    name: str
    op: str
    attrs: Mapping[str, str]
    inputs: Sequence[tuple[int, int]]
    is_state: bool
    shapes: Sequence[Shape]
    dtypes: Sequence[np.dtype[Any]]

    @property
    def is_fed(self) -> bool:
        """True if the node is a variable with labels or first states of a batch, going by its name."""
        return not self.op and (self.name.endswith("label") or _FIRST_STATE.fullmatch(self.name) is not None)

    @property
    def looks_learned(self) -> bool:
        """True if the node is a variable that is learned, going by its name."""
        return not self.op and (self.is_state or self.name.endswith(_LEARNED))


def nodes_of(
    symbol: Symbol,
    shape: Mapping[str, Shape] | None = None,
    dtype: Mapping[str, Any] | None = None,
    what: str = "plot_network",
) -> list[Node]:
    """The nodes of a network, each after its inputs.

    Args:
        symbol: The network.
        shape: Shapes of inputs by name; None: nodes have no shapes.
        dtype: Element types of inputs by name; None: nodes have no types.
        what: The function that errors name.

    Raises:
        ArgumentError: `symbol` is no symbol.
        ShapeError: Not all shapes follow from those given.
    """
    if not isinstance(symbol, Symbol):
        raise ArgumentError(f"{what}: got {type(symbol).__name__}, expected a Symbol")
    found = json.loads(symbol.tojson())["nodes"]
    internals = symbol.get_internals()
    shapes = [] if shape is None else _shapes(internals, shape, what)
    dtypes = [] if dtype is None else list(internals.infer_type(**dtype)[1] or [])
    states = set(symbol.list_auxiliary_states())
    nodes, start = [], 0
    outputs = list(zip([each.name for each in internals], internals.list_outputs(), strict=True))
    for node in found:
        op = "" if node["op"] == "null" else node["op"]
        end = start + 1
        # A variable's output has its own name; those of an operator have more, and come one after another.
        while op and end < len(outputs) and outputs[end][0] == node["name"] != outputs[end][1]:
            end += 1
        nodes.append(
            Node(
                node["name"],
                op,
                node.get("attrs", {}),
                [(number, output) for number, output, _ in node["inputs"]],
                not op and node["name"] in states,
                shapes[start:end],
                dtypes[start:end],
            )
        )
        start = end
    return nodes


def _shapes(internals: Symbol, shape: Mapping[str, Shape], what: str) -> list[Shape]:
    found = internals.infer_shape(**shape)[1]
    if found is None:
        arguments = internals.infer_shape_partial(**shape)[0]
        unknown = [
            name
            for name, lengths in zip(internals.list_arguments(), arguments, strict=True)
            if not lengths or not all(n and n > 0 for n in lengths)
        ]
        raise ShapeError(
            f"{what}: the shapes of {', '.join(unknown)} do not follow from those given, "
            f"{dict(shape)}; give more of them"
        )
    return found  # type: ignore[return-value]  # complete shapes have no unknown axis


def product(shape: Shape) -> str:
    """A shape without the axis of the batch, as text: `3x8x8`."""
    return "x".join(str(length) for length in shape[1:])
