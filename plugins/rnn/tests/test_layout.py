from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import OperadError
from operad_rnn import GATES, PackedLayout


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_parts_cover_the_vector_without_a_gap(mode: str, bidirectional: bool) -> None:
    layout = PackedLayout(mode, 3, 2, 3, bidirectional)
    parts = list(layout.parts())
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == layout.size


def test_all_weights_stand_before_all_biases() -> None:
    names = [part.name for part in PackedLayout("lstm", 3, 2, 1, True, projection_size=1).parts()]
    assert names == [
        "l0_i2h_weight", "l0_h2h_weight", "l0_h2r_weight", "r0_i2h_weight", "r0_h2h_weight", "r0_h2r_weight",
        "l0_i2h_bias", "l0_h2h_bias", "r0_i2h_bias", "r0_h2h_bias",
    ]  # fmt: skip


def test_a_layer_takes_both_directions_of_the_one_below() -> None:
    layout = PackedLayout("gru", 3, 2, 2, True)
    assert layout.unpack(np.zeros(layout.size))["l1_i2h_weight"].shape == (6, 4)


def test_unpacked_arrays_are_views_of_the_vector() -> None:
    layout = PackedLayout("rnn_tanh", 1, 1, 1)
    vector = np.zeros(layout.size)
    layout.unpack(vector)["l0_h2h_bias"][...] = 5
    np.testing.assert_array_equal(vector, [0, 0, 0, 5])


def test_packing_undoes_unpacking() -> None:
    layout = PackedLayout("lstm", 3, 2, 2, True, projection_size=1)
    vector = np.arange(float(layout.size))
    np.testing.assert_array_equal(layout.pack(layout.unpack(vector)), vector)


def test_errors_name_the_array_and_its_shape() -> None:
    layout = PackedLayout("rnn_relu", 2, 1, 1)
    arrays = layout.unpack(np.zeros(layout.size))
    with pytest.raises(OperadError, match=r"\(6,\), expected \(5,\)"):
        layout.unpack(np.zeros(6))
    with pytest.raises(OperadError, match=r"'l0_h2h_bias' has shape \(2,\), expected \(1,\)"):
        layout.pack({**arrays, "l0_h2h_bias": np.zeros(2)})
    with pytest.raises(OperadError, match="no 'l1_h2h_bias'"):
        layout.pack({**arrays, "l1_h2h_bias": np.zeros(1)})
    del arrays["l0_i2h_weight"]
    with pytest.raises(OperadError, match=r"'l0_i2h_weight' of shape \(1, 2\) is missing"):
        layout.pack(arrays)


def test_the_length_of_the_vector_follows_from_the_data_and_the_features_from_it() -> None:
    prop = od.registry.get("RNN")(mode="gru", state_size=2, num_layers=2, bidirectional=True)
    size = prop.layout(5).size
    assert prop.infer_shape([(3, 4, 5), None, None])[0] == [(3, 4, 5), (size,), (4, 4, 2)]
    assert prop.infer_shape([(3, 4, None), (size,), None])[0][0] == (3, 4, 5)
