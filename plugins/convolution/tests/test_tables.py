"""Records that kernels and their callers share."""

from __future__ import annotations

import sys
from collections import namedtuple
from itertools import chain

import numpy as np
import pytest

from operad_convolution.direct import layer, tables
from operad_convolution.direct.layer import DirectCorrelation
from operator_sdk.sdk.tests.vector_code import require_vector_code
from plugins.convolution.tests.correlations import Sizes, context, five
from plugins.convolution.tests.test_direct import KINDS

require_vector_code()

RECORDS = [name for name, value in vars(tables).items() if hasattr(value, "_fields")]
LAYERS = [
    {"kernel": (1, 3), "stride": (2, 2), "pad": (0, 1), "filters": 21, "groups": 2},
    # Tiles of the gradient by the data pass over some rows of taps.
    {"kernel": (5, 5), "stride": (1, 1), "pad": (0, 0), "size": (12, 12), "dilate": (1, 1), "channels": 20,
     "filters": 7, "groups": 1},
]  # fmt: skip


def modules():
    return [each for name, each in sys.modules.items() if name.startswith("operad_convolution.direct.")]


def forget_kernels():
    for value in chain.from_iterable(vars(module).values() for module in modules()):
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def results(monkeypatch):
    found = []
    for kind in ("pixels", "filters"):
        for name, make in zip(("forward_program", "weight_program"), KINDS[kind], strict=True):
            monkeypatch.setattr(layer, name, make)
        for fixed in LAYERS:
            sizes = Sizes(3, np.float32, **fixed)
            arrays = [np.full(a.shape, np.nan, np.float32) for a in (sizes.head, sizes.data, sizes.weight)]
            out, data_grad, weight_grad = map(five, arrays)
            data, weight, head = map(five, (sizes.data, sizes.weight, sizes.head))
            direct = DirectCorrelation(sizes.geometry, np.dtype(np.float32))
            direct.correlate(context(), data, weight, sizes.bias, out)
            direct.data_gradient(context(), weight, head, None, data_grad)
            direct.weight_gradient(context(), data, head, weight_grad)
            found += arrays
    return found


@pytest.fixture
def fresh_kernels():
    forget_kernels()
    yield
    forget_kernels()


@pytest.fixture(scope="module")
def expected():
    """What kernels compute that read the records as they are."""
    with pytest.MonkeyPatch.context() as patch:
        return results(patch)


@pytest.mark.parametrize("name", RECORDS)
def test_the_order_of_words_is_said_in_one_place(name, monkeypatch, expected, fresh_kernels):
    given = getattr(tables, name)
    turned = namedtuple(name, given._fields[::-1])
    holders = [module for module in modules() if getattr(module, name, None) is given]
    assert len(holders) > 2, "the text and the caller both name the record"
    for module in holders:
        monkeypatch.setattr(module, name, turned)
    for one, other in zip(results(monkeypatch), expected, strict=True):
        np.testing.assert_array_equal(one, other)
