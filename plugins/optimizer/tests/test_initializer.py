from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError, ParamError, ShapeError


def filled(initializer: Any, shape: tuple[int, ...], name: str = "fc_weight", dtype: str = "float32") -> Any:
    array = od.nd.array(np.full(shape, 7), dtype=dtype)
    initializer(od.init.InitDesc(name), array)
    return array.asnumpy()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_uniform_and_normal_have_the_spread_asked_for(dtype: str) -> None:
    uniform = filled(od.init.Uniform(0.5), (100, 100), dtype=dtype).astype("float64")
    normal = filled(od.init.Normal(0.2), (100, 100), dtype=dtype).astype("float64")
    assert np.abs(uniform).max() <= 0.5
    np.testing.assert_allclose([uniform.std(), normal.std()], [1 / math.sqrt(12), 0.2], rtol=0.05)
    np.testing.assert_allclose([uniform.mean(), normal.mean()], [0, 0], atol=0.02)


def test_seeded_numbers_repeat() -> None:
    od.random.seed(5)
    first = filled(od.init.Xavier(), (4, 3))
    assert not np.array_equal(first, filled(od.init.Xavier(), (4, 3)))
    od.random.seed(5)
    np.testing.assert_array_equal(filled(od.init.Xavier(), (4, 3)), first)


@pytest.mark.parametrize(("factor_type", "count"), [("in", 50 * 4), ("out", 100 * 4), ("avg", 75 * 4)])
def test_xavier_scales_by_the_inputs_and_outputs(factor_type: str, count: int) -> None:
    uniform = filled(od.init.Xavier("uniform", factor_type, 3), (100, 50, 2, 2))
    gaussian = filled(od.init.Xavier("gaussian", factor_type, 2), (100, 50, 2, 2))
    np.testing.assert_allclose(np.abs(uniform).max(), math.sqrt(3 / count), rtol=0.01)
    np.testing.assert_allclose(gaussian.std(), math.sqrt(2 / count), rtol=0.03)


def test_msra_is_gaussian_for_a_rectifier_of_some_slope() -> None:
    values = filled(od.init.MSRAPrelu("in", slope=1.0), (200, 100))
    np.testing.assert_allclose(values.std(), math.sqrt(1 / 100), rtol=0.03)


@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (4, 2, 2)])
@pytest.mark.parametrize("rand_type", ["uniform", "normal"])
def test_orthogonal_rows_or_columns_are_at_right_angles(shape: tuple[int, ...], rand_type: str) -> None:
    matrix = filled(od.init.Orthogonal(2.0, rand_type), shape, dtype="float64").reshape(shape[0], -1)
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(small @ small.T, 4 * np.eye(len(small)), atol=1e-12)


def test_bilinear_interpolates() -> None:
    kernel = filled(od.init.Bilinear(), (1, 1, 4, 4))[0, 0]
    np.testing.assert_allclose(kernel[0], np.array([0.25, 0.75, 0.75, 0.25]) * 0.25)
    np.testing.assert_allclose(kernel.sum(), 4)


def test_lstm_bias_opens_the_forget_gate() -> None:
    bias = od.nd.array(np.zeros(8))
    od.init.LSTMBias(2.0)._init_weight("lstm_i2h_bias", bias)
    assert bias.asnumpy().tolist() == [0, 0, 2, 2, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fc_weight", 3),
        ("fc_bias", 0),
        ("bn_gamma", 1),
        ("bn_beta", 0),
        ("bn_moving_mean", 0),
        ("bn_moving_var", 1),
    ],
)
def test_the_ending_of_a_name_decides(name: str, value: float) -> None:
    assert filled(od.init.Constant(3), (2,), name).tolist() == [value, value]


def test_a_name_that_says_nothing_is_refused() -> None:
    with pytest.raises(ParamError, match="cannot tell how to initialize 'x'"):
        filled(od.init.Zero(), (2,), "x")


def test_a_variable_may_bring_its_own_initializer() -> None:
    array = od.nd.array([0, 0])
    described = od.init.InitDesc("fc_bias", {"__init__": od.init.Constant(2.5).dumps()})
    od.init.Xavier()(described, array)
    assert array.asnumpy().tolist() == [2.5, 2.5]


@pytest.mark.parametrize(
    "initializer",
    [od.init.Xavier("gaussian", "in", 2), od.init.Zero(), od.init.Constant(3), od.init.LSTMBias(2.0)],
)
def test_dumps_describes_an_equal_initializer(initializer: Any) -> None:
    assert od.init.create(initializer.dumps()) == initializer


def test_mixed_takes_the_first_pattern_that_matches() -> None:
    mixed = od.init.Mixed([".*embed.*", ".*"], [od.init.One(), od.init.Zero()])
    assert filled(mixed, (1,), "embed_weight").tolist() == [1]
    assert filled(mixed, (1,), "fc_weight").tolist() == [0]
    with pytest.raises(ParamError, match="no pattern matches"):
        od.init.Mixed(["a"], [od.init.One()])("b_weight", od.nd.array([0]))


def test_names_and_choices_are_checked() -> None:
    with pytest.raises(ParamError, match="did you mean 'xavier'"):
        od.init.create("xavie")
    with pytest.raises(ParamError, match="rnd_type"):
        od.init.Xavier(rnd_type="even")
    with pytest.raises(ShapeError, match="at least 2 axes"):
        filled(od.init.Xavier(), (2,))


class OfMXNet(od.init.Initializer):
    """Written as a program of MXNet writes one."""

    def __init__(self, value: float = 7) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: Any) -> None:
        arr[:] = self.value

    def _init_bias(self, name: str, arr: Any) -> None:
        arr[:] = -self.value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a_weight", 3),
        ("a_bias", -3),
        ("a_gamma", 1),
        ("a_beta", 0),
        ("a_moving_mean", 0),
        ("a_moving_var", 1),
        ("a_min", 0),
        ("a_max", 1),
    ],
)
def test_the_ending_of_a_name_chooses_the_method(name: str, value: float) -> None:
    np.testing.assert_array_equal(filled(OfMXNet(3), (2,), name), [value, value])


def test_other_names_make_the_same_initializer() -> None:
    od.init.alias("sevens", "seven")(OfMXNet)
    assert od.init.create("Seven") == od.init.create("sevens") == OfMXNet()
    assert od.init.create("zeros") == od.init.Zero()
    assert od.init.create("ones") == od.init.One()


def test_what_a_variable_says_wins_and_sees_the_global_initializer() -> None:
    od.init.register(OfMXNet)
    desc = od.init.InitDesc("a_bias", attrs={"__init__": OfMXNet(4).dumps()})
    array, everywhere = od.nd.zeros((2,)), od.init.Zero()
    everywhere(desc, array)
    assert (array.asnumpy().tolist(), desc.global_init) == ([4, 4], everywhere)


def test_saved_arrays_are_loaded_and_others_initialized(tmp_path: Path) -> None:
    file = str(tmp_path / "a.params")
    od.nd.save(file, {"arg:a_weight": od.nd.array([1, 2]), "aux:b": od.nd.array([3, 4])})
    load = od.init.Load(file, default_init=od.init.One())
    assert [filled(load, (2,), name).tolist() for name in ("a_weight", "b", "c_weight")] == [
        [1, 2],
        [3, 4],
        [1, 1],
    ]
    with pytest.raises(ShapeError, match="'b' was saved with shape \\(2,\\), expected \\(3,\\)"):
        filled(load, (3,), "b")
    with pytest.raises(ParamError, match="no array 'c_weight' was saved"):
        filled(od.init.Load({}), (2,), "c_weight")


def test_arrays_saved_without_names_are_refused(tmp_path: Path) -> None:
    file = str(tmp_path / "a.params")
    od.nd.save(file, [od.nd.array([1, 2])])
    with pytest.raises(ParamError, match="without names"):
        od.init.Load(file)


def test_a_verbose_initializer_logs_the_size_of_what_it_fills(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "operad.initializer"):
        filled(OfMXNet(3).set_verbosity(True), (4,))
        filled(OfMXNet(2).set_verbosity(True, lambda arr: f"of {arr.shape}"), (4,))
    assert caplog.messages == ["initialized fc_weight: 3.0", "initialized fc_weight: of (4,)"]


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "[]",
        '["uniform"]',
        '["uniform", 3]',
        '["uniform", {"size": 1}]',
        "[1, {}]",
        '["none", {}]',
        "[" * 10**5,
    ],
)
def test_an_initializer_that_a_file_describes_wrongly_is_refused(text: str) -> None:
    with pytest.raises(od.OperadError):
        od.initializer.create(text)


@pytest.mark.parametrize("arguments", ['{"magnitude": -12}', '{"magnitude": "a"}', '{"magnitude": null}'])
def test_an_initializer_of_a_file_that_fits_no_array_is_refused_by_the_variable(arguments: str) -> None:
    described = od.initializer.InitDesc("fc_weight", {"__init__": f'["xavier", {arguments}]'})
    with pytest.raises(FormatError, match=r"xavier.*expected"):
        od.initializer.Zero()(described, od.nd.zeros((2, 3)))
