"""Initializers: the values that weights begin with.

An initializer is called with a description, the name of the array, and the array, which it fills: by
the name's ending, or as the description's attribute `__init__` says. Random numbers come from the
device's generator in push order, so `od.random.seed` makes them repeatable.

Source: python/mxnet/initializer.py.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, Self, TypeVar

import numpy as np

from operad import NDArray
from operad.errors import FormatError, UnsupportedError
from operad.files import parse_json, translated
from operad_optimizer.registered import Registered
from operad_sdk import ParamError
from operad_sdk.arguments import Suggesting, described

C = TypeVar("C", bound="type[Initializer]")

_log: Final = logging.getLogger("operad.initializer")
_registered: Final[Registered[Initializer]] = Registered("initializer")
_ENDINGS: Final = {
    "weight": "_init_weight",
    "bias": "_init_bias",
    "gamma": "_init_gamma",
    "beta": "_init_beta",
    "min": "_init_zero",
    "max": "_init_one",
    "moving_mean": "_init_zero",
    "running_mean": "_init_zero",
    "moving_var": "_init_one",
    "running_var": "_init_one",
    "moving_inv_var": "_init_zero",
    "moving_avg": "_init_zero",
}
"""Methods that fill arrays, by the endings of the arrays' names."""


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
    """Fills arrays; subclasses say how, in `_init_weight`, and may say so for other endings of names, too.

    Args:
        arguments: What `dumps` writes, so that `create` can make an equal initializer.
    """

    def __init__(self, **arguments: Any) -> None:
        self._kwargs = arguments
        self._verbose = False
        self._print_func: Callable[[NDArray], str] = _root_mean_square

    def set_verbosity(
        self, verbose: bool = False, print_func: Callable[[NDArray], str] | None = None
    ) -> Self:
        """Log what is done to each array.

        Args:
            verbose: Whether to.
            print_func: Says what the log tells of an array; default: the root of its mean square.
        """
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square
        return self

    __repr__ = described

    def __call__(self, desc: str, arr: NDArray) -> None:
        """Fill `arr`, which is called `desc`.

        Raises:
            ParamError: The name's ending says nothing.
            FormatError: The attribute `__init__` describes what cannot initialize the array.
        """
        described = desc if isinstance(desc, InitDesc) else InitDesc(desc)
        if described.global_init is None:
            described.global_init = self
        own = described.attrs.get("__init__", "")
        if own:
            # A symbol file may say this, with arguments that fit no array.
            what = f"variable {str(described)!r}: {own!r:.200}"
            with translated(what, "an initializer that fits it"):
                try:
                    made = create(own)
                except ParamError as error:
                    raise FormatError(f"{what}: {error}") from error
                made._init_weight(described, arr)
        else:
            ending = next((ending for ending in _ENDINGS if described.endswith(ending)), "")
            getattr(self, _ENDINGS.get(ending, "_init_default"))(described, arr)
        if self._verbose:
            _log.info("initialized %s: %s", described, self._print_func(arr))

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Fill `arr` whatever its name."""
        raise UnsupportedError(f"{type(self).__name__} does not say how to fill an array")

    def _init_bias(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    def _init_beta(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    def _init_gamma(self, name: str, arr: NDArray) -> None:
        arr[:] = 1

    def _init_zero(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    def _init_one(self, name: str, arr: NDArray) -> None:
        arr[:] = 1

    def _init_default(self, name: str, arr: NDArray) -> None:
        raise ParamError(
            f"cannot tell how to initialize {str(name)!r} from its name; let it end in weight, bias, gamma "
            "or beta, or give its variable an initializer: sym.var(name, init=...)"
        )

    def dumps(self) -> str:
        """The JSON text that a variable's attribute `__init__` holds."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dumps() == other.dumps()

    def __hash__(self) -> int:
        return hash(self.dumps())


def register(klass: C, *names: str) -> C:
    """Make an initializer known to `create` by its class's name, and by `names`."""
    _registered.add(klass, *names)
    return klass


def create(name: str | Initializer, **arguments: Any) -> Initializer:
    """The initializer called `name`, in any case, or described by `dumps`."""
    if isinstance(name, Initializer):
        return name
    if name.startswith("["):
        # A symbol file may say this of its variables.
        with translated(
            f"create: the initializer {name!r:.200}", "a name and arguments, as dumps writes them"
        ):
            described, arguments = parse_json(name, "create: the initializer", constants=True)
            return _registered.find(str(described))(**arguments)
    return _registered.find(name)(**arguments)


def alias(*names: str) -> Callable[[C], C]:
    """Make an initializer known by other names, too; for use as a decorator."""
    return lambda cls: register(cls, *names)


def _root_mean_square(arr: NDArray) -> str:
    return str(float(np.sqrt(np.square(arr.asnumpy().astype(np.float64)).mean())))
