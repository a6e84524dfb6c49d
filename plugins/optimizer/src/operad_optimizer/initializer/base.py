"""Initializers: the values that weights begin with.

An initializer is called with a description, the name of the array, and the array, which it fills: by
the name's ending, or as the description's attribute `__init__` says. Random numbers come from the
device's generator in push order, so `od.random.seed` makes them repeatable.

Source: python/mxnet/initializer.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self, TypeVar, final

from operad import NDArray
from operad_optimizer.arguments import Suggesting
from operad_optimizer.registered import Registered
from operad_sdk import ParamError

C = TypeVar("C", bound="type[Initializer]")

_registered: Final[Registered[Initializer]] = Registered("initializer")
_CONSTANT_ENDINGS: Final = (
    (("bias", "beta", "min", "max", "moving_mean", "running_mean", "moving_inv_var", "moving_avg"), 0.0),
    (("gamma", "moving_var", "running_var"), 1.0),
)


class InitDesc(str):
    """A name, with the attributes of its variable.

    Attributes:
        attrs: Attributes of the symbol's variable; `__init__` names an initializer.
        global_init: What initializes where nothing else is said.
    """

    __slots__ = ("attrs", "global_init")

    attrs: dict[str, str]
    global_init: Initializer | None

    def __new__(
        cls, name: str, attrs: Mapping[str, str] | None = None, global_init: Initializer | None = None
    ) -> Self:
        """A string, which is what it is as a name."""
        made = super().__new__(cls, name)
        made.attrs = dict(attrs or {})
        made.global_init = global_init
        return made


class Initializer(metaclass=Suggesting):
    """Fills arrays; subclasses say how, in `init_weight`.

    Args:
        arguments: What `dumps` writes, so that `create` can make an equal initializer.
    """

    def __init__(self, **arguments: Any) -> None:
        self._arguments = arguments

    def __call__(self, desc: str, arr: NDArray) -> None:
        """Fill `arr`, which is called `desc`.

        Raises:
            ParamError: The name's ending says nothing.
        """
        own = desc.attrs.get("__init__", "") if isinstance(desc, InitDesc) else ""
        if own:
            name, arguments = json.loads(own)
            create(name, **arguments).init_weight(desc, arr)
            return
        if desc.endswith("weight"):
            self.init_weight(desc, arr)
            return
        for endings, value in _CONSTANT_ENDINGS:
            if desc.endswith(endings):
                arr[:] = value
                return
        raise ParamError(
            f"cannot tell how to initialize {str(desc)!r} from its name; let it end in weight, bias, gamma "
            "or beta, or give its variable an initializer: sym.var(name, init=...)"
        )

    def init_weight(self, name: str, arr: NDArray) -> None:
        """Fill `arr` whatever its name."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to fill an array")

    def dumps(self) -> str:
        """The JSON text that a variable's attribute `__init__` holds."""
        return json.dumps([type(self).__name__.lower(), self._arguments])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dumps() == other.dumps()

    def __hash__(self) -> int:
        return hash(self.dumps())


def register(cls: C, *names: str) -> C:
    """Make an initializer known to `create` by its class's name, and by `names`."""
    _registered.add(cls, *names)
    return cls


def create(name: str | Initializer, **arguments: Any) -> Initializer:
    """The initializer called `name`, in any case, or described by `dumps`."""
    if isinstance(name, Initializer):
        return name
    if name.startswith("["):
        described, arguments = json.loads(name)
        return _registered.find(described)(**arguments)
    return _registered.find(name)(**arguments)


@final
class Mixed(metaclass=Suggesting):
    """The initializer of the first pattern that is found in an array's name.

    Args:
        patterns: Regular expressions, found from the name's beginning.
        initializers: One for each.
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Initializer]) -> None:
        if len(patterns) != len(initializers):
            raise ParamError(f"Mixed: got {len(patterns)} patterns and {len(initializers)} initializers")
        self.map = [(re.compile(p), init) for p, init in zip(patterns, initializers, strict=True)]

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill `arr`.

        Raises:
            ParamError: No pattern is found; `.*` as the last one always is.
        """
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise ParamError(f"Mixed: no pattern matches {str(name)!r}; add '.*' as the last one")
