"""LayerNorm, GroupNorm and InstanceNorm: one definition, three ways to divide the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.context import cpu
from operad.errors import ShapeError
from operad.operator import KernelCall
from operad_check.testing import check_forward, gradient_check
from operad_check.trials.kernels import is_possible
from operad_normalization.group_norm import GroupNorm
from operad_normalization.instance_norm import InstanceNorm
from operad_normalization.layer_norm import LayerNorm

RNG = np.random.default_rng(11)

# operator, shape of the data, shape in which groups are whole axes, those axes, the axis of gamma, parameters
CASES: list[Any] = [
    (LayerNorm, (5, 7), (5, 7), (1,), 1, {}),
    (LayerNorm, (7, 5), (7, 5), (0,), 0, {"axis": 0}),
    (LayerNorm, (2, 6, 3), (2, 6, 3), (1,), 1, {"axis": -2}),
    (LayerNorm, (9,), (9,), (0,), 0, {}),
    (GroupNorm, (2, 6, 4), (2, 3, 2, 4), (2, 3), 1, {"num_groups": 3}),
    (GroupNorm, (3, 4), (3, 1, 4), (2,), 1, {}),
    (InstanceNorm, (2, 3, 4, 2), (2, 3, 4, 2), (2, 3), 1, {}),
]


@pytest.mark.parametrize("operator", [LayerNorm, GroupNorm, InstanceNorm])
def test_each_kernel_applies_to_some_call(operator: Any) -> None:
    calls = [
        KernelCall(operator(**params), cpu(), [shape, *[(shape[axis],)] * 2], [np.dtype(dtype)] * 3)
        for axis, params in [(1, {}), (1, {"num_groups": 4}), (2, {"axis": -1}), (1, {"axis": 1})]
        if params.keys() <= operator.params.keys()
        for shape in [(2, 2, 2), (16, 4, 64), (64, 4, 4096)]
        for dtype in ("float32", "float64")
    ]
    possible = [one for one in operator.kernels if is_possible(one)]
    dead = [one.name for one in possible if all(one.rejection(call) for call in calls)]
    assert possible
    assert not dead


def standardized(data: Any, whole: Any, axes: Any, place: int, gamma: Any, beta: Any, eps: float) -> Any:
    """The definition, in double precision."""
    parts = np.asarray(data, np.float64).reshape(whole)
    centred = parts - parts.mean(axes, keepdims=True)
    scale = np.sqrt((centred**2).mean(axes, keepdims=True) + eps)
    vector = [-1 if axis == place else 1 for axis in range(len(whole))]
    return (centred / scale * gamma.reshape(vector) + beta.reshape(vector)).reshape(data.shape)


@pytest.mark.parametrize(("operator", "shape", "whole", "axes", "place", "params"), CASES)
def test_groups_are_standardized(
    operator: Any, shape: Any, whole: Any, axes: Any, place: int, params: Any
) -> None:
    data, gamma, beta = RNG.normal(size=shape), RNG.normal(size=whole[place]), RNG.normal(size=whole[place])
    expected = standardized(data, whole, axes, place, gamma, beta, 0.25)
    check_forward(operator, [data, gamma, beta], expected, eps=0.25, **params)
    gradient_check(operator, [data, gamma, beta], eps=0.25, **params)


@pytest.mark.parametrize(("operator", "shape", "whole", "axes", "place", "params"), CASES)
def test_data_far_from_zero_loses_no_digits(
    operator: Any, shape: Any, whole: Any, axes: Any, place: int, params: Any
) -> None:
    data = (10000 + 0.01 * RNG.normal(size=shape)).astype("float32")
    gamma, beta = np.ones(whole[place], np.float32), np.zeros(whole[place], np.float32)
    expected = standardized(data, whole, axes, place, gamma, beta, 1e-6)
    output = getattr(od.nd, operator.name)(*map(od.nd.array, (data, gamma, beta)), eps=1e-6, **params)
    np.testing.assert_allclose(output.asnumpy(), expected, atol=2e-5)


@pytest.mark.parametrize(
    ("operator", "shape", "whole", "axes", "place", "params"),
    [
        (LayerNorm, (300, 700), (300, 700), (1,), 1, {}),
        (LayerNorm, (700, 300), (700, 300), (0,), 0, {"axis": 0}),
        (GroupNorm, (40, 8, 999), (40, 4, 2, 999), (2, 3), 1, {"num_groups": 4}),
        (InstanceNorm, (2, 70, 40, 30), (2, 70, 40, 30), (2, 3), 1, {}),
    ],
)
def test_many_blocks_give_what_one_gives(
    operator: Any, shape: Any, whole: Any, axes: Any, place: int, params: Any
) -> None:
    data, gamma, beta = RNG.normal(size=shape), RNG.normal(size=whole[place]), RNG.normal(size=whole[place])
    expected = standardized(data, whole, axes, place, gamma, beta, 1e-3)
    arrays = [od.nd.array(values, dtype="float64") for values in (data, gamma, beta)]
    for array in arrays:
        array.attach_grad()
    with od.autograd.record():
        output = getattr(od.nd, operator.name)(*arrays, eps=1e-3, **params)
    head = RNG.normal(size=shape)
    output.backward(od.nd.array(head, dtype="float64"))
    np.testing.assert_allclose(output.asnumpy(), expected, rtol=1e-9, atol=1e-9)
    unit = standardized(data, whole, axes, place, np.ones_like(gamma), np.zeros_like(beta), 1e-3)
    others = tuple(axis for axis in range(len(whole)) if axis != place)
    gradients = [(head * unit).reshape(whole).sum(others), head.reshape(whole).sum(others)]
    for array, expected_gradient in zip(arrays[1:], gradients, strict=True):
        np.testing.assert_allclose(array.grad.asnumpy(), expected_gradient, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize(
    ("operator", "shape", "statistics", "params"),
    [
        (LayerNorm, (2, 3, 4), (2, 1, 4), {"axis": 1}),
        (GroupNorm, (2, 6, 4), (2, 3), {"num_groups": 3}),
    ],
)
def test_mean_and_deviation_can_be_shown(operator: Any, shape: Any, statistics: Any, params: Any) -> None:
    data = RNG.normal(size=shape)
    vectors = [np.ones(3), np.zeros(3)]
    whole = data if operator is LayerNorm else data.reshape(2, 3, 8)
    axes, keeps = (1, True) if operator is LayerNorm else (2, False)
    mean = whole.mean(axes, keepdims=keeps)
    deviation = np.sqrt(whole.var(axes, keepdims=keeps) + 1e-5)
    found = check_forward(operator, [data, *vectors], output_mean_var=True, **params)
    assert [array.shape for array in found[1:3]] == [statistics] * 2
    np.testing.assert_allclose(found[1], mean, rtol=1e-6)
    np.testing.assert_allclose(found[2], deviation, rtol=1e-6)
    assert operator(**params).num_visible_outputs == 1
    assert operator(output_mean_var=True, **params).num_visible_outputs == 3


@pytest.mark.parametrize("operator", [LayerNorm, GroupNorm, InstanceNorm])
def test_groups_of_one_value_give_beta(operator: Any) -> None:
    shape = (3, 1) if operator is LayerNorm else (3, 2, 1)
    params = {"num_groups": 2} if operator is GroupNorm else {}
    count = 1 if operator is LayerNorm else 2
    arrays = [RNG.normal(size=shape), np.full(count, 2.0), np.arange(1.0, count + 1)]
    expected = np.broadcast_to(arrays[2].reshape(count, *(1,) * (len(shape) - 2)), shape)
    check_forward(operator, arrays, expected, **params)
    data_grad, gamma_grad, _ = gradient_check(operator, arrays, **params)
    np.testing.assert_array_equal(data_grad, np.zeros(shape))
    np.testing.assert_array_equal(gamma_grad, np.zeros(count))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
def test_axes_of_length_0_are_no_special_case(shape: tuple[int, int]) -> None:
    vectors = [np.ones(shape[1]), np.ones(shape[1])]
    check_forward(LayerNorm, [np.zeros(shape), *vectors], np.zeros(shape))
    gradient_check(LayerNorm, [np.zeros(shape), *vectors])


def test_half_precision_is_summed_in_single_precision() -> None:
    data = (200 + RNG.normal(size=(2, 5000))).astype("float16")
    vectors = np.ones(5000, np.float16), np.zeros(5000, np.float16)
    output, *_ = check_forward(LayerNorm, [data, *vectors], rtol=1e-2)
    expected = standardized(data, (2, 5000), (1,), 1, *(v.astype("float64") for v in vectors), 1e-5)
    assert output.dtype == "float16"
    np.testing.assert_allclose(output, expected, rtol=1e-3, atol=2e-3)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ShapeError, match="gamma"):
        LayerNorm().infer_shape([(3, 4), (3,), None])
    with pytest.raises(ShapeError, match="axis 1 is 4, which no size gives"):
        GroupNorm(num_groups=3).infer_shape([(2, 4, 3), None, None])
    with pytest.raises(ShapeError, match="data has 2 axes"):
        LayerNorm(axis=2).infer_shape([(3, 4), None, None])


@pytest.mark.walk
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e19, 1e25, 1e36])
@pytest.mark.parametrize(
    "shape", [(4, 6, 2), (3, 4, 300), (8, 16, 40)]
)  # by NumPy, by a form, in vector code
@pytest.mark.parametrize("name", ["LayerNorm", "GroupNorm", "InstanceNorm", "BatchNorm"])
@pytest.mark.parametrize("is_fused", [False, True])
def test_squares_that_single_precision_cannot_hold_do_no_harm(
    name: str, shape: tuple[int, ...], scale: float, is_fused: bool
) -> None:
    """Outputs and gradients of data that is large are those of double precision."""
    count = {"LayerNorm": shape[-1], "GroupNorm": 2}.get(name, shape[1])
    params: dict[str, Any] = {"GroupNorm": {"num_groups": 2}, "BatchNorm": {"fix_gamma": False}}.get(name, {})
    rng = np.random.default_rng(3)
    values, head = (rng.standard_normal(shape) for _ in range(2))
    found = []
    for dtype in ("float32", "float64"):
        data = od.sym.var("data")
        layer = getattr(od.sym, name)(data * 1 if is_fused else data, name="layer", **params)
        layer = layer[0] if len(layer.list_outputs()) > 1 else layer
        executor = (od.sym.tanh(layer) if is_fused else layer).simple_bind(
            od.cpu(), type_dict={"data": dtype}, data=shape
        )
        executor.arg_dict["data"][:] = od.nd.array(values * scale, dtype=dtype)
        executor.arg_dict["layer_gamma"][:] = 1
        assert executor.arg_dict["layer_gamma"].shape == (count,)
        (output,) = executor.forward(is_train=True)
        executor.backward(od.nd.array(head, dtype=dtype))
        found.append((output.asnumpy(), executor.grad_dict["data"].asnumpy() * np.float64(scale)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3 * max(np.abs(other).max(), 0.01))
