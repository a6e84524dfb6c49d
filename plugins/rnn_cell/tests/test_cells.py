from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, GraphError, ParamError, ShapeError

MODES = ["rnn_relu", "rnn_tanh", "lstm", "gru"]


def network(cell: Any, length: int = 3, **arguments: Any) -> Any:
    return cell.unroll(length, od.sym.var("data"), merge_outputs=True, **arguments)[0]


def computed(symbol: Any, arrays: dict[str, Any], is_train: bool = False) -> Any:
    executor = symbol.simple_bind(od.cpu(), **{name: array.shape for name, array in arrays.items()})
    for name, array in arrays.items():
        executor.arg_dict[name][:] = array
    return executor.forward(is_train=is_train)[0].asnumpy()


def random_arrays(symbol: Any, random: Any, **shapes: tuple[int, ...]) -> dict[str, Any]:
    """An array for each argument, drawn in the order of names."""
    found = dict(zip(symbol.list_arguments(), symbol.infer_shape(**shapes)[0], strict=True))
    return {name: od.nd.array(random.uniform(-1, 1, found[name])) for name in sorted(found)}


def test_values_are_those_of_mxnet() -> None:
    """As MXNet 1.9.1 said once."""
    random = np.random.RandomState(5)
    expected = {
        od.rnn.RNNCell: """-0.307882 -0.571455 -0.331854 -0.378103 -0.0503984 -0.390793
            0.225297 -0.647437 0.672459 0.182439 0.175959 -0.528013""",
        od.rnn.LSTMCell: """0.0128013 -0.245093 0.0240121 -0.0194751 0.143918 -0.237876
            -0.0109266 -0.199605 0.092361 -0.15368 0.0422468 -0.13021""",
        od.rnn.GRUCell: """0.171575 0.188603 0.552577 0.324385 0.524859 0.362125
            0.0910654 0.0387396 0.445138 0.265842 0.548178 0.316297""",
        lambda size: od.rnn.FusedRNNCell(
            size, 2, "lstm", bidirectional=True
        ): """0.0839981 0.0467257 -0.117823
            -0.328254 0.153432 0.0731133 -0.124451 -0.247418 0.146624 0.0889111 -0.117001 -0.144013 0.0936684
            0.0473133 -0.122647 -0.315166 0.166529 0.0678283 -0.130011 -0.249858 0.174296 0.0839256 -0.120448
            -0.134232""",
    }
    for make, values in expected.items():
        symbol = network(make(2))
        found = computed(symbol, random_arrays(symbol, random, data=(2, 3, 2)))
        np.testing.assert_allclose(found.ravel(), np.array(values.split(), float), rtol=2e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_fused_and_unfused_cells_compute_the_same(mode: str, bidirectional: bool, layout: str) -> None:
    fused = od.rnn.FusedRNNCell(2, num_layers=2, mode=mode, bidirectional=bidirectional, prefix="f_")
    shape = (4, 3, 5) if layout == "NTC" else (3, 4, 5)
    symbol = network(fused, layout=layout)
    arrays = random_arrays(symbol, np.random.RandomState(3), data=shape)
    unfused = fused.unfuse()
    single = unfused.pack_weights(fused.unpack_weights(arrays))
    assert set(single) == set(network(unfused, layout=layout).list_arguments())
    np.testing.assert_allclose(
        computed(network(unfused, layout=layout), single), computed(symbol, arrays), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("mode", MODES)
def test_packing_is_the_inverse_of_unpacking(mode: str) -> None:
    fused = od.rnn.FusedRNNCell(2, num_layers=2, mode=mode, bidirectional=True, prefix="f_")
    arrays = random_arrays(network(fused), np.random.RandomState(3), data=(4, 3, 5))
    unpacked = fused.unpack_weights(arrays)
    for cell in (fused, fused.unfuse()):
        again = cell.unpack_weights(cell.pack_weights(unpacked))
        assert set(again) == set(unpacked)
        for name, array in unpacked.items():
            np.testing.assert_array_equal(again[name].asnumpy(), array.asnumpy())
    np.testing.assert_array_equal(
        fused.pack_weights(unpacked)["f_parameters"].asnumpy(), arrays["f_parameters"].asnumpy()
    )


def test_names_are_those_of_mxnet() -> None:
    outputs, states = od.rnn.LSTMCell(2).unroll(2, od.sym.var("data"))
    group = od.sym.Group(outputs)
    kinds = ["i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias"]
    assert group.list_arguments() == ["data", *(f"lstm_{kind}" for kind in kinds)]
    assert group.list_outputs() == ["lstm_t0_out_output", "lstm_t1_out_output"]
    assert [state.list_outputs()[0] for state in states] == ["lstm_t1_out_output", "lstm_t1_state_output"]
    fused = od.rnn.FusedRNNCell(2, mode="lstm", prefix="f_", get_next_state=True)
    _, states = fused.unroll(2, od.sym.var("data"))
    assert [state.list_outputs()[0] for state in states] == ["f_rnn_state_output", "f_rnn_statecell_output"]
    both = od.rnn.BidirectionalCell(od.rnn.GRUCell(2, prefix="l_"), od.rnn.GRUCell(2, prefix="r_"))
    outputs, _ = both.unroll(2, od.sym.var("data"))
    assert [output.list_outputs()[0] for output in outputs] == ["bi_t0_output", "bi_t1_output"]
    assert network(both).list_outputs() == ["bi_out_output"]


def test_steps_may_be_given_one_by_one_and_share_weights() -> None:
    cell = od.rnn.GRUCell(2)
    steps = [od.sym.var(f"x{number}") for number in range(2)]
    symbol = cell.unroll(2, steps, merge_outputs=True)[0]
    arrays = random_arrays(network(cell, 2), np.random.RandomState(3), data=(4, 2, 5))
    apart = {name: array for name, array in arrays.items() if name != "data"}
    apart |= {f"x{number}": arrays["data"][:, number] for number in range(2)}
    np.testing.assert_array_equal(computed(symbol, apart), computed(network(cell, 2), arrays))
    other = od.rnn.GRUCell(2, prefix="other_", params=cell.params)
    assert network(other).list_arguments() == network(cell).list_arguments()


def test_states_may_be_arguments() -> None:
    cell = od.rnn.LSTMCell(2)
    states = cell.begin_state(func=od.sym.var)
    symbol = network(cell, begin_state=states)
    names = ["lstm_begin_state_0", "lstm_begin_state_1"]
    assert [state.name for state in states] == names
    arrays = random_arrays(symbol, np.random.RandomState(3), data=(4, 3, 5))
    assert [arrays[name].shape for name in names] == [(4, 2), (4, 2)]


def test_a_residual_cell_adds_its_inputs() -> None:
    plain, residual = od.rnn.RNNCell(5), od.rnn.ResidualCell(od.rnn.RNNCell(5))
    arrays = random_arrays(network(plain), np.random.RandomState(3), data=(4, 3, 5))
    expected = computed(network(plain), arrays) + arrays["data"].asnumpy()
    np.testing.assert_allclose(computed(network(residual), arrays), expected, rtol=1e-6)


def test_zoneout_keeps_outputs_of_the_step_before_in_training_alone() -> None:
    plain = od.rnn.RNNCell(50)
    zoned = od.rnn.ZoneoutCell(od.rnn.RNNCell(50), zoneout_outputs=0.5)
    arrays = random_arrays(network(plain), np.random.RandomState(3), data=(40, 3, 5))
    expected = computed(network(plain), arrays)
    np.testing.assert_array_equal(computed(network(zoned), arrays), expected)
    trained = computed(network(zoned), arrays, is_train=True)
    first = trained[:, 0]
    assert set(np.unique(first == expected[:, 0])) == {True, False}
    assert ((first == expected[:, 0]) | (first == 0)).all()
    assert ((trained[:, 1] == expected[:, 1]) | (trained[:, 1] == first)).all()


def test_dropout_between_layers_is_one_operator_for_all_steps() -> None:
    assert network(od.rnn.DropoutCell(0.5)).get_internals().list_outputs()[0] == "data"
    data = od.nd.ones((4, 3, 50))
    dropped = computed(network(od.rnn.DropoutCell(0.5)), {"data": data}, is_train=True)
    assert set(np.unique(dropped)) == {0, 2}
    assert network(od.rnn.DropoutCell(0.0)).list_outputs() == ["data"]


def test_a_fused_vector_is_initialized_part_by_part() -> None:
    fused = od.rnn.FusedRNNCell(2, mode="lstm", prefix="f_", forget_bias=3.0)
    symbol = network(fused)
    desc = od.init.InitDesc("f_parameters", attrs=symbol.attr_dict()["f_parameters"])
    vector = od.nd.zeros((8 * 5 + 8 * 2 + 16,))
    od.init.Uniform(0.5)(desc, vector)
    parts = {name: part.asnumpy() for name, part in fused.unpack_weights({"f_parameters": vector}).items()}
    for name, part in parts.items():
        if name.endswith("bias"):
            np.testing.assert_array_equal(part, 3.0 if name.endswith("_f_bias") else 0.0, err_msg=name)
        else:
            assert 0 < np.abs(part).max() <= 0.5, name
    with pytest.raises(ParamError, match="nothing says how to fill"):
        od.init.FusedRNN(None, 2, 1, "lstm")("weight", vector)


def test_what_a_fused_cell_saved_an_unfused_one_loads(tmp_path: Path) -> None:
    fused = od.rnn.FusedRNNCell(2, num_layers=2, mode="gru", prefix="f_")
    symbol, prefix = network(fused), str(tmp_path / "model")
    arrays = random_arrays(symbol, np.random.RandomState(3), data=(4, 3, 5))
    data = arrays.pop("data")
    save = od.rnn.do_rnn_checkpoint(fused, prefix, period=2)
    save(0, symbol, arrays, {})
    assert not list(tmp_path.iterdir())
    save(1, symbol, arrays, {"mean": od.nd.ones((2,))})
    loaded, same, aux = od.rnn.load_rnn_checkpoint(fused, prefix, 2)
    assert (loaded.tojson(), list(same), list(aux)) == (symbol.tojson(), ["f_parameters"], ["mean"])
    np.testing.assert_array_equal(same["f_parameters"].asnumpy(), arrays["f_parameters"].asnumpy())
    _, single, _ = od.rnn.load_rnn_checkpoint(fused.unfuse(), prefix, 2)
    found = computed(network(fused.unfuse()), {**single, "data": data})
    np.testing.assert_allclose(found, computed(symbol, {**same, "data": data}), rtol=1e-4, atol=1e-6)


def test_words_get_numbers_around_that_of_no_word() -> None:
    encode = od.rnn.encode_sentences
    assert encode([["a", "b"], ["b", "c"]], invalid_label=1)[0] == [[0, 2], [2, 3]]
    assert encode([["a", "x"]], vocab={"a": 1, "u": 5}, unknown_token="u")[0] == [[1, 5]]
    with pytest.raises(ParamError, match="no number for 'x'"):
        encode([["a", "x"]], vocab={"a": 1})


def test_what_cannot_be_unrolled_is_refused() -> None:
    cell = od.rnn.LSTMCell(2)
    with pytest.raises(ArgumentError, match="got 1 inputs for 3 steps"):
        cell.unroll(3, [od.sym.var("x")])
    with pytest.raises(ArgumentError, match="expected 'NTC' or 'TNC'"):
        cell.unroll(3, od.sym.var("x"), layout="NC")
    with pytest.raises(ArgumentError, match=r"unfuse\(\)"):
        od.rnn.ZoneoutCell(od.rnn.FusedRNNCell(2))
    with pytest.raises(ArgumentError, match="mode is 'lsmt'"):
        od.rnn.FusedRNNCell(2, mode="lsmt")
    with pytest.raises(ShapeError, match="41 elements"):
        od.rnn.FusedRNNCell(2, mode="gru").unpack_weights({"gru_parameters": od.nd.ones((41,))})
    od.rnn.ResidualCell(cell)
    with pytest.raises(GraphError, match="inside a cell that modifies it"):
        cell.begin_state()
    for made in (od.rnn.FusedRNNCell(2), od.rnn.BidirectionalCell(od.rnn.RNNCell(2), od.rnn.RNNCell(2))):
        with pytest.raises(NotImplementedError, match="use unroll"):
            made(od.sym.var("x"), [])
