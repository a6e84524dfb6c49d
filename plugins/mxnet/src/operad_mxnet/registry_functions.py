"""`mx.registry`: classes of a program's own, made by name.

    register = od.registry.get_register_func(Loss, "loss")
    create = od.registry.get_create_func(Loss, "loss")

Source: python/mxnet/registry.py.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, Final

from operad.errors import ParamError

Class = type[Any]

_classes: Final[dict[Class, dict[str, Class]]] = {}


def get_registry(base_class: Class) -> dict[str, Class]:
    """A copy of what is registered for a base class, by name in lower case."""
    return dict(_classes.get(base_class, {}))


def get_register_func(base_class: Class, nickname: str) -> Callable[..., Class]:
    """The function `register(klass, name=None)`, also for use as a decorator.

    Args:
        base_class: What registered classes derive from.
        nickname: What messages call one of them.
    """
    known = _classes.setdefault(base_class, {})

    def register(klass: Class, name: str | None = None) -> Class:
        if not issubclass(klass, base_class):
            raise ParamError(f"register: {klass!r} does not derive from {base_class.__name__}")
        key = (name or klass.__name__).lower()
        if known.get(key, klass) is not klass:
            warnings.warn(f"{nickname} {key!r} was {known[key]!r} and is {klass!r} now", stacklevel=2)
        known[key] = klass
        return klass

    register.__doc__ = f"Make a {nickname} known by its name, its class's if None."
    return register


def get_alias_func(base_class: Class, nickname: str) -> Callable[..., Callable[[Class], Class]]:
    """The function `alias(*names)`, a decorator that registers a class under further names."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases: str) -> Callable[[Class], Class]:
        def decorate(klass: Class) -> Class:
            for name in aliases:
                register(klass, name)
            return klass

        return decorate

    alias.__doc__ = f"Make a {nickname} known by further names."
    return alias


def get_create_func(base_class: Class, nickname: str) -> Callable[..., Any]:
    """The function `create(name, *args, **kwargs)`, which makes an instance.

    It also takes an instance, which it gives back; a class; and JSON: `["name", {...}]`, or an object with
    the name under `nickname`.
    """
    known = _classes.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        if args:
            name, *rest = args
        elif nickname in kwargs:
            name, rest = kwargs.pop(nickname), []
        else:
            raise ParamError(f"create: name a {nickname}; expected one of {', '.join(sorted(known))}")
        if isinstance(name, base_class):
            if rest or kwargs:
                raise ParamError(f"create: {name!r} is a {nickname} already, and takes no arguments")
            return name
        if isinstance(name, dict):
            return create(**name)
        if not isinstance(name, str):
            raise ParamError(f"create: got {name!r}, expected the name of a {nickname}")
        if name.startswith(("[", "{")):
            said = _from_json(name)
            return create(**said) if isinstance(said, dict) else create(said[0], **said[1])
        if name.lower() not in known:
            raise ParamError(f"create: no {nickname} {name!r}; expected one of {', '.join(sorted(known))}")
        return known[name.lower()](*rest, **kwargs)

    create.__doc__ = f"Make a {nickname} by name."
    return create


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ParamError(f"create: {text!r} is not JSON: {error}") from error
