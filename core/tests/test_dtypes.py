"""Element types and MXNet's numbers for them."""

from __future__ import annotations

import numpy as np
import pytest

from operad import dtypes
from operad.errors import DTypeError

FLAGS = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6, "bool": 7}


@pytest.mark.parametrize("given", [np.float32, "float32", "f4", np.dtype("float32"), np.dtype(">f4"), ">f4"])
def test_every_spelling_gives_the_native_type(given):
    dtype = dtypes.as_dtype(given)
    assert dtype == np.dtype("float32")
    assert dtype.isnative


def test_python_types_are_numpys():
    assert dtypes.as_dtype(int) == np.int64
    assert dtypes.as_dtype(bool) == np.bool_


@pytest.mark.parametrize(
    "given", ["complex64", "float31", "M8[s]", "U3", "f4,i4", "", None, 3, object, {}, np.dtype("V4")]
)
def test_what_cannot_be_stored_is_refused(given):
    with pytest.raises(DTypeError):
        dtypes.as_dtype(given)


def test_flags_are_mxnets():
    assert {name: dtypes.type_flag(np.dtype(name)) for name in FLAGS} == FLAGS


def test_flags_and_types_go_both_ways():
    for flag in range(12):
        assert dtypes.type_flag(dtypes.from_type_flag(flag)) == flag


@pytest.mark.parametrize("flag", [-1, 12, 119])
def test_an_unknown_flag_is_refused(flag):
    with pytest.raises(DTypeError, match=f"number {flag}"):
        dtypes.from_type_flag(flag)


def test_gradients_flow_through_floats():
    assert dtypes.is_floating(np.dtype("float16"))
    assert not dtypes.is_floating(np.dtype("int32"))
    assert not dtypes.is_floating(np.dtype("bool"))
