"""Optimizers, and the update operators that they use.

Names are looked up when first used, so that using one update operator imports that operator alone.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from operad_optimizer.optimizer import *  # noqa: F403 - all of its names are looked up there

_LAZY_NAMES = (
    "AdaDelta", "AdaGrad", "Adam", "Adamax", "DCASGD", "FTML", "Ftrl", "GroupAdaGrad", "LAMB", "LARS",
    "LBSGD", "NAG", "Nadam", "Optimizer", "RMSProp", "SGD", "SGLD", "Signum", "Test", "Updater", "ccSGD",
    "create", "declare", "from_declared", "get_updater", "is_declarable", "register",
    "rename_states",
)  # fmt: skip
_LAZY_MODULES = ("contrib", "optimizer")


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return import_module(f"{__name__}.{name}")
    if name == "__all__":
        return import_module("operad.registry").star_names(sys.modules[__name__])
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.optimizer"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_NAMES, *_LAZY_MODULES})
