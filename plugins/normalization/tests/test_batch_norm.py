from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_normalization.batch_norm import BatchNorm

RNG = np.random.default_rng(7)
GAMMA, BETA = np.array([2.0, -1, 0.5]), np.array([0.0, 1, -3])
MEAN, VAR = np.array([0.5, -1, 0]), np.array([1.0, 4, 0.25])
FREE: dict[str, Any] = {"fix_gamma": False, "eps": 1e-3}


def columns(values: Any, ndim: int, axis: int) -> Any:
    return np.asarray(values).reshape([-1 if place == axis % ndim else 1 for place in range(ndim)])


def standardized(data: Any, axis: int, gamma: Any = GAMMA, beta: Any = BETA, eps: float = 1e-3) -> Any:
    """The definition, in double precision."""
    data = np.asarray(data, np.float64)
    others = tuple(place for place in range(data.ndim) if place != axis % data.ndim)
    centred = data - data.mean(others, keepdims=True)
    scale = np.sqrt((centred**2).mean(others, keepdims=True) + eps)
    return centred / scale * columns(gamma, data.ndim, axis) + columns(beta, data.ndim, axis)


def run(data: Any, *, train: bool = True, dtype: str = "float32", **params: Any) -> tuple[Any, ...]:
    """Output and new moving statistics of one imperative call."""
    arrays = [od.nd.array(data, dtype=dtype), *(od.nd.array(v) for v in (GAMMA, BETA, MEAN, VAR))]
    with od.autograd.train_mode() if train else od.autograd.predict_mode():
        output = od.nd.BatchNorm(*arrays, **params)
    return output.asnumpy(), arrays[3].asnumpy(), arrays[4].asnumpy()


@pytest.mark.parametrize(
    ("shape", "axis"), [((4, 3), 1), ((3, 4), 0), ((2, 3, 4, 2), 1), ((2, 2, 3), -1), ((2, 3, 4), -2)]
)
def test_training_standardizes_every_channel(shape: tuple[int, ...], axis: int) -> None:
    data = RNG.normal(size=shape) + 3
    arrays = [data, GAMMA, BETA]
    check_forward(BatchNorm, arrays, standardized(data, axis), aux=[MEAN, VAR], axis=axis, **FREE)
    gradient_check(BatchNorm, arrays, aux=[MEAN, VAR], axis=axis, **FREE)


@pytest.mark.parametrize(
    ("is_train", "params"), [(False, {}), (True, {"use_global_stats": True})], ids=["predicts", "global"]
)
@pytest.mark.parametrize("fix_gamma", [True, False])
def test_other_passes_use_the_moving_statistics_and_leave_them(
    is_train: bool, params: dict[str, Any], fix_gamma: bool
) -> None:
    data, params = RNG.normal(size=(4, 3, 2)), {"fix_gamma": fix_gamma, **params}
    gain = np.ones(3) if fix_gamma else GAMMA
    expected = (data - columns(MEAN, 3, 1)) * columns(gain / np.sqrt(VAR + 1e-3), 3, 1) + columns(BETA, 3, 1)
    output, mean, var = run(data, train=is_train, **params)
    np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal([mean, var], np.array([MEAN, VAR], np.float32))
    gradient_check(BatchNorm, [data, GAMMA, BETA], aux=[MEAN, VAR], is_train=is_train, **params)


def test_training_moves_the_statistics_once_and_by_the_variance_that_divides_by_the_count() -> None:
    data = RNG.normal(size=(4, 3, 2)).astype("float32")
    names = ("data", "gamma", "beta", "moving_mean", "moving_var")
    values = dict(zip(names, map(od.nd.array, (data, GAMMA, BETA, MEAN, VAR)), strict=True))
    symbol = od.sym.BatchNorm(*(od.sym.var(name) for name in names), momentum=0.75)
    grads = {name: od.nd.zeros(values[name].shape) for name in names[:3]}
    states = {name: values.pop(name) for name in names[3:]}
    executor = symbol.bind(od.cpu(), values, args_grad=grads, aux_states=states)
    executor.forward(is_train=True)
    executor.backward([od.nd.ones(data.shape)])
    mean, var = data.mean((0, 2)), data.var((0, 2))
    np.testing.assert_allclose(states["moving_mean"].asnumpy(), 0.75 * MEAN + 0.25 * mean, rtol=1e-5)
    np.testing.assert_allclose(states["moving_var"].asnumpy(), 0.75 * VAR + 0.25 * var, rtol=1e-5)


def test_a_fixed_gamma_counts_as_one_keeps_its_value_and_gets_no_gradient() -> None:
    data = RNG.normal(size=(4, 3))
    arrays = [od.nd.array(v) for v in (data, GAMMA, BETA, MEAN, VAR)]
    for array in arrays[:3]:
        array.attach_grad()
    with od.autograd.record():
        output = od.nd.BatchNorm(*arrays)
    output.backward(od.nd.array(RNG.normal(size=(4, 3))))
    np.testing.assert_allclose(output.asnumpy(), standardized(data, 1, np.ones(3)), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(arrays[1].asnumpy(), GAMMA.astype("float32"))
    np.testing.assert_array_equal(arrays[1].grad.asnumpy(), np.zeros(3))


def test_mean_and_inverse_deviation_can_be_shown_and_their_gradients_are_ignored() -> None:
    data = RNG.normal(size=(4, 3))
    arrays = [od.nd.array(v) for v in (data, GAMMA, BETA, MEAN, VAR)]
    arrays[0].attach_grad()
    found = []
    for head in (0, 5):
        with od.autograd.record():
            output, mean, var = od.nd.BatchNorm(*arrays, output_mean_var=True)
        heads = [od.nd.ones((4, 3)), *(od.nd.array([head] * 3) for _ in range(2))]
        od.autograd.backward([output, mean, var], heads)
        found.append(arrays[0].grad.asnumpy())
    np.testing.assert_allclose(mean.asnumpy(), data.mean(0), rtol=1e-5)
    np.testing.assert_allclose(var.asnumpy(), 1 / np.sqrt(data.var(0) + 1e-3), rtol=1e-5)
    np.testing.assert_array_equal(*found)


def test_an_empty_batch_leaves_the_statistics() -> None:
    output, mean, var = run(np.zeros((0, 3, 2)))
    assert output.shape == (0, 3, 2)
    np.testing.assert_array_equal([mean, var], np.array([MEAN, VAR], np.float32))
    gradient_check(BatchNorm, [np.zeros((0, 3)), GAMMA, BETA], aux=[MEAN, VAR], **FREE)


@pytest.mark.parametrize(
    "data", [np.ones((1, 3)) * 7, np.ones((4, 3)) * 7], ids=["one value", "equal values"]
)
def test_without_variance_the_output_is_beta_and_the_data_gets_no_gradient(data: Any) -> None:
    check_forward(BatchNorm, [data, GAMMA, BETA], np.broadcast_to(BETA, data.shape), aux=[MEAN, VAR], **FREE)
    _, gamma_grad, _ = gradient_check(BatchNorm, [data, GAMMA, BETA], aux=[MEAN, VAR], **FREE)
    np.testing.assert_array_equal(gamma_grad, np.zeros(3))


@pytest.mark.parametrize(("shape", "axis"), [((64, 3, 30), 1), ((1500, 3), 1), ((3, 2000), 0)])
def test_data_far_from_zero_loses_no_digits(shape: tuple[int, ...], axis: int) -> None:
    data = (10000 + 0.01 * RNG.normal(size=shape)).astype("float32")
    head = RNG.normal(size=shape)
    arrays = [od.nd.array(v) for v in (data, GAMMA, BETA, MEAN, VAR)]
    arrays[0].attach_grad()
    with od.autograd.record():
        output = od.nd.BatchNorm(*arrays, fix_gamma=False, eps=1e-6, axis=axis)
    output.backward(od.nd.array(head))
    expected = standardized(data, axis, eps=1e-6)
    np.testing.assert_allclose(output.asnumpy(), expected, atol=2e-5)
    others = tuple(place for place in range(data.ndim) if place != axis)
    unit = standardized(data, axis, np.ones(3), np.zeros(3), 1e-6)
    deviation = np.sqrt(data.astype("float64").var(others, keepdims=True) + 1e-6)
    k = head * columns(GAMMA, data.ndim, axis)
    inner = k - k.mean(others, keepdims=True) - unit * (k * unit).mean(others, keepdims=True)
    np.testing.assert_allclose(arrays[0].grad.asnumpy(), inner / deviation, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize(("shape", "axis"), [((8, 70, 30, 20), 1), ((3, 40, 50, 70), -1)])
def test_many_blocks_give_what_one_gives(shape: tuple[int, ...], axis: int) -> None:
    data, channels = RNG.normal(size=shape), shape[axis]
    gamma, beta = RNG.normal(size=channels), RNG.normal(size=channels)
    expected = standardized(data, axis, gamma, beta)
    states = [np.zeros(channels), np.ones(channels)]
    check_forward(BatchNorm, [data, gamma, beta], expected, aux=states, axis=axis, **FREE)


def test_half_precision_has_statistics_of_single_precision() -> None:
    data = (200 + RNG.normal(size=(500, 3, 10))).astype("float16")
    output, mean, var = run(data, dtype="float16", momentum=0.0, fix_gamma=False)
    assert (output.dtype, mean.dtype, var.dtype) == ("float16", "float32", "float32")
    np.testing.assert_allclose(mean, data.astype("float64").mean((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(var, data.astype("float64").var((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(output, standardized(data, 1), rtol=1e-3, atol=2e-3)


def test_variables_begin_with_the_initializers_of_mxnet() -> None:
    attributes = od.sym.BatchNorm(od.sym.var("data"), name="bn").attr_dict()
    assert attributes["bn_moving_mean"]["__init__"] == '["zero", {}]'
    assert attributes["bn_moving_var"]["__init__"] == '["one", {}]'


def test_bad_input_is_refused() -> None:
    with pytest.raises(ShapeError, match="data has 2 axes"):
        BatchNorm(axis=3).infer_shape([(2, 3), None, None])
    with pytest.raises(ShapeError, match="gamma"):
        BatchNorm().infer_shape([(2, 3), (4,), None])
    with pytest.raises(DTypeError, match="gamma is float16, expected float32"):
        BatchNorm().infer_type([np.dtype("float16")] * 3)
