"""Functions of NumPy that are given arrays."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od


def test_a_missing_function_of_numpy_says_what_to_install(site):
    x = od.nd.empty((1,))
    with pytest.raises(TypeError, match=r"numpy\.where of an NDArray: .*pip install .*numpy, or give it"):
        np.where(x, x, x)


def test_a_missing_ufunc_of_numpy_says_what_to_install(site):
    with pytest.raises(TypeError, match=r"numpy\.tanh of an NDArray: .*pip install .*numpy, or give it"):
        np.tanh(od.nd.empty((1,)))
