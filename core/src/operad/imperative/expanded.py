"""Imperative calls of operators that are made of others: one call for each part, recorded as such."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from operad.device import Context
from operad.errors import ArgumentError, OperadError
from operad.imperative.array import Array
from operad.op import Expansion, OperatorProperty, Value


@final
class ExpandedCall:
    """Calls the parts of an operator.

    Args:
        prop: The operator's property.
        expansion: Its parts.
        invokers: The `Invoker` of each of them.
    """

    def __init__(
        self, prop: OperatorProperty, expansion: Expansion, invokers: Sequence[Callable[..., Any]]
    ) -> None:
        self._prop = prop
        self._outputs = expansion.outputs
        self._order = prop.input_positions()
        self._steps = [
            (invoker, _in_order_of_call(part.op, part.inputs))
            for invoker, part in zip(invokers, expansion.parts, strict=True)
        ]

    def __call__(self, inputs: Sequence[Array], ctx: Context | None, cls: type[Array]) -> list[Array]:
        """The outputs; arguments are as for `Invoker`.

        Raises:
            ArgumentError: It takes another number of arrays.
        """
        names = self._prop.list_inputs()
        if len(inputs) != len(names):
            raise ArgumentError(
                f"{self._prop.name}: got {len(inputs)} arrays, expected {len(names)}: {', '.join(names)}"
            )
        given = inputs if self._order is None else [inputs[position] for position in self._order]
        values: list[Sequence[Array]] = [given]
        for invoker, reads in self._steps:
            arrays = [values[part + 1][index] for part, index in reads]
            try:
                made = invoker(arrays, None, ctx, cls)
            except OperadError as error:
                error.add_note(f"in {self._prop.name}, which is made of this and other operators")
                raise
            values.append([made] if isinstance(made, Array) else made)
        return [values[part + 1][index] for part, index in self._outputs]


def _in_order_of_call(op: OperatorProperty, inputs: Sequence[Value]) -> list[Value]:
    """Inputs of a part, which has arguments before states, in the order of a call of it."""
    positions = op.input_positions()
    if positions is None:
        return list(inputs)
    return [value for _, value in sorted(zip(positions, inputs, strict=True))]
