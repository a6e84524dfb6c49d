"""Reading models: what comes back is what was written, and what cannot be read is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx import TensorProto, helper

import operad as od
from operad.errors import ArgumentError, DTypeError, FormatError, UnsupportedError
from plugins.onnx.tests.networks import NETWORKS, evaluated


def model_of(
    *nodes: onnx.NodeProto, x: Any = (2, 3), out: str = "y", opset: int = 17, **more: Any
) -> onnx.ModelProto:
    """A model of one input `x`."""
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)]
    infos += [helper.make_tensor_value_info(name, *info) for name, info in more.get("inputs", {}).items()]
    outputs = [helper.make_tensor_value_info(out, TensorProto.FLOAT, None)]
    graph = helper.make_graph(list(nodes), "g", infos, outputs, more.get("tensors", []))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


RELU = helper.make_node("Relu", ["x"], ["y"])


@pytest.mark.parametrize(
    "name", ["lenet", *(pytest.param(name, marks=pytest.mark.more) for name in ("lstm", "gpt", "detector"))]
)
def test_what_was_written_comes_back(name: str) -> None:
    network = NETWORKS[name]
    params, arrays = network.params(), network.arrays()
    model = od.onnx.load(od.onnx.export(network.symbol, params, network.shapes))
    assert model.inputs == [n for n in network.symbol.list_inputs() if n in network.shapes]
    for found, wanted in zip(
        evaluated(model.symbol, model.params, arrays), evaluated(network.symbol, params, arrays), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_names_of_nodes_outputs_and_parameters_come_back() -> None:
    network = NETWORKS["lenet"]
    model = od.onnx.load(od.onnx.export(network.symbol, network.params(), network.shapes))
    names = [node.name for node in model.symbol.graph.op_nodes]
    assert {"conv1", "conv2", "fc1", "fc2", "softmax"} <= set(names)
    assert model.symbol.list_outputs() == ["softmax_output"]
    assert model.params.keys() == network.params().keys()


def test_a_file_its_bytes_and_a_model_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(RELU).SerializeToString())
    for source in (path, str(path), path.read_bytes(), model_of(RELU)):
        assert [node.op.name for node in od.onnx.load(source).symbol.graph.op_nodes] == ["relu"]


def test_states_of_normalization_are_auxiliary() -> None:
    network = NETWORKS["resnet18"]
    symbol = od.sym.BatchNorm(od.sym.var("data"), name="bn")
    ones = {name: od.nd.ones((3,)) for name in symbol.list_inputs()[1:]}
    model = od.onnx.load(od.onnx.export(symbol, ones, {"data": ("N", 3, 2, 2)}))
    assert list(model.aux_params) == ["bn_moving_mean", "bn_moving_var"]
    assert network.symbol.list_auxiliary_states()


def test_a_number_that_is_known_becomes_a_parameter_of_the_operator() -> None:
    two = helper.make_tensor("two", TensorProto.FLOAT, [], [2.0])
    model = od.onnx.load(model_of(helper.make_node("Mul", ["x", "two"], ["y"]), tensors=[two]))
    assert [node.op.name for node in model.symbol.graph.op_nodes] == ["_mul_scalar"]
    assert not model.params


def test_a_value_that_must_be_known_is_asked_for_and_can_be_given() -> None:
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    model = model_of(node, inputs={"s": (TensorProto.INT64, (1,))})
    with pytest.raises(
        od.onnx.NeedsValueError, match=r"node 'y' \(Reshape\): input 1 .*'s'.*values="
    ) as caught:
        od.onnx.load(model)
    assert caught.value.inputs == ["s"]
    loaded = od.onnx.load(model, values={"s": np.array([6])})
    assert loaded.inputs == ["x"]
    assert evaluated(loaded.symbol, {}, {"x": np.ones((2, 3), np.float32)})[0].shape == (6,)


def test_shapes_that_the_model_leaves_open_can_be_given() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Expand", ["one", "s"], ["y"]),
    ]
    one = helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])
    model = model_of(*nodes, x=("N", 3), tensors=[one])
    with pytest.raises(UnsupportedError, match="shapes= of these"):
        od.onnx.load(model)
    assert od.onnx.load(model, shapes={"x": (2, 3)}).symbol.list_outputs()


@pytest.mark.parametrize("given", [{"shapes": {"z": (1,)}}, {"values": {"z": 1}}])
def test_names_that_are_no_inputs_are_refused(given: Any) -> None:
    with pytest.raises(ArgumentError, match="'z' is no input; they are x"):
        od.onnx.load(model_of(RELU), **given)


def test_an_operator_without_a_rule_is_named_with_its_node() -> None:
    with pytest.raises(UnsupportedError, match=r"node 'y' \(Unique\): no package brings a rule for Unique"):
        od.onnx.load(model_of(helper.make_node("Unique", ["x"], ["y"])))
    with pytest.raises(UnsupportedError, match=r"node 'mine' \(Nope\): ONNX has no operator 'Nope'"):
        od.onnx.load(model_of(helper.make_node("Nope", ["x"], ["y"], name="mine")))
    with pytest.raises(FormatError, match="which version of the domain 'acme'"):
        od.onnx.load(model_of(helper.make_node("Relu", ["x"], ["y"], domain="acme")))


def test_a_rule_that_refuses_is_named() -> None:
    node = helper.make_node("Dropout", ["x", "", "on"], ["y"], name="drop")
    on = helper.make_tensor("on", TensorProto.BOOL, (), [True])
    with pytest.raises(
        UnsupportedError, match=r"node 'drop' \(Dropout\): it drops .*\(rule .* of operad-dropout"
    ):
        od.onnx.load(model_of(node, tensors=[on]))


def test_nodes_that_form_a_cycle_or_read_what_nothing_makes_are_refused() -> None:
    cycle = [helper.make_node("Relu", ["b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    with pytest.raises(FormatError, match=r"reads 'b', which .*cycle"):
        od.onnx.load(model_of(*cycle, out="b"))
    with pytest.raises(FormatError, match="reads 'nothing', which nothing makes"):
        od.onnx.load(model_of(helper.make_node("Relu", ["nothing"], ["y"])))
    with pytest.raises(FormatError, match="two values are called 'y'"):
        od.onnx.load(model_of(RELU, RELU))
    with pytest.raises(FormatError, match="'missing'"):
        od.onnx.load(model_of(RELU, out="missing"))


def test_types_that_arrays_do_not_have_are_refused() -> None:
    model = model_of(RELU)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.BFLOAT16
    with pytest.raises(DTypeError, match="input 'x' has the element type BFLOAT16"):
        od.onnx.load(model)
    model.graph.input[0].type.tensor_type.elem_type = 999
    with pytest.raises(DTypeError, match="element type 999"):
        od.onnx.load(model)
    model.graph.input[0].type.sequence_type.SetInParent()
    with pytest.raises(UnsupportedError, match="is a sequence_type"):
        od.onnx.load(model)


def test_what_is_left_out_is_refused_by_name() -> None:
    model = model_of(RELU)
    model.graph.sparse_initializer.add()
    with pytest.raises(UnsupportedError, match="sparse"):
        od.onnx.load(model)
    model = model_of(RELU)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(UnsupportedError, match="has no shape; give it"):
        od.onnx.load(model)


def test_lengths_with_one_name_are_alike() -> None:
    node = helper.make_node("Add", ["x", "z"], ["y"])
    loaded = od.onnx.load(model_of(node, x=("N", 3), inputs={"z": (TensorProto.FLOAT, ("N", 3))}))
    assert loaded.inputs == ["x", "z"]
