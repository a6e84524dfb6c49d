"""A stand-in for a GPU, mappers included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from core.tests.devices.arrays import Array, host_of
from core.tests.devices.stand_in import installed
from core.tests.devices.streams import get_current_stream
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


@pytest.fixture(scope="module")
def gpu() -> Iterator[None]:
    """`od.gpu(0)` is there."""
    with installed(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(with_cuda, "prepare", _prepare)
        yield
