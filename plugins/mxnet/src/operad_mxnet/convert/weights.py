"""A model's arrays beside its symbol: which variable has which value, and what does not fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, final

from operad import NDArray, OperadError, Symbol
from operad.graph import infer_shapes

Arrays = Mapping[str, NDArray]

_ENDS: Final = ("_weight", "_bias", "_gamma", "_beta", "_parameters", "_moving_mean", "_moving_var")
"""Ends of the names that operators give variables with trained values; `initializer` goes by them, too."""


@final
@dataclass(frozen=True, slots=True)
class Weights:
    """A model's arrays.

    Attributes:
        arguments: Values of arguments, by name.
        states: Values of auxiliary states.
        named: All of them as MXNet names them in files, in the order in which they were there.
    """

    arguments: dict[str, NDArray]
    states: dict[str, NDArray]
    named: dict[str, NDArray]


def sorted_out(arrays: Arrays, states: Collection[str]) -> Weights:
    """The arrays by their kinds: `arg:NAME`, `aux:NAME`, or a name alone, of which `states` are such."""
    weights = Weights({}, {}, {})
    for key, one in arrays.items():
        kind, _, name = key.partition(":")
        if kind not in {"arg", "aux"} or not name:
            kind, name = "aux" if key in states else "arg", key
        (weights.arguments if kind == "arg" else weights.states)[name] = one
        weights.named[f"{kind}:{name}"] = one
    return weights


def is_parameter(name: str) -> bool:
    """Return whether a variable has a trained value, going by its name."""
    return name.endswith(_ENDS)


def misfits(symbol: Symbol, weights: Weights) -> list[str]:
    """Misfits between symbol and weights: shapes, spare arrays, parameters without a value."""
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    spare = [*(weights.arguments.keys() - set(arguments)), *(weights.states.keys() - set(states))]
    found = [f"array {name!r} belongs to no variable of the symbol" for name in sorted(spare)]
    bare = [name for name in arguments if is_parameter(name) and name not in weights.arguments]
    bare += [name for name in states if name not in weights.states]
    found += [f"parameter {name!r} has no value" for name in bare]
    shapes = {name: weights.arguments[name].shape for name in arguments if name in weights.arguments}
    try:
        table = infer_shapes(symbol.graph, shapes)
    except OperadError as error:
        return [*found, str(error)]
    for name, shape in zip(states, table.auxiliary, strict=True):
        one = weights.states.get(name)
        if one is not None and shape is not None and None not in shape and shape != one.shape:
            found.append(f"auxiliary state {name!r} has shape {one.shape}, expected {shape}")
    return found
