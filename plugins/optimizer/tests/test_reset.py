"""Arrays set to zero in one call."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError


def test_every_array_is_zero_and_none_is_given():
    arrays = [od.nd.array([np.nan, 2.0]), od.nd.ones((2, 3), dtype="float16"), od.nd.array(4.0)]
    assert od.nd.reset_arrays(*arrays, num_arrays=3) == []
    assert not any(array.asnumpy().any() for array in arrays)


def test_no_array_is_written_where_one_has_integers():
    first, second = od.nd.ones(2), od.nd.ones(2, dtype="int32")
    od.nd.reset_arrays(first, second, num_arrays=2)
    with pytest.raises(DTypeError, match="data_1 is int32"):
        second.asnumpy()
    assert second.dtype == np.int32


def test_an_executor_resets_the_states_it_is_bound_to():
    first, second = od.nd.ones(2), od.nd.ones((3, 1))
    symbol = od.sym.reset_arrays(od.sym.var("a"), od.sym.var("b"), num_arrays=2)
    assert symbol.list_auxiliary_states() == ["a", "b"]
    symbol.bind(od.cpu(), {}, aux_states={"a": first, "b": second}).forward()
    assert not first.asnumpy().any()
    assert not second.asnumpy().any()
