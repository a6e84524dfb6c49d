"""A stand-in for CuPy on a machine without it: `od.gpu(0)` means it within `installed()`.

It has what operad and its operators use of CuPy, and no more: `arrays` for what is computed, `streams`
for when it counts as done.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.tests.devices import streams
from core.tests.devices.arrays import Array, adopted, functions, host_of, refuse
from core.tests.devices.functions import DRAWS
from operad import engine
from operad.imperative.chunk import reclaim

_SCALARS = ("bool_", "float16", "float32", "float64", "int8", "int32", "int64", "uint8", "inf", "nan", "pi")


class _Generator:
    """`cupy.random.Generator`: the host's numbers, on the device; no more kinds of draws than CuPy has."""

    def __init__(self, bit_generator: np.random.BitGenerator) -> None:
        self._host = np.random.Generator(bit_generator)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in DRAWS:
            raise AttributeError(f"CuPy's Generator has no {name!r}; it has {', '.join(DRAWS)}")
        function = getattr(self._host, name)

        def draw(*args: Any, **keywords: Any) -> Any:
            refuse(f"Generator.{name}", args, keywords, DRAWS[name])
            out = keywords.get("out")
            values = [host_of(arg) if isinstance(arg, Array) else arg for arg in args]
            given = {key: host_of(arg) if isinstance(arg, Array) else arg for key, arg in keywords.items()}
            stream = streams.get_current_stream()
            if out is not None:
                stream.work(lambda: function(*values, **given))
                return out
            if streams.Stream.is_late:  # what is drawn before, and what the draw reads
                stream.synchronize()
            return adopted(np.asarray(function(*values, **given)))

        return draw


def _asarray(a: Any, dtype: Any = None, order: str | None = None, blocking: bool = False) -> Any:
    if isinstance(a, Array):
        return a if dtype is None or a.dtype == dtype else a.astype(dtype)
    return adopted(np.array(a, dtype))


def _array(obj: Any, dtype: Any = None, copy: bool = True) -> Any:
    made = _asarray(obj, dtype)
    return made.copy() if copy and made is obj else made


def _asnumpy(a: Any) -> Any:
    return a.get() if isinstance(a, Array) else np.asarray(a)


class _Grid:
    """`cupy.ogrid`."""

    def __getitem__(self, key: Any) -> Any:
        return adopted(np.ogrid[key])


def _memory_pool() -> SimpleNamespace:
    return SimpleNamespace(free_all_blocks=lambda: None)


def module() -> ModuleType:
    """What `import cupy` gives."""
    cupy: Any = ModuleType("cupy")
    functions.asarray, functions.array = _asarray, _array
    cupy.__dict__.update(vars(functions), ndarray=Array, asnumpy=_asnumpy, ogrid=_Grid())
    cupy.__dict__.update((name, getattr(np, name)) for name in _SCALARS)
    cupy.get_default_memory_pool = cupy.get_default_pinned_memory_pool = _memory_pool
    cupy.random = SimpleNamespace(Generator=_Generator, Philox4x3210=np.random.Philox)
    cupy.cuda = SimpleNamespace(
        Device=streams.Device,
        Event=streams.Event,
        Stream=streams.Stream,
        get_current_stream=streams.get_current_stream,
        alloc_pinned_memory=bytearray,
        runtime=SimpleNamespace(
            getDeviceCount=lambda: streams.Device.COUNT, CUDARuntimeError=streams.CUDARuntimeError
        ),
    )
    return cupy  # type: ignore[no-any-return]


@contextmanager
def replaced() -> Iterator[ModuleType]:
    """`import cupy` gives the stand-in meanwhile; CuPy, where it is installed, must not be in use yet."""
    cupy = module()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", cupy)
        yield cupy
        # An array that died later would be deleted on a device that is gone.
        gc.collect()
        reclaim()
        engine.get().wait_for_all()


@contextmanager
def installed() -> Iterator[ModuleType]:
    """`import cupy` gives the stand-in meanwhile.

    Skips the test where CuPy itself is installed: storage keeps blocks of the device that it found first.
    """
    if find_spec("cupy") is not None:
        pytest.skip("CuPy is installed; make test-gpu runs programs and operators on it")
    with replaced() as cupy:
        yield cupy
