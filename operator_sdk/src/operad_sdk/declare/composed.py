"""Declaring an operator that is made of others: `@composed`.

::

    @composed("acme_swish")
    def acme_swish(data: od.Symbol, beta: float = 1.0) -> od.Symbol:
        return data * od.sym.sigmoid(beta * data)

The function composes symbols. Names, shapes, types, gradients and states of the operator are those of the
graph that it returns, see `operad_sdk.declare.composed_property`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operad import Symbol
from operad.operator import Param
from operad_sdk.contract import NO_DECLARATIONS, Contract
from operad_sdk.declare.composed_property import ComposedProperty
from operad_sdk.declare.parameters import params_of
from operad_sdk.element_types import Accepts
from operad_sdk.errors import DeclarationError


def composed(
    name: str,
    *,
    outputs: Sequence[str] = (),
    accepts: Accepts | Mapping[str, Accepts] = "any",
    contract: Contract = NO_DECLARATIONS,
    doc: str = "",
) -> Callable[[Any], type[ComposedProperty]]:
    """Declare a function of symbols, or a symbol, as the operator `name`, made of other operators.

    Args:
        name: Name of the operator.
        outputs: Names of the outputs; `output` if left out, or `output0` and so on.
        accepts: Element types that arguments may have, beyond what the parts refuse; for all or by argument.
        contract: Declarations for the contract checks.
        doc: The docstring of a symbol, or of a function that has none.
    Returns:
        A decorator. The function's first values are the arguments, as symbols; the others are parameters, by
        annotations and defaults as for `unary`. A symbol has its own arguments, and no parameters.
    Raises:
        DeclarationError: A parameter has no type, or is a run-time one, for whose values nothing is composed.
    """

    def declare(made: Any) -> type[ComposedProperty]:
        function: Any = _of_symbol(made) if isinstance(made, Symbol) else made
        arguments, rest = _split(function)
        params: dict[str, Param] = params_of(function, f"operator {name!r}", rest)
        for key, declared in params.items():
            if declared.run_time:
                raise DeclarationError(
                    f"operator {name!r}: parameter {key!r} is a run-time one, and symbols are composed once "
                    "for all calls; make it an argument, or an ordinary parameter"
                )
        body = {
            "__doc__": doc or getattr(made, "__doc__", "") or "",
            "__module__": getattr(function, "__module__", __name__),
            "name": name,
            "compose": staticmethod(function),
            "argument_names": tuple(arguments),
            "output_names": tuple(outputs),
            "accepts": accepts,
            "contract": contract,
            **params,
        }
        return type(name, (ComposedProperty,), body)

    return declare


def _of_symbol(symbol: Symbol) -> Callable[[], Symbol]:
    return lambda: symbol


def _split(function: Any) -> tuple[list[str], list[str]]:
    """Names of the arguments, which are symbols, and of the parameters."""
    arguments: list[str] = []
    rest: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = parameter.annotation
        text = hint if isinstance(hint, str) else getattr(hint, "__name__", "")
        is_symbol = hint is parameter.empty or text.rpartition(".")[2] == "Symbol"
        (arguments if is_symbol and parameter.default is parameter.empty else rest).append(name)
    return arguments, rest
