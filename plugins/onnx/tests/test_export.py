"""Writing symbols: names, lengths that differ from run to run, refusals, values by onnx's own reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx.reference import ReferenceEvaluator

import operad as od
from operad.errors import ArgumentError, UnsupportedError
from plugins.onnx.tests.networks import NETWORKS, evaluated

LENET = NETWORKS["lenet"]
x = od.sym.var("x")


def exported(symbol: Any, **shapes: Any) -> onnx.ModelProto:
    return od.onnx.export(symbol, {}, shapes)


def test_a_model_computes_what_the_symbol_does_for_any_number_of_rows() -> None:
    params = LENET.params()
    model = od.onnx.export(LENET.symbol, params, LENET.shapes)
    onnx.checker.check_model(model, full_check=True)
    for length in (1, 3):
        arrays = LENET.arrays(length)
        (found,) = ReferenceEvaluator(model).run(None, arrays)
        np.testing.assert_allclose(found, evaluated(LENET.symbol, params, arrays)[0], rtol=1e-5, atol=1e-6)


def test_names_are_kept() -> None:
    model = od.onnx.export(LENET.symbol, LENET.params(), LENET.shapes)
    assert [node.name for node in model.graph.node if node.op_type in ("Conv", "Gemm")] == [
        "conv1", "conv2", "fc1", "fc2",
    ]  # fmt: skip
    assert {tensor.name for tensor in model.graph.initializer} >= {"conv1_weight", "fc2_bias"}
    assert [info.name for info in (*model.graph.input, *model.graph.output)] == ["data", "softmax_output"]


def test_lengths_that_differ_have_their_names_and_labels_are_left_out() -> None:
    found = od.onnx.export(LENET.symbol, LENET.params(), {"data": (None, 1, 8, 8)}).graph
    assert [length.dim_param or length.dim_value for length in found.input[0].type.tensor_type.shape.dim] == [
        "data_0", 1, 8, 8,
    ]  # fmt: skip
    assert found.output[0].type.tensor_type.shape.dim[0].dim_param == "data_0"


def test_names_of_checkpoints_are_taken() -> None:
    params = {f"arg:{name}": array for name, array in LENET.params().items()}
    assert len(od.onnx.export(LENET.symbol, params, LENET.shapes).graph.input) == 1


@pytest.mark.parametrize("opset", [17, od.onnx.newest_opset()])
def test_the_version_is_the_one_asked_for(opset: int) -> None:
    model = od.onnx.export(od.sym.mean(x, axis=1), {}, {"x": (2, 3)}, opset=opset)
    assert [entry.version for entry in model.opset_import if entry.domain == ""] == [opset]
    onnx.checker.check_model(model, full_check=True)


@pytest.mark.parametrize("opset", [16, 10**6, "17"])
def test_an_unknown_version_is_refused(opset: Any) -> None:
    with pytest.raises((ArgumentError, TypeError)):
        od.onnx.export(od.sym.relu(x), {}, {"x": (2,)}, opset=opset)


def test_a_refusal_names_node_operator_rule_and_package() -> None:
    with pytest.raises(UnsupportedError, match=r"node 'mine' \(gamma\) cannot be written as ONNX: .*no such"):
        exported(od.sym.gamma(x, name="mine"), x=(2,))
    with pytest.raises(UnsupportedError, match=r"node 'd' \(Dropout\): .*\(rule .*dropout of operad-dropout"):
        exported(od.sym.Dropout(x, mode="always", name="d"), x=(2,))


def test_a_rule_that_fails_is_named() -> None:
    with pytest.raises(UnsupportedError, match=r"node 'n' \(smooth_l1\): its rule .*ZeroDivisionError"):
        exported(od.sym.smooth_l1(x, scalar=0, name="n"), x=(2,))


def test_a_shape_that_must_be_known_is_asked_for() -> None:
    with pytest.raises(UnsupportedError, match="export it with numbers"):
        exported(od.sym.sort(x, axis=0), x=("N", 2))
    assert exported(od.sym.sort(x, axis=0), x=(3, 2)).graph.node


def test_arguments_that_the_symbol_does_not_have_are_refused() -> None:
    with pytest.raises(ArgumentError, match="'y' is no argument"):
        exported(od.sym.relu(x), x=(2,), y=(2,))
    with pytest.raises(ArgumentError, match="does not follow"):
        od.onnx.export(od.sym.relu(x), {}, {})
    with pytest.raises(ArgumentError, match="expected a Symbol"):
        od.onnx.export([1], {}, {})
    with pytest.raises(ArgumentError, match="7 variable lengths"):
        exported(od.sym.relu(x), x=tuple("abcdefg"))


def test_an_output_that_is_an_input_gets_a_node() -> None:
    model = exported(od.sym.Group([x, od.sym.relu(x), od.sym.BlockGrad(x)]), x=(2,))
    found = ReferenceEvaluator(model).run(None, {"x": np.array([-1, 1], np.float32)})
    assert [list(each) for each in found] == [[-1, 1], [0, 1], [-1, 1]]


def test_shapes_of_arrays_without_inputs_follow_from_inputs() -> None:
    net = od.sym.elemwise_add(od.sym.zeros(shape=(0, 3)), x)
    (found,) = ReferenceEvaluator(exported(net, x=("N", 3))).run(None, {"x": np.ones((5, 3), np.float32)})
    assert found.shape == (5, 3)


def test_large_weights_stand_beside_the_model(tmp_path: Path) -> None:
    path, params = tmp_path / "net.onnx", LENET.params()
    od.onnx.export(LENET.symbol, params, LENET.shapes, path, external_above=1000)
    assert path.stat().st_size < 8000 < (tmp_path / "net.onnx.data").stat().st_size
    onnx.checker.check_model(str(path))
    found = od.onnx.load(path).params
    for name, array in params.items():
        np.testing.assert_array_equal(found[name].asnumpy(), array.asnumpy())


def test_files_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(b"old")

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="No space left"):
        od.onnx.export(od.sym.relu(x), {}, {"x": (2,)}, path)
    assert path.read_bytes() == b"old"


def test_arrays_of_parameters_are_computed_where_a_rule_needs_them() -> None:
    layer = od.gluon.rnn.GRU(4, 2, bidirectional=True, input_size=3)
    layer.initialize(od.init.Normal(0.5))
    data = od.nd.random.uniform(-1, 1, (5, 2, 3))
    expected = layer(data).asnumpy()
    params = {name: param.data() for name, param in layer.collect_params().items()}
    model = od.onnx.export(layer(od.sym.var("data")), params, {"data": data.shape})
    onnx.checker.check_model(model, full_check=True)
    np.testing.assert_allclose(
        ReferenceEvaluator(model).run(None, {"data": data.asnumpy()})[0], expected, atol=1e-5
    )
    read = {name for node in model.graph.node for name in node.input}
    assert {tensor.name for tensor in model.graph.initializer} <= read
    assert not params.keys() & read
