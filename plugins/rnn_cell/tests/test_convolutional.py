"""Cells of convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError

CELLS = [od.rnn.ConvRNNCell, od.rnn.ConvLSTMCell, od.rnn.ConvGRUCell]
WIDE = {"i2h_stride": (2, 2), "h2h_dilate": (2, 2), "activation": "tanh"}
RECORDED = {
    ("ConvRNNCell", 3):
        "-0.0603638 -0.115384 -0.469554 -0.666387 -0.2256 0.188796 -0.387671 -0.163656 -0.467446 "
        "-0.215134 -0.562874 -0.265568 -0.336485 -0.1928 -0.127045 -0.39247 -0.539476 -0.582311",
    ("ConvLSTMCell", 3):
        "-0.00906341 0.0146722 -0.00626969 -0.0172162 1.31604 -0.00798133 -0.0197453 0.43354 -0.0101105 "
        "0.153528 -0.0434987 0.0581758 0.0309461 0.232518 0.412861 -0.0160538 0.231792 -0.0157988",
    ("ConvGRUCell", 3):
        "0.137649 -0.377502 0.697516 -0.255001 0.405906 0.0618022 0.0671632 1.24108 0.399418 -0.00136382 "
        "-0.226278 0.493274 0.132537 0.340087 0.309351 -0.0208052 0.582034 0.500814",
    ("ConvRNNCell", 5):
        "-0.175044 -0.865278 -0.89315 -0.971184 -0.890461 -0.790301 -0.849598 -0.481024 -0.943818 "
        "-0.87407 0.403734 -0.937723 -0.832525 -0.973605 -0.663044 -0.986382 0.669248 -0.966299",
}  # fmt: skip
NORMS = {
    ("ConvRNNCell", 3): {"data": 2.06018, "i2h_weight": 5.13886, "i2h_bias": 4.51877, "h2h_weight": 0.863351},
    ("ConvLSTMCell", 3): {
        "data": 1.92689,
        "i2h_weight": 2.88923,
        "i2h_bias": 2.18081,
        "h2h_weight": 0.838598,
    },
    ("ConvGRUCell", 3): {"data": 3.29565, "i2h_weight": 5.11673, "i2h_bias": 6.91855, "h2h_weight": 0.691133},
    ("ConvRNNCell", 5): {"data": 3.17304, "i2h_weight": 3.18154, "i2h_bias": 5.95537, "h2h_weight": 2.35185},
}


def bound(cell: Any, size: int) -> Any:
    """Two steps over random pictures of two channels."""
    symbol = cell.unroll(2, od.sym.var("data"), merge_outputs=True)[0]
    shapes = symbol.infer_shape(data=(1, 2, 2, size, size))[0]
    found = dict(zip(symbol.list_arguments(), shapes, strict=True))
    random = np.random.RandomState(5)
    executor = symbol.simple_bind(od.cpu(), data=(1, 2, 2, size, size))
    for name in sorted(found):
        executor.arg_dict[name][:] = random.uniform(-1, 1, found[name])
    return executor


@pytest.mark.parametrize(("name", "size"), list(RECORDED))
def test_values_and_gradients_are_those_of_mxnet(name: str, size: int) -> None:
    """As MXNet 1.9.1 said once."""
    wide = WIDE if size == 5 else {}
    executor = bound(getattr(od.rnn, name)(input_shape=(1, 2, size, size), num_hidden=1, **wide), size)
    (output,) = executor.forward(is_train=True)
    expected = np.array(RECORDED[name, size].split(), float)
    np.testing.assert_allclose(output.asnumpy().ravel(), expected, rtol=2e-5)
    executor.backward(od.nd.ones(output.shape))
    for end, norm in NORMS[name, size].items():
        (grad,) = (array for full, array in executor.grad_dict.items() if full.endswith(end))
        assert np.linalg.norm(grad.asnumpy()) == pytest.approx(norm, rel=2e-5), end


@pytest.mark.parametrize("make", CELLS)
def test_a_cell_of_single_points_is_one_of_matrices(make: Any) -> None:
    activation = {"activation": "tanh", "h2h_kernel": (1, 1), "i2h_kernel": (1, 1), "i2h_pad": (0, 0)}
    cell = make((1, 3, 1, 1), 2, prefix="c_", **activation)
    plain = getattr(od.rnn, make.__name__.removeprefix("Conv"))(2, prefix="c_")
    random = np.random.RandomState(1)
    symbol, other = (each.unroll(3, od.sym.var("data"), merge_outputs=True)[0] for each in (cell, plain))
    names = symbol.list_arguments()
    assert sorted(names) == sorted(other.list_arguments())
    shapes = dict(zip(names, symbol.infer_shape(data=(4, 3, 3, 1, 1))[0], strict=True))
    arrays = {name: od.nd.array(random.uniform(-1, 1, shapes[name])) for name in names}
    flat = {
        n: a if a.ndim == 1 else a.reshape((-1, 3, 3) if n == "data" else (0, -1)) for n, a in arrays.items()
    }
    flat["data"] = arrays["data"].reshape((4, 3, 3))
    (found,), (expected,) = symbol.eval(**arrays), other.eval(**flat)
    np.testing.assert_allclose(
        found.asnumpy().reshape(expected.shape), expected.asnumpy(), rtol=1e-5, atol=1e-6
    )


def test_names_and_states_are_those_of_mxnet() -> None:
    cell = od.rnn.ConvLSTMCell(input_shape=(1, 3, 6, 5), num_hidden=2)
    outputs, states = cell.unroll(2, [od.sym.var("x0"), od.sym.var("x1")])
    group = od.sym.Group([*outputs, *states])
    ends = ["t0_out", "t1_out", "t1_out", "t1_state"]
    assert group.list_outputs() == [f"ConvLSTM_{end}_output" for end in ends]
    assert cell.state_info == [{"shape": (0, 2, 6, 5), "__layout__": "NCHW"}] * 2
    assert group.attr_dict()["ConvLSTM_i2h_bias"]["__init__"] == "zeros"
    strided = od.rnn.ConvRNNCell(input_shape=(1, 3, 6, 5), num_hidden=2, i2h_stride=(2, 2))
    assert strided.state_shape == [(0, 2, 3, 3)]
    line = dict.fromkeys(("h2h_dilate", "i2h_stride", "i2h_dilate", "i2h_pad"), (1,))
    cell = od.rnn.ConvGRUCell((1, 3, 6), 2, h2h_kernel=(5,), i2h_kernel=(3,), conv_layout="NCW", **line)
    assert cell.state_shape == [(0, 2, 6)]


@pytest.mark.parametrize("make", CELLS)
def test_packing_is_the_inverse_of_unpacking(make: Any) -> None:
    cell = make(input_shape=(1, 2, 3, 3), num_hidden=2)
    arrays = dict(bound(cell, 3).arg_dict)
    unpacked = cell.unpack_weights(arrays)
    assert len(unpacked) == 1 + 4 * len(cell._gate_names)
    for name, array in cell.pack_weights(unpacked).items():
        np.testing.assert_array_equal(array.asnumpy(), arrays[name].asnumpy(), err_msg=name)


def test_kernels_that_change_the_state_are_refused() -> None:
    with pytest.raises(ParamError, match=r"h2h_kernel is \(2, 2\), expected odd"):
        od.rnn.ConvRNNCell((1, 2, 3, 3), 1, h2h_kernel=(2, 2))
    with pytest.raises(ParamError, match="expected 4 axes with the batch, and 2 lengths"):
        od.rnn.ConvRNNCell((2, 3, 3), 1)
    with pytest.raises(ParamError, match="expected 5 axes with the batch, and 3 lengths"):
        od.rnn.ConvRNNCell((1, 2, 3, 3, 3), 1, conv_layout="NCDHW")


def test_the_older_name_of_unroll_warns_and_makes_inputs() -> None:
    with pytest.warns(DeprecationWarning, match="call cell.unroll"):
        outputs, _ = od.rnn.rnn_unroll(od.rnn.RNNCell(2), 2, input_prefix="p_")
    assert od.sym.Group(outputs).list_arguments()[0] == "p_t0_data"
    assert "p_t1_data" in od.sym.Group(outputs).list_arguments()


def test_checkpoints_of_models_are_found_beside_those_of_cells() -> None:
    assert od.rnn.save_checkpoint is od.model.save_checkpoint
    assert od.rnn.load_checkpoint is od.model.load_checkpoint
