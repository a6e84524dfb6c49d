"""Networks as blocks: MXNet's Gluon.

`loss`, `nn`, `rnn`, `data` and the other parts are imported when first used.
"""

import sys
from importlib import import_module

import operad
from operad_gluon.block import Block as Block
from operad_gluon.block import HybridBlock as HybridBlock
from operad_gluon.block import SymbolBlock as SymbolBlock
from operad_gluon.errors import DeferredInitializationError as DeferredInitializationError
from operad_gluon.parameter import Constant as Constant
from operad_gluon.parameter import Parameter as Parameter
from operad_gluon.parameter import ParameterDict as ParameterDict
from operad_gluon.parameter import tensor_types as tensor_types

_LAZY_MODULES = ("contrib", "data", "loss", "model_zoo", "nn", "rnn", "trainer")


def __getattr__(name: str) -> object:
    if name == "__all__":
        return operad.registry.star_names(sys.modules[__name__])
    if name in _LAZY_MODULES:
        return import_module(f"{__name__}.{name}")
    if name == "utils":
        return import_module(f"{__name__}.training_tools")
    if name == "Trainer":
        return import_module(f"{__name__}.trainer").Trainer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, "Trainer", "utils"})
