from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import operad as od
from operad.errors import DTypeError, ShapeError
from operad_activation import LeakyReLU
from operad_check.testing import check_forward, gradient_check

RNG = np.random.default_rng(3)
POINTS = np.array([[-40, -2.5, -1], [0.2, 1, 3.5]])


def reference(act_type: str, x: Any, slope: float) -> Any:
    if act_type == "leaky":
        return np.where(x > 0, x, slope * x)
    if act_type == "gelu":
        return x * ndtr(x)
    scale, alpha = (1.0507009873554805, 1.6732632423543772) if act_type == "selu" else (1, slope)
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@pytest.mark.walk
@pytest.mark.parametrize("act_type", ["leaky", "elu", "selu", "gelu"])
@pytest.mark.parametrize("slope", [0.0, 0.25, 1.5, -0.5])
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 2e-6), ("float16", 1e-3)])
def test_values_and_gradients(act_type: str, slope: float, dtype: str, rtol: float) -> None:
    data = POINTS.astype(dtype)
    expected = reference(act_type, data.astype("float64"), slope)
    params = {"act_type": act_type, "slope": slope}
    check_forward(LeakyReLU, [data], expected, rtol=rtol, **params)
    gradient_check(LeakyReLU, [POINTS], **params)


@pytest.mark.parametrize("slope", [0.25, -0.5])
def test_the_gradient_reads_the_input_only_where_the_output_would_not_do(slope: float) -> None:
    reads = LeakyReLU(act_type="leaky", slope=slope).backward_dependency([True])
    kinds = [entry.kind for entry in reads]
    assert kinds == ["out_grad", "out_data" if slope > 0 else "in_data"]


@pytest.mark.parametrize("gamma_shape", [(3,), (1,)])
@pytest.mark.parametrize("data_shape", [(2, 3), (2, 3, 4, 2)])
def test_prelu_learns_a_slope_a_channel_or_one(data_shape: tuple[int, ...], gamma_shape: tuple[int]) -> None:
    data = RNG.choice([-2.0, -1, 1, 2], data_shape) + RNG.uniform(0, 0.5, data_shape)
    gamma = RNG.uniform(0.1, 0.5, gamma_shape)
    slopes = gamma.reshape(-1, *[1] * (len(data_shape) - 2))
    check_forward(LeakyReLU, [data, gamma], np.where(data > 0, data, slopes * data), act_type="prelu")
    gradient_check(LeakyReLU, [data, gamma], act_type="prelu")
    halves = [data.astype("float16"), gamma.astype("float16")]
    assert check_forward(LeakyReLU, halves, act_type="prelu")[0].dtype == np.float16


@pytest.mark.parametrize(
    ("data_shape", "gamma_shape"),
    [
        ((3,), (3,)),
        ((3,), (1,)),
        ((2, 3), (2, 3)),
        ((2, 3, 4), (2, 1)),
        ((2, 3, 4), (1, 3)),
        ((2, 3), (1, 1)),
    ],
)
def test_prelu_takes_slopes_for_the_first_two_axes(
    data_shape: tuple[int, ...], gamma_shape: tuple[int, ...]
) -> None:
    data = RNG.choice([-2.0, -1, 1, 2], data_shape) + RNG.uniform(0, 0.5, data_shape)
    gamma = RNG.uniform(0.1, 0.5, gamma_shape)
    slopes = gamma[..., None] if data.ndim == 3 else gamma
    check_forward(LeakyReLU, [data, gamma], np.where(data > 0, data, slopes * data), act_type="prelu")
    gradient_check(LeakyReLU, [data, gamma], act_type="prelu")


@pytest.mark.parametrize("gamma_shape", [(4,), (2, 4), (1, 2, 3), ()])
def test_prelu_refuses_other_slopes(gamma_shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="gamma has shape"):
        LeakyReLU(act_type="prelu").infer_shape([(2, 3, 4), gamma_shape])


def test_rrelu_draws_slopes_in_training_and_keeps_them_for_the_gradient() -> None:
    data = RNG.uniform(-2, 2, (50, 40))
    params = {"act_type": "rrelu", "lower_bound": 0.2, "upper_bound": 0.4}
    output, mask = check_forward(LeakyReLU, [data], **params)
    np.testing.assert_array_equal(output, data * mask)
    below = mask[data <= 0]
    assert (mask[data > 0] == 1).all()
    assert 0.2 <= below.min() < 0.21
    assert 0.39 < below.max() <= 0.4
    gradient_check(LeakyReLU, [data[:3, :3]], **params)


def test_rrelu_uses_the_mean_slope_in_prediction() -> None:
    data = np.array([-2.0, 3], np.float32)
    params = {"act_type": "rrelu", "lower_bound": 0.2, "upper_bound": 0.4}
    output, mask = check_forward(LeakyReLU, [data], is_train=False, **params)
    np.testing.assert_allclose(output, [-0.6, 3], rtol=1e-6)
    assert (output.dtype, mask.dtype) == (np.float32, np.float32)


def test_rrelu_has_its_slopes_as_second_output() -> None:
    symbol = od.sym.LeakyReLU(od.sym.var("x"), act_type="rrelu", name="r")
    assert symbol.list_outputs() == ["r_output", "r_mask"]


@pytest.mark.parametrize("given", [[], [od.sym.var("r_gamma")]])
def test_a_variable_for_gamma_begins_at_a_quarter(given: list[Any]) -> None:
    symbol = od.sym.LeakyReLU(od.sym.var("x"), *given, act_type="prelu", name="r")
    assert symbol.attr_dict()["r_gamma"]["__init__"] == '["Constant", {"value": 0.25}]'


def test_a_variable_for_gamma_keeps_an_initializer_of_its_own() -> None:
    symbol = od.sym.LeakyReLU(od.sym.var("x"), od.sym.var("g", init="one"), act_type="prelu")
    assert symbol.attr_dict()["g"]["__init__"] == "one"


def test_the_shape_of_gamma_follows_from_the_data() -> None:
    op = LeakyReLU(act_type="prelu")
    assert op.infer_shape([(2, 3, 4), None])[0] == [(2, 3, 4), (3,)]
    with pytest.raises(ShapeError, match=r"gamma has shape \(2,\), expected \(3,\)"):
        op.infer_shape([(2, 3, 4), (2,)])
    assert op.infer_shape([(5,), None])[0] == [(5,), None]


def test_whole_numbers_are_refused() -> None:
    with pytest.raises(DTypeError, match="cast with astype"):
        LeakyReLU().infer_type([np.dtype("int32")])


@pytest.mark.parametrize("act_type", ["leaky", "elu", "selu", "gelu", "prelu", "rrelu"])
def test_runs_imperatively_and_symbolically(act_type: str) -> None:
    arrays = {"data": od.nd.array(POINTS)}
    if act_type == "prelu":
        arrays["gamma"] = od.nd.array([0.1, 0.2, 0.3])
    made = od.nd.LeakyReLU(*arrays.values(), act_type=act_type)
    eager = made[0] if act_type == "rrelu" else made
    symbol = od.sym.LeakyReLU(*map(od.sym.var, arrays), act_type=act_type)
    bound = symbol.bind(od.cpu(), arrays)
    np.testing.assert_array_equal(bound.forward()[0].asnumpy(), eager.asnumpy())


@pytest.mark.parametrize("act_type", ["leaky", "elu", "selu", "gelu"])
def test_a_single_number_is_an_array(act_type: str) -> None:
    data = np.array(-0.5)
    check_forward(LeakyReLU, [data], reference(act_type, data, 0.25), act_type=act_type)
    for slope in (0.25, -0.25):
        gradient_check(LeakyReLU, [data], act_type=act_type, slope=slope)


@pytest.mark.parametrize("act_type", ["elu", "selu"])
def test_the_slope_is_an_exponential_where_the_value_is_rounded_to_its_bound(act_type: str) -> None:
    x = od.nd.array([-16.5, -30.0, -80.0])
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.LeakyReLU(x, act_type=act_type, slope=0.5)
    y.backward()
    factor = 0.5 if act_type == "elu" else 1.0507009873554805 * 1.6732632423543772
    np.testing.assert_allclose(x.grad.asnumpy(), factor * np.exp([-16.5, -30.0, -80.0]), rtol=1e-6)


def test_gelu_keeps_its_digits_in_the_tail() -> None:
    for size in (3, 3000):
        x = np.resize(np.float32([-4.0, -6.0, -9.0]), size)
        found = od.nd.LeakyReLU(od.nd.array(x), act_type="gelu").asnumpy()
        exact = [-4 * 3.167124183311986e-05, -6 * 9.86587645037698e-10, -9 * 1.1285884059538324e-19]
        np.testing.assert_allclose(found[:3], exact, rtol=1e-5)
