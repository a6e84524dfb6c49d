"""What tests of kernels without a word share."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.operator import KernelCall
from operad_sdk.vector import reason_against

has_vectors = pytest.mark.skipif(reason_against() is not None, reason="vector code needs llvmlite")
SINGLE = np.dtype(np.float32)


def registered_for_tests(*properties):
    """Make a fixture that registers them for a module."""

    @pytest.fixture(scope="module", autouse=True)
    def registered():
        for each in properties:
            od.registry.register(each)
        yield
        for each in properties:
            od.registry.unregister(each.name)

    return registered


def call_of(prop, *shapes, threads=1, dtype=SINGLE):
    """Describe a call of an operator on the CPU."""
    return KernelCall(prop, od.cpu(), list(shapes), [np.dtype(dtype)] * len(shapes), threads=threads)
