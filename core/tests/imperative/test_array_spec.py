"""Shape, type and device of an array as one object."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from operad import nd
from operad.device import cpu
from operad.imperative import spec_of

FLOAT32 = np.dtype("float32")


def test_equal_specifications_are_one_object():
    one = spec_of((2, 3), FLOAT32, cpu())
    assert spec_of((2, 3), np.dtype("f4"), cpu()) is one
    assert len({one, spec_of((3, 2), FLOAT32, cpu()), spec_of((2, 3), FLOAT32, cpu(1))}) == 3


def test_it_stays_the_same_object_while_an_array_has_it():
    x = nd.empty((5, 7, 11))
    spec_of.cache_clear()
    assert spec_of((5, 7, 11), FLOAT32, cpu()) is x._spec


def test_one_that_nothing_has_is_forgotten():
    spec = weakref.ref(spec_of((13, 17, 19), FLOAT32, cpu()))
    spec_of.cache_clear()
    gc.collect()
    assert spec() is None


@pytest.mark.parametrize(("shape", "size"), [((), 1), ((0, 4), 0), ((2, 3), 6)])
def test_sizes_are_in_elements_and_bytes(shape, size):
    spec = spec_of(shape, np.dtype("float64"), cpu())
    assert (spec.size, spec.nbytes) == (size, 8 * size)


def test_it_is_told_as_messages_have_it():
    assert repr(spec_of((2, 3), FLOAT32, cpu(1))) == "float32(2, 3) on cpu(1)"
