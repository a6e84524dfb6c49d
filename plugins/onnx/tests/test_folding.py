"""Values that are known when a model is read, and how many of them there may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import operad.onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import operad as od
from operad.errors import LimitError
from plugins.onnx.tests.test_load import model_of


def tensor(name: str, value: Any) -> TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def test_shapes_that_are_computed_become_parameters() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "first"], ["n"]),
        helper.make_node("Concat", ["n", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    tensors = [tensor("first", np.array([0])), tensor("rest", np.array([-1]))]
    found = od.onnx.load(model_of(*nodes, x=(2, 3, 4), tensors=tensors)).symbol
    assert [node.op.name for node in found.graph.op_nodes] == ["Reshape"]
    assert found.infer_shape(x=(2, 3, 4))[1] == [(2, 12)]


@pytest.mark.parametrize(
    ("node", "tensors"),
    [
        (("ConstantOfShape", ["s"]), {"s": np.array([10**6, 10**6])}),
        (("Expand", ["one", "s"]), {"s": np.array([10**6, 10**6]), "one": np.ones(1, np.float32)}),
        (("Tile", ["one", "s"]), {"s": np.array([10**12]), "one": np.ones(1, np.float32)}),
        (("Range", ["a", "b", "c"]), {"a": np.array(0), "b": np.array(10**15), "c": np.array(1)}),
        (("OneHot", ["i", "d", "v"]), {"i": np.array([1]), "d": np.array(10**12), "v": np.array([0.0, 1.0])}),
    ],
)  # fmt: skip
def test_a_few_bytes_do_not_ask_for_gigabytes(node: Any, tensors: Any) -> None:
    made = helper.make_node(node[0], node[1], ["c"])
    model = model_of(
        made, helper.make_node("Add", ["x", "c"], ["y"]), tensors=[tensor(*each) for each in tensors.items()]
    )
    with pytest.raises(LimitError, match=f"node 'c' .{node[0]}.*OPERAD_MAX_FILE_BYTES"):
        od.onnx.load(model)


def test_larger_constants_are_computed_when_the_model_runs() -> None:
    made = helper.make_node("ConstantOfShape", ["s"], ["c"])
    model = model_of(
        made,
        helper.make_node("Add", ["x", "c"], ["y"]),
        x=(300, 300),
        tensors=[tensor("s", np.array([300, 300]))],
    )
    loaded = od.onnx.load(model)
    assert not loaded.params
    assert "_full" in [node.op.name for node in loaded.symbol.graph.op_nodes]
