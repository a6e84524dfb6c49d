"""Optimizers, and the update operators that they use.

Names are looked up when first used, so that using one update operator imports that operator alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from operad_optimizer.adaptive import FTML as FTML
    from operad_optimizer.adaptive import LAMB as LAMB
    from operad_optimizer.adaptive import Adam as Adam
    from operad_optimizer.adaptive import Ftrl as Ftrl
    from operad_optimizer.adaptive import RMSProp as RMSProp
    from operad_optimizer.gradient_descent import NAG as NAG
    from operad_optimizer.gradient_descent import SGD as SGD
    from operad_optimizer.gradient_descent import Signum as Signum
    from operad_optimizer.optimizer import Optimizer as Optimizer
    from operad_optimizer.optimizer import create as create
    from operad_optimizer.optimizer import register as register
    from operad_optimizer.updater import Updater as Updater
    from operad_optimizer.updater import get_updater as get_updater

_LAZY_CLASSES = {
    **dict.fromkeys(("Adam", "FTML", "Ftrl", "LAMB", "RMSProp"), "adaptive"),
    **dict.fromkeys(("NAG", "SGD", "Signum"), "gradient_descent"),
    **dict.fromkeys(("Optimizer", "create", "register"), "catalog"),
    **dict.fromkeys(("Updater", "get_updater"), "updater"),
}


def __getattr__(name: str) -> object:
    if name not in _LAZY_CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY_CLASSES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_CLASSES})
