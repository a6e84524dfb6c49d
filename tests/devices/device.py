"""A device for programs: the one that is there, or a stand-in for a GPU, mappers included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.devices.arrays import Array, host_of
from core.tests.devices.present import why_no_gpu
from core.tests.devices.stand_in import installed, replaced
from core.tests.devices.streams import Stream, get_current_stream
from operad.operator import ScalarForm
from operad_sdk.mapper.backends import with_cuda, with_numpy


def _prepare(form: ScalarForm, dtype: np.dtype[Any], values: Sequence[Any], out: Array) -> Callable[[], None]:
    """In place of a kernel of CUDA text, which the SDK's tests compile: the mapper by NumPy."""
    is_array = tuple(isinstance(value, Array) for value in values)
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype

    def compute() -> None:
        pairs = zip(values, is_array, strict=True)
        operands = [np.asarray(host_of(value), wide) if flag else value for value, flag in pairs]
        result = np.empty(out.shape, wide)
        with_numpy.prepare(form, wide, is_array, operands, result)()
        host_of(out)[...] = result

    return lambda: get_current_stream().work(compute)


@contextmanager
def late_stand_in(replaces: bool = False) -> Iterator[None]:
    """GPUs are the stand-in meanwhile, which computes nothing before it is waited for.

    Args:
        replaces: Also where CuPy is installed, which must not be in use yet.
    """
    with (replaced if replaces else installed)(), pytest.MonkeyPatch.context() as patch, Stream.late():
        patch.setattr(with_cuda, "prepare", _prepare)
        yield
        od.nd.waitall()


@contextmanager
def device() -> Iterator[None]:
    """`od.gpu(0)` is there: a GPU, or the stand-in."""
    if why_no_gpu() is None:
        yield
        od.nd.waitall()
    else:
        with late_stand_in():
            yield


def second() -> od.Context:
    """Another GPU than `od.gpu(0)`, where there are two."""
    return od.gpu(min(od.context.num_gpus(), 2) - 1)


def is_stand_in() -> bool:
    """Return whether `import cupy` gives the stand-in."""
    return not hasattr(od.gpu(0).xp, "__path__")
