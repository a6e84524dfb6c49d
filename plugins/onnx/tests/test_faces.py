"""MXNet's functions: `mx.contrib.onnx` and `mx.onnx`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from operad.contrib import onnx as onnx_mxnet

import operad as mx
from operad.errors import ArgumentError
from plugins.onnx.tests.networks import NETWORKS

LENET = NETWORKS["lenet"]


def test_a_checkpoint_becomes_a_model_and_comes_back(tmp_path: Path) -> None:
    symbol, params, path = tmp_path / "net-symbol.json", tmp_path / "net-0000.params", tmp_path / "net.onnx"
    LENET.symbol.save(str(symbol))
    mx.nd.save(str(params), {f"arg:{name}": array for name, array in LENET.params().items()})
    made = onnx_mxnet.export_model(str(symbol), str(params), [(2, 1, 8, 8)], np.float32, str(path))
    assert made == str(path)
    _, arguments, states = onnx_mxnet.import_model(made)
    assert arguments.keys() == LENET.params().keys()
    assert not states
    assert onnx_mxnet.get_model_metadata(made) == {
        "input_tensor_data": [("data", (2, 1, 8, 8))],
        "output_tensor_data": [("softmax_output", (2, 10))],
    }


def test_lengths_may_differ_from_run_to_run(tmp_path: Path) -> None:
    made = mx.onnx.export_model(
        LENET.symbol,
        [LENET.params(), {}],
        [(2, 1, 8, 8)],
        onnx_file_path=tmp_path / "net.onnx",
        dynamic=True,
        dynamic_input_shapes=[("N", 1, 8, 8)],
    )
    assert mx.onnx.get_model_metadata(made)["input_tensor_data"] == [("data", ("N", 1, 8, 8))]


def test_shapes_are_needed(tmp_path: Path) -> None:
    for shapes in (None, [(1,)] * 9):
        with pytest.raises(ArgumentError, match="expected shapes of data"):
            mx.onnx.export_model(LENET.symbol, LENET.params(), shapes, onnx_file_path=tmp_path / "x")
    with pytest.raises(ArgumentError, match="without names"):
        mx.onnx.export_model(LENET.symbol, [1], [(1,)])


def test_a_model_becomes_a_block_of_gluon_with_its_weights_and_states(tmp_path: Path) -> None:
    pytest.importorskip("operad_gluon", reason="it has the blocks")
    network = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    network = mx.sym.BatchNorm(network, name="bn", fix_gamma=False)
    shapes, _, states = network.infer_shape(data=(2, 4))
    draw = np.random.default_rng(0)
    arguments = {
        name: mx.nd.array(draw.random(shape))
        for name, shape in zip(network.list_arguments(), shapes, strict=True)
    }
    x = arguments["data"]
    state = {
        name: mx.nd.array(draw.random(shape))
        for name, shape in zip(network.list_auxiliary_states(), states, strict=True)
    }
    weights = {name: array for name, array in arguments.items() if name != "data"}
    path = tmp_path / "net.onnx"
    mx.onnx.export(network, {**weights, **state}, {"data": (2, 4)}, path)
    block = onnx_mxnet.import_to_gluon(path, ctx=mx.cpu())
    [expected] = network.bind(mx.cpu(), arguments, aux_states=state).forward()
    for _ in range(2):
        np.testing.assert_allclose(block(x).asnumpy(), expected.asnumpy(), rtol=1e-6)
        block.hybridize()
