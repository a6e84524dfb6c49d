"""Arrays that a gradient counts on, and whether they were written since."""

from __future__ import annotations

import pytest

from operad import nd
from operad.errors import GradientError
from operad.imperative import Versions
from operad.imperative.versions import overwritten


@pytest.fixture
def arrays():
    return [nd.array([1.0, 2.0]), nd.array([3.0, 4.0])]


def test_arrays_are_unchanged_until_one_is_written(arrays):
    versions = Versions(arrays)
    assert versions.first_changed() is None
    arrays[1][:] = 5
    assert versions.first_changed() == 1


def test_the_first_of_several_is_told(arrays):
    versions = Versions(arrays)
    for array in reversed(arrays):
        array[:] = 5
    assert versions.first_changed() == 0


def test_noting_makes_the_present_contents_count(arrays):
    versions = Versions(arrays)
    arrays[0][:] = 5
    versions.note()
    assert versions.first_changed() is None


def test_a_write_to_another_part_of_the_same_memory_counts(arrays):
    versions = Versions([arrays[0][0:1]])
    arrays[0][1:2] = 5
    assert versions.first_changed() == 0


def test_the_error_names_what_was_overwritten_and_what_to_do():
    error = overwritten("backward of tanh", "output[0]", "forward")
    assert isinstance(error, GradientError)
    assert "output[0] was overwritten after forward" in str(error)
    assert "copy it first" in str(error)
