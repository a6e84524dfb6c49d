"""The user's arrays, and operators as functions of them; as `od.ndarray`, MXNet's other name of `od.nd`."""

from importlib import import_module as _import_module
from typing import Any as _Any

from operad.ndarray.arguments import split_arguments as split_arguments
from operad.ndarray.arithmetic import invoke as invoke
from operad.ndarray.arithmetic import real_number as real_number
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


def __getattr__(name: str) -> _Any:
    """What is not of this package is of the face above it."""
    if name.startswith("__"):
        raise AttributeError(f"module 'operad.ndarray' has no attribute {name!r}")
    return getattr(_import_module("operad.nd"), name)


def __dir__() -> list[str]:
    return dir(_import_module("operad.nd"))
