"""operad: a deep-learning runtime whose every operator is a separately installed plugin."""

from types import ModuleType as _ModuleType

from operad import autograd as autograd
from operad import context as context
from operad import engine as engine
from operad import errors as errors
from operad import nd as nd
from operad import random as random
from operad import registry as registry
from operad import sym as sym
from operad.context import Context as Context
from operad.context import cpu as cpu
from operad.context import cpu_pinned as cpu_pinned
from operad.context import current_context as current_context
from operad.context import gpu as gpu
from operad.context import num_gpus as num_gpus
from operad.errors import OperadError as OperadError
from operad.executor import Executor as Executor
from operad.ndarray import NDArray as NDArray
from operad.ndarray import waitall as waitall
from operad.symbol import AttrScope as AttrScope
from operad.symbol import Symbol as Symbol
from operad.symbol import name as name

__version__ = "0.1.0"

symbol = sym


def __getattr__(face: str) -> _ModuleType:
    """Faces that plugins add, such as `od.optimizer` and `od.init`."""
    if face.startswith("__"):
        raise AttributeError(f"module 'operad' has no attribute {face!r}")
    return registry.namespace(face)
