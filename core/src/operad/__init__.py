"""operad: a deep-learning runtime whose every operator is a separately installed plugin.

Importing this package imports contexts and errors only; `od.nd`, `od.sym` and the other modules are
imported when they are first used, and so are those that plugins add (`od.optimizer`, `od.init`).
"""

from importlib.machinery import PathFinder as _PathFinder
from typing import TYPE_CHECKING
from typing import Any as _Any

from operad.context import Context as Context
from operad.context import cpu as cpu
from operad.context import cpu_pinned as cpu_pinned
from operad.context import current_context as current_context
from operad.context import gpu as gpu
from operad.context import num_gpus as num_gpus
from operad.errors import OperadError as OperadError
from operad.first_use import import_module as _import_module

if TYPE_CHECKING:
    from operad import autograd as autograd
    from operad import context as context
    from operad import engine as engine
    from operad import errors as errors
    from operad import nd as nd
    from operad import operator as operator
    from operad import profiler as profiler
    from operad import random as random
    from operad import registry as registry
    from operad import sym as sym
    from operad.compiled import compile as compile
    from operad.executor import Executor as Executor
    from operad.ndarray import NDArray as NDArray
    from operad.ndarray import waitall as waitall
    from operad.symbol import AttrScope as AttrScope
    from operad.symbol import Symbol as Symbol
    from operad.symbol import name as name

    ndarray = nd
    symbol = sym

__version__ = "0.3.0"

_LAZY_MODULES = (
    "autograd", "engine", "nd", "ndarray", "operator", "profiler", "random", "registry", "sym", "symbol",
)  # fmt: skip
_LAZY_NAMES = {
    "AttrScope": "operad.symbol",
    "Executor": "operad.executor",
    "NDArray": "operad.nd",
    "Symbol": "operad.symbol",
    "compile": "operad.compiled",
    "name": "operad.symbol",
    "waitall": "operad.nd",
}

_LAZY_ADDED: set[str] = set()
"""Names that plugins were found to add, so that the file system is asked once for modules called so."""


def __getattr__(name: str) -> _Any:
    """A module or name of the core, else one that a plugin adds."""
    if name in _LAZY_MODULES:
        return _import_module(f"operad.{name}")
    if name == "__all__":
        registry = _import_module("operad.registry")
        added = [*registry.attribute_names("operad"), *registry.entry_names("operad.namespaces")]
        return [name for name in sorted({*__dir__(), *added}) if "." not in name and not name.startswith("_")]
    if name in _LAZY_NAMES:
        return getattr(_import_module(_LAZY_NAMES[name]), name)
    if name not in _LAZY_ADDED and (
        name.startswith("__") or _PathFinder.find_spec(f"operad.{name}", __path__)
    ):
        # `from operad import storage` asks here first, and imports the module when told there is none.
        raise AttributeError(f"module 'operad' has no attribute {name!r}")
    registry = _import_module("operad.registry")
    added = registry.find_attribute("operad", name)
    found = registry.namespace(name) if added is None else added
    _LAZY_ADDED.add(name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_NAMES})
