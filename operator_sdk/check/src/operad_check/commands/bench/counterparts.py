"""The same computation in NumPy, to compare values and times with.

Many operators bear the name of a NumPy function, under MXNet's naming rules: `elemwise_`,
`broadcast_` and `_` in front say how arrays meet, `_scalar` behind that one of them is a number, `_r`
in front of that that it comes first. That function is what one would call instead. For the others it
is what the author declares (`Contract(reference=...)`), which computes in another way on purpose.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from operad.operator import Array, OperatorProperty
from operad_sdk.contract import contract_of

Counterpart = Callable[[Sequence[Array], Mapping[str, Array]], Any]
"""Called with the arguments and the auxiliary states; gives one array, or a tuple of the leading outputs."""

_SYNONYMS: Final[Mapping[str, str]] = {
    "add": "add", "plus": "add", "sub": "subtract", "minus": "subtract", "mul": "multiply", "div": "divide",
    "mod": "mod", "power": "power", "maximum": "maximum", "minimum": "minimum", "hypot": "hypot",
    "equal": "equal", "not_equal": "not_equal", "greater": "greater", "greater_equal": "greater_equal",
    "lesser": "less", "lesser_equal": "less_equal", "logical_and": "logical_and",
    "logical_or": "logical_or", "logical_xor": "logical_xor",
}  # fmt: skip
_WITH_SCALAR: Final = re.compile(r"_(?P<reverse>r?)(?P<name>\w+?)_scalar")
_OF_TWO: Final = re.compile(r"(elemwise_|broadcast_|_)(?P<name>\w+)")


def counterpart(prop: OperatorProperty) -> tuple[str, Counterpart] | None:
    """NumPy's way to compute what `prop` computes, called `numpy` or `reference`; None if none is known.

    A `reference` is the contract's: written to be right, not to be fast.
    """
    named = _named(prop)
    if named is not None:
        return "numpy", named
    reference = contract_of(type(prop)).reference
    return None if reference is None else ("reference", _declared(prop, reference))


def _named(prop: OperatorProperty) -> Counterpart | None:
    arguments = len(prop.list_arguments())
    scalar = _WITH_SCALAR.fullmatch(prop.name)
    if scalar is not None and arguments == 1:
        return _with_scalar(prop, scalar["reverse"] == "r", scalar["name"])
    two = _OF_TWO.fullmatch(prop.name)
    if two is not None and arguments == 2:
        return _ufunc(_SYNONYMS.get(two["name"], ""), 2)
    return None if type(prop).params else _ufunc(prop.name, arguments)


def _declared(prop: OperatorProperty, reference: Callable[..., Any]) -> Counterpart:
    try:
        named = set(inspect.signature(reference).parameters) - set(prop.list_arguments())
    except ValueError:  # a ufunc, which has no parameters
        named = set()
    known = {name: getattr(prop, name) for name in type(prop).params} | {"is_train": False}
    values = {name: value for name, value in known.items() if name in named}

    def compute(arrays: Sequence[Array], states: Mapping[str, Array]) -> Any:
        used = {name: state for name, state in states.items() if name in named}
        return reference(*arrays, **values, **used)

    return compute


def _with_scalar(prop: OperatorProperty, is_reversed: bool, name: str) -> Counterpart | None:
    function = getattr(np, _SYNONYMS.get(name, ""), None)
    scalar = getattr(prop, "scalar", None)
    if function is None or scalar is None:
        return None
    if is_reversed:
        return lambda arrays, states: function(arrays[0].dtype.type(scalar), arrays[0])
    return lambda arrays, states: function(arrays[0], arrays[0].dtype.type(scalar))


def _ufunc(name: str, arguments: int) -> Counterpart | None:
    function = getattr(np, name, None)
    if not isinstance(function, np.ufunc) or function.nin != arguments or function.nout != 1:
        return None
    return lambda arrays, states: function(*arrays)
