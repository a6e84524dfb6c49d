"""Records that the hot path runs, and which plans have one."""

from __future__ import annotations

import numpy as np
import pytest

from operad import registry
from operad.device import cpu
from operad.imperative import MOST_ARRAYS, Plan, spec_of
from operad.imperative.fast_path import FastPath
from operad.imperative.hot import fast_path

pytestmark = pytest.mark.usefixtures("operators")


def fast_path_of(name, *shapes, **params):
    specs = [spec_of(shape, np.dtype("float32"), cpu()) for shape in shapes]
    return fast_path(Plan(registry.get(name)(**params), specs, cpu(), False))


def test_a_small_plan_has_one_which_knows_its_output():
    found = fast_path_of("tanh", (4,))
    assert isinstance(found, FastPath)
    assert (found.out_spec.shape, found.is_recycled, found.updates) == ((4,), True, [True])


def test_a_plan_of_large_arrays_is_left_to_the_engine():
    assert fast_path_of("tanh", (4096, 4096)) is None


def test_a_plan_with_several_outputs_has_none():
    assert fast_path_of("SineCosine", (2, 3)) is None


def test_what_the_hot_path_reads_is_in_slots():
    found = fast_path_of("tanh", (4,))
    assert not hasattr(found, "__dict__")
    assert MOST_ARRAYS == 4
