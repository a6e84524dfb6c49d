"""Forms of steps that repeat: found once, where the same parts read the same of each other."""

from __future__ import annotations

import numpy as np
import pytest

from operad import sym
from operad.graph import Graph
from operad_fusion.merging import Known, Step, itself, merged
from operad_fusion.parts import parts_of

SHAPE, TYPE = (4, 5), np.dtype(np.float32)
A, B, C = (sym.var(name) for name in "abc")


def step(symbol, parts):
    """The step of the last node, with the parts of its operator, which nodes that are alike share."""
    (entry,) = Graph(symbol.entries).outputs
    node, count = entry.node, len(entry.node.inputs)
    own = parts.setdefault(node.signature, parts_of(node, [SHAPE] * count, [TYPE] * count))
    return Step(own, node.inputs, node.entries)


def chains():
    """Two steps of each, and the numbers of those whose results are wanted."""

    def pair(first, second, wanted):
        return first, second(first), wanted

    return [
        pair(A + B, lambda x: x * C, [1]),
        pair(B + C, lambda x: x * A, [1]),
        pair(A + B, lambda x: x * C, [0, 1]),
        pair(A + B, lambda x: C * x, [1]),
        pair(A + B, lambda x: x * A, [1]),
        pair(A + A, lambda x: x * C, [1]),
        pair(A - B, lambda x: x * C, [1]),
        pair(A + B, lambda x: x * x, [1]),
    ]


def found_of(chain, known, parts):
    first, second, wanted = chain
    steps = [step(first, parts), step(second, parts)]
    return merged(steps, [steps[number].outputs[0] for number in wanted], itself, known)


@pytest.mark.parametrize("order", [1, -1])
def test_a_form_is_that_of_its_own_steps_whatever_was_merged_before(order):
    known: Known = {}
    parts = {}
    for chain in chains()[::order]:
        found, right = found_of(chain, known, parts), found_of(chain, None, parts)
        assert found.form == right.form
        assert [one.node.name for one in found.inputs] == [one.node.name for one in right.inputs]
        assert found.outputs == right.outputs
    assert len(known) < len(chains())  # some repeat
