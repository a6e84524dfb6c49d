"""Asynchronous arrays and imperative calls; as `od.ndarray`, MXNet's other name of `od.nd`."""

from importlib import import_module as _import_module
from typing import Any as _Any

from operad.ndarray.arithmetic import invoke as invoke
from operad.ndarray.arithmetic import real_number as real_number
from operad.ndarray.chunk import Chunk as Chunk
from operad.ndarray.chunk import new_chunk as new_chunk
from operad.ndarray.function import operator_function as operator_function
from operad.ndarray.function import split_arguments as split_arguments
from operad.ndarray.imperative import Invoker as Invoker
from operad.ndarray.imperative import copy_into as copy_into
from operad.ndarray.imperative import invoker as invoker
from operad.ndarray.interchange import from_dlpack as from_dlpack
from operad.ndarray.ndarray import NDArray as NDArray
from operad.ndarray.ndarray import array as array
from operad.ndarray.ndarray import empty as empty
from operad.ndarray.ndarray import new_array as new_array
from operad.ndarray.ndarray import waitall as waitall
from operad.ndarray.ndarray import wrap as wrap
from operad.ndarray.overlap import Use as Use
from operad.ndarray.overlap import clash as clash
from operad.ndarray.plan import Plan as Plan
from operad.ndarray.recording import Recorder as Recorder
from operad.ndarray.recording import recording_state as recording_state
from operad.ndarray.recording import set_frontend as set_frontend
from operad.ndarray.run import distinct as distinct
from operad.ndarray.run import execute as execute
from operad.ndarray.serialize import dumps as dumps
from operad.ndarray.serialize import load as load
from operad.ndarray.serialize import loads as loads
from operad.ndarray.serialize import save as save
from operad.ndarray.spec import Spec as Spec
from operad.ndarray.versions import Versions as Versions
from operad.ndarray.versions import overwritten as overwritten


def __getattr__(name: str) -> _Any:
    """What is not of this package is of the face above it."""
    if name.startswith("__"):
        raise AttributeError(f"module 'operad.ndarray' has no attribute {name!r}")
    return getattr(_import_module("operad.nd"), name)


def __dir__() -> list[str]:
    return dir(_import_module("operad.nd"))
