"""A small network of dense layers, and its executors."""

from __future__ import annotations

import numpy as np

from operad import sym

X, W, B = np.float32([[1, 2]]), np.float32([[3, 4], [5, 6], [7, 8]]), np.float32([9, 10, 11])


def dense_tanh():
    """One layer of three, for `X`, `W` and `B`."""
    return sym.tanh(sym.Dense(sym.var("data"), num_hidden=3, name="fc1"), name="act")


def network(label="label"):
    """Two layers and a loss."""
    out = sym.Dense(sym.tanh(sym.Dense(sym.var("data"), num_hidden=16, name="fc1")), num_hidden=4, name="fc2")
    return sym.SquareLoss(out, sym.var(label), name="loss")


def filled(exe, seed=0):
    """Random values in every argument."""
    rng = np.random.default_rng(seed)
    for array in exe.arg_dict.values():
        array[:] = rng.uniform(-1, 1, array.shape)
    return exe
