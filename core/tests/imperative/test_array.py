"""Arrays without what users call: shape, memory, views."""

from __future__ import annotations

import numpy as np
import pytest

from operad.device import cpu
from operad.imperative import Array, ArrayFields, Provenance, spec_of

FLOAT32 = np.dtype("float32")


@pytest.fixture
def made():
    array = Array._new(spec_of((2, 3), FLOAT32, cpu()))
    array._data[...] = 5
    return array


def test_it_tells_shape_type_device_and_sizes(made):
    assert (made.shape, made.dtype, made.size, made.ndim) == ((2, 3), FLOAT32, 6, 2)
    assert made.ctx is made.context is cpu()


def test_a_view_shares_memory_and_variable_and_is_of_the_same_class():
    class Mine(Array):
        __slots__ = ()

    whole = Mine._new(spec_of((4,), FLOAT32, cpu()))
    part = whole._view(whole._data[1:3])
    part._data[...] = 7
    assert isinstance(part, Mine)
    assert part._chunk is whole._chunk
    assert whole._data[1:3].tolist() == [7, 7]


def test_only_a_part_of_its_memory_is_a_part(made):
    assert not made._is_part
    assert made._view(made._data[0])._is_part
    assert not made._view(made._data.reshape(-1))._is_part


def test_a_detached_array_is_the_same_memory_off_the_tape(made):
    made._autograd = ("node", 0)
    detached = made.detach()
    assert detached._autograd is None
    assert detached._data is made._data


def test_a_filled_array_is_a_new_one_of_the_same_kind(made):
    other = made._new(made._spec)._set(9)
    assert other._spec is made._spec
    assert (other._data == 9).all()
    assert (made._data == 5).all()


def test_how_it_came_to_be_is_known_only_where_that_was_noted(made):
    assert not made._has_provenance(Provenance.COMPARED)
    assert made._with_provenance(Provenance.COMPARED) is made
    assert made._has_provenance(Provenance.COMPARED)
    assert not made._has_provenance(Provenance.MADE)


def test_the_fields_that_the_core_reads_are_those_of_the_protocol():
    fields = set(ArrayFields.__annotations__)
    assert fields == {"_autograd", "_chunk", "_data", "_spec"}
    assert {*Array.__slots__} - {"__weakref__", "_provenance"} == fields
