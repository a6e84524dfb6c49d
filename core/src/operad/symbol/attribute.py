"""Attributes that symbols created in a scope carry.

Source: AttrScope, python/mxnet/attribute.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, final

from operad.errors import GraphError
from operad.graph import KNOWN_ATTRIBUTES, hidden_key
from operad.scopes import Exit, Levels


class _Current:
    """The attribute of the class that holds what the thread's scopes give."""

    def __get__(self, instance: object, owner: type) -> AttrScope:
        return _scopes.top[0]


@final
class AttrScope:
    """`with AttrScope(ctx_group="dev1"):` gives the attribute to every symbol made inside.

    Scopes nest, the inner one wins; they are the thread's own. Values are strings.
    """

    current: ClassVar = _Current()

    def __init__(self, **attrs: str) -> None:
        check("AttrScope", attrs)
        self._attr = {hidden_key(key): value for key, value in attrs.items()}

    def get(self, attr: dict[str, str] | None) -> dict[str, str]:
        """This scope's attributes with `attr` on top, which a symbol made in it would have."""
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> AttrScope:
        scope = AttrScope(**self.current.get(self._attr))
        _scopes.top = scope, _scopes.top
        return scope

    __exit__ = Exit(lambda _: _scopes.ending)


def with_mirrored(attrs: dict[str, str]) -> dict[str, str]:
    """`attrs`, and those that are mirrored under both of their keys."""
    return {**attrs, **{key: attrs[f"__{key}__"] for key in KNOWN_ATTRIBUTES if f"__{key}__" in attrs}}


def is_attribute(key: str) -> bool:
    """Return whether a call's keyword of this name is an attribute, unless it is a parameter."""
    return hidden_key(key).startswith("__") and hidden_key(key).endswith("__")


def check(what: str, attrs: Mapping[str, object]) -> None:
    """Raise GraphError unless a file can carry `attrs`."""
    for key, value in attrs.items():
        if not isinstance(value, str):
            raise GraphError(f"{what}: attribute {key!r} is {value!r}, expected a string")


def check_of_operator(what: str, attrs: Mapping[str, object]) -> None:
    """Raise GraphError unless a file can carry `attrs` of an operator, beside its parameters.

    MXNet takes every other name for that of a parameter, and refuses it.
    """
    check(what, attrs)
    for key in attrs:
        if not is_attribute(key):
            raise GraphError(f"{what}: an operator's attribute is called {key!r}; call it '__{key}__'")


_scopes: Final[Levels[AttrScope]] = Levels(AttrScope)
"""Attributes that the thread's scopes give, the inner ones with those of the outer ones."""
