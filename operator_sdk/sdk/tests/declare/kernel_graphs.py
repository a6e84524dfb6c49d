"""Graphs of operators whose kernels keep arrays, have them prepared or overwrite some."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.executor import simple_bind
from operad.graph import Entry, Graph, OpNode, Variable

X = np.array([[0.5, -1.0, 4.0], [2.0, 3.0, -0.25]], np.float32)
W = np.array([1.5, 2.0, -3.0], np.float32)

check_plan = pytest.importorskip("operad_passes", reason="it checks memory plans").check_plan


def applied(cls, inputs=("x",), **params):
    nodes = [Entry(Variable(name)) for name in inputs]
    return Graph([Entry(OpNode(cls(**params), "node", nodes))])


def bound(graph, grad_req="write", **arrays):
    exe = simple_bind(graph, cpu(), {n: a.shape for n, a in arrays.items()}, {}, grad_req)
    for name, array in arrays.items():
        exe.arg_dict[name][:] = array
    check_plan(exe.memory_plan)
    return exe
