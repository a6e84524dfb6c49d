"""Views that nodes give together: found once for all that are alike, and for no others."""

from __future__ import annotations

import numpy as np
import pytest

from operad import cpu, sym
from operad.graph import Graph, infer_shapes, infer_types
from operad_fusion.views import Views


def resolved(symbol, arrays):
    """For each output what it is as a view of an argument, and the array that the nodes give."""
    graph = Graph([entry for each in symbol for entry in each.entries])
    facts = {
        "shapes": infer_shapes(graph, {name: array.shape for name, array in arrays.items()}),
        "types": infer_types(graph, {name: array.dtype for name, array in arrays.items()}, np.float32),
        "contexts": [cpu()] * len(graph.nodes),
    }
    views = Views(graph, facts)
    found = [views.resolved(entry) for entry in graph.outputs]
    assert all(view is not None for _, view in found)
    return [view.of(arrays[base.node.name]) for base, view in found]


def numbers(shape, dtype=np.float32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


X, Y = sym.var("x"), sym.var("y")


@pytest.mark.parametrize(
    "other",
    [numbers((4, 7)), numbers((6, 5)), numbers((4, 5), np.float64)],
    ids=["columns", "rows", "type"],
)
def test_the_same_slice_of_other_arrays_is_another_view(other):
    parts = [sym.slice_axis(one, axis=0, begin=1, end=3) for one in (X, Y)]
    arrays = {"x": numbers((4, 5)), "y": other}
    for found, array in zip(resolved(parts, arrays), arrays.values(), strict=True):
        np.testing.assert_array_equal(found, array[1:3])


def test_other_slices_of_one_array_are_other_views():
    parts = [sym.slice_axis(X, axis=0, begin=begin, end=begin + 2) for begin in (0, 1, 2)]
    array = numbers((4, 5))
    for begin, found in enumerate(resolved(parts, {"x": array})):
        np.testing.assert_array_equal(found, array[begin : begin + 2])


def test_each_output_of_a_split_is_a_view_of_its_own():
    parts = sym.SliceChannel(X, num_outputs=3, axis=1)
    array = numbers((2, 6))
    found = resolved([parts[number] for number in range(3)], {"x": array})
    for part, right in zip(found, np.split(array, 3, axis=1), strict=True):
        np.testing.assert_array_equal(part, right)


def test_the_order_of_nodes_counts():
    first = sym.slice_axis(sym.transpose(X), axis=0, begin=1, end=3)
    second = sym.transpose(sym.slice_axis(X, axis=0, begin=1, end=3))
    array = numbers((4, 4))
    found = resolved([first, second], {"x": array})
    np.testing.assert_array_equal(found[0], array.T[1:3])
    np.testing.assert_array_equal(found[1], array[1:3].T)
