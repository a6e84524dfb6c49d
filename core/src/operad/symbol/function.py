"""Operators as functions of symbols: what stands behind `od.sym.tanh`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from operad import registry
from operad.boundary import boundary
from operad.device import Context
from operad.graph import Entry, hidden_key
from operad.ndarray import by_name, presented, split_arguments
from operad.op import OperatorProperty
from operad.symbol.attribute import is_attribute
from operad.symbol.compose import apply, num_heads, only_entry

_PARTS: Final = ("_contrib_", "_linalg_", "_image_")
"""Beginnings of the names of operators that MXNet has in a part of `sym` alone, without the beginning."""

_COMMON: Final = ("name", "attr")
"""Parameters that every function takes."""


@boundary
def symbol_function(name: str, cls: type) -> Callable[..., Any]:
    """The symbolic function of the operator called `name`, over symbols of the class `cls`.

    Raises:
        OperatorNotFoundError: No installed plugin provides it.
    """
    found = _functions.get(name)
    if found is None:
        found = _functions[name] = make_function(name, registry.get(name), cls)
    return found


_functions: Final[dict[str, Callable[..., Any]]] = registry.follow({})
"""Those that were asked for, by name, until what is registered changes."""


def _hint(label: str) -> str:
    """The beginning of automatic names: what a program calls the operator."""
    if label.endswith("_like"):
        label = label.removeprefix("_random_")
    return label[next((len(part) for part in _PARTS if label.startswith(part)), 0) :].lower()


def make_function(label: str, op: type[OperatorProperty], cls: type) -> Callable[..., Any]:
    """The symbolic function of an operator that need not be registered, called `label`."""

    @boundary
    def function(
        *args: Any, name: str | None = None, attr: dict[str, str] | None = None, **named: Any
    ) -> Any:
        hidden = {
            key: str(named.pop(key)) for key in list(named) if is_attribute(key) and key not in op.params
        }
        attrs = {hidden_key(key): value for key, value in {**hidden, **(attr or {})}.items()}
        symbols, more, params = split_arguments(op, args, named, cls, "Symbol")
        # A symbol has no context: `ctx` is text for the operator, as in a file.
        params |= {key: str(value) for key, value in params.items() if isinstance(value, Context)}
        prop = op(**params)
        given = by_name(op.name, prop.list_inputs(), symbols, more)
        inputs = {key: only_entry(op.name, key, symbol) for key, symbol in given.items()}
        node = apply(prop, inputs, name, attrs, hint=_hint(label), said=params)
        return cls([Entry(node, i) for i in range(num_heads(prop))])

    return presented(function, label, "sym", op, _COMMON)
