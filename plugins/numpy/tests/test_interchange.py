"""`nd.from_dlpack`, and what NumPy asks of arrays where nothing computes it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from operad import nd
from operad.context import Context, cpu
from operad.errors import ArgumentError, DTypeError


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_dlpack_shares_memory_both_ways(dtype, shape):
    x = nd.array(np.ones(shape), dtype=dtype)
    exported = np.from_dlpack(x)
    assert (exported.dtype, exported.shape) == (dtype, shape)
    back = nd.from_dlpack(exported)
    assert (back.dtype, back.shape, back.context) == (dtype, shape, cpu(0))
    x[...] = 0
    x.wait_to_read()
    np.testing.assert_array_equal(exported, np.zeros(shape))
    np.testing.assert_array_equal(back.asnumpy(), np.zeros(shape))


def test_operations_write_imported_memory():
    source = np.zeros(4, np.float32)
    x = nd.from_dlpack(source)
    x += 3
    x[1:][0] = 5
    x.wait_to_read()
    assert source.tolist() == [3, 5, 3, 3]


def test_imported_memory_outlives_its_source():
    source = np.full(1000, 7, np.float32)
    x = nd.from_dlpack(source)
    del source
    gc.collect()
    np.full(1000, 9, np.float32)
    assert x.asnumpy().tolist() == [7] * 1000


def test_an_array_of_ours_is_imported_without_a_detour():
    x = nd.array([1, 2])
    assert nd.from_dlpack(x)._chunk is x._chunk


def test_types_without_a_counterpart_are_refused():
    with pytest.raises(DTypeError, match="complex64"):
        nd.from_dlpack(np.zeros(2, np.complex64))


def test_what_does_not_follow_the_protocol_is_refused():
    with pytest.raises(ArgumentError, match="list does not follow the DLPack protocol"):
        nd.from_dlpack([1, 2])


def test_host_memory_is_imported_to_the_host_under_a_gpu_context():
    with Context("gpu", 0):
        assert nd.from_dlpack(np.zeros(2)).context is cpu(0)


def test_numpys_functions_that_nothing_computes_say_what_to_do() -> None:
    x = nd.array([1.0])
    with pytest.raises(ArgumentError, match=r"numpy\.unwrap of an NDArray: .*x\.asnumpy\(\)"):
        np.unwrap(x)


def test_a_capsule_gives_the_memory_it_was_made_of() -> None:
    x = nd.array([1.0, 2.0])
    shared = nd.from_dlpack(x.__dlpack__())
    x += 1
    assert shared.asnumpy().tolist() == [2, 3]
