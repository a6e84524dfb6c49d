"""Imperative arrays and operators: `od.ndarray.tanh(x)`, or `od.nd` for short."""

from collections.abc import Callable as _Callable
from typing import Any as _Any

from operad import registry as _registry
from operad.ndarray.arguments import split_arguments as split_arguments
from operad.ndarray.arithmetic import invoke as invoke
from operad.ndarray.arithmetic import real_number as real_number
from operad.ndarray.face import Found as _Found
from operad.ndarray.face import arange as arange
from operad.ndarray.face import concatenate as concatenate
from operad.ndarray.face import eye as eye
from operad.ndarray.face import full as full
from operad.ndarray.face import ones as ones
from operad.ndarray.face import zeros as zeros
from operad.ndarray.function import operator_function as operator_function
from operad.ndarray.interchange import from_dlpack as from_dlpack
from operad.ndarray.ndarray import NDArray as NDArray
from operad.ndarray.ndarray import array as array
from operad.ndarray.ndarray import empty as empty
from operad.ndarray.ndarray import waitall as waitall
from operad.ndarray.ndarray import wrap as wrap
from operad.ndarray.serialize import dumps as dumps
from operad.ndarray.serialize import load as load
from operad.ndarray.serialize import loads as loads
from operad.ndarray.serialize import save as save

_found = _registry.follow(_Found(globals()))


def __getattr__(name: str) -> _Callable[..., _Any]:
    return _found.find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_registry.list_operators()})
