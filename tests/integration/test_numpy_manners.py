"""Python's operators on arrays, where NumPy has rules of its own: `//`, `&`, comparisons."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from operad import nd
from operad.errors import DTypeError, ParamError


def close(found, expected):
    assert isinstance(found, nd.NDArray)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8"])
def test_floor_division_is_numpys(dtype):
    a, b = (side.ravel().astype(dtype) for side in np.meshgrid([-7, -6, -1, 0, 1, 5, 7], [-3, -1, 1, 2]))
    close(nd.array(a, dtype=dtype) // nd.array(b, dtype=dtype), a // b)
    close(nd.array(a, dtype=dtype) // 3, a // 3)
    close(7 // nd.array(b, dtype=dtype), 7 // b)


def test_floor_division_does_not_round_up():
    a, b = np.float32([1, 0.3, 6, 1e7]), np.float32([0.1, 0.1, 0.2, 3])
    close(nd.array(a) // nd.array(b), a // b)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_conditions_combine(dtype):
    values = np.arange(5)
    x = nd.array(values, dtype=dtype)
    close((x > 1) & (x < 4), (values > 1) & (values < 4))
    close((x < 1) | (x > 3) | False, (values < 1) | (values > 3))
    close(~(x > 2) ^ (x == 4), ~(values > 2) ^ (values == 4))
    close((x > 1) & (values < 3), (values > 1) & (values < 3))
    close((x > 1).astype("bool") & (x < 4), (values > 1) & (values < 4))
    assert x[((x > 1) & (x < 4)).astype("bool")].tolist() == [2, 3]


def test_a_number_that_integers_cannot_be_compared_with_spoils_no_later_comparison():
    assert (nd.array([1.0, 2.0]) < np.inf).tolist() == [1, 1]
    whole = nd.array([1, 2], dtype="int16")
    assert (whole < 2).tolist() == [1, 0]
    with pytest.raises(ParamError, match="scalar is inf, which int16 cannot hold"):
        whole < np.inf  # noqa: B015 - refusing is what it does


OF_BITS = [lambda x: x & x, lambda x: x | 2, lambda x: x ^ 3, lambda x: ~x]
MIXED = [lambda x: (x > 1) | x, lambda x: (x > 1) ^ 6]


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
@pytest.mark.parametrize("call", OF_BITS)
def test_bits_of_integers_are_numpys(call, dtype):
    values = np.array([1, 2, 7], dtype)
    np.testing.assert_array_equal(call(nd.array(values, dtype=dtype)).asnumpy(), call(values))


@pytest.mark.parametrize(
    ("call", "dtype"), [*product(OF_BITS, ["float32"]), *product(MIXED, ["float32", "int32", "uint8"])]
)
def test_bits_of_other_numbers_are_refused(call, dtype):
    with pytest.raises(DTypeError, match=r"expected bools.*astype\('bool'\)"):
        call(nd.array([1, 2], dtype=dtype))
