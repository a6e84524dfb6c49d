"""Operators of every kind, declared as their authors would, under the checks authors use."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import ParamError, ShapeError
from operad.operator import BackwardEntry
from operad_check.testing import check_forward, gradient_check
from operad_sdk import (
    UNARY,
    OperatorProperty,
    ResourceRequest,
    Scalar,
    binary,
    define,
    gradient,
    operator,
    param,
    unary,
)

OUT_GRAD, DATA, OUTPUT = (
    BackwardEntry("out_grad", 0),
    BackwardEntry("in_data", 0),
    BackwardEntry("out_data", 0),
)
WEIGHT = BackwardEntry("in_data", 1)


@unary("smooth_l1", scalar=Scalar("sigma", default=1.0, above=0.0))
def smooth_l1(x, sigma):
    """Smooth L1 loss of every element."""
    s2 = sigma * sigma
    return np.where(abs(x) > 1 / s2, abs(x) - 0.5 / s2, 0.5 * s2 * x * x)


@smooth_l1.gradient(inplace="output_grad")
def _(output_grad, x, sigma):
    return output_grad * np.clip(sigma * sigma * x, -1, 1)


@binary("elemwise_mul", inplace=("lhs", "rhs"))
def elemwise_mul(lhs, rhs, output):
    np.multiply(lhs, rhs, out=output)


@elemwise_mul.gradient("lhs", inplace="output_grad")
def _(output_grad, rhs, lhs_grad):
    np.multiply(output_grad, rhs, out=lhs_grad)


@elemwise_mul.gradient("rhs", inplace="output_grad")
def _(output_grad, lhs, rhs_grad):
    np.multiply(output_grad, lhs, out=rhs_grad)


tanh = define(
    "tanh",
    UNARY,
    np.tanh,
    lambda output_grad, output: output_grad * (1 - output * output),
    summary="`y = tanh(x)`; `dy/dx = 1 - y^2`.",
    example=("[0]", "[0.]"),
    accepts="floating",
    gradient_inplace="output_grad, output",
)


@operator("FullyConnected")
class FullyConnected(OperatorProperty):
    """Affine map of every row."""

    num_hidden = param(int, ge=1, doc="Size of the output's last axis.")
    no_bias = param(bool, False, doc="Leave the bias out.")
    spec = (
        "data:(N, *D), weight:(num_hidden, prod(D)), bias:(num_hidden) if not no_bias"
        " -> output:(N, num_hidden)"
    )

    def forward(data, weight, bias, output):
        np.matmul(data.reshape(len(data), -1), weight.T, out=output)
        if bias is not None:
            np.add(output, bias, out=output)

    def data_grad(output_grad, weight, data_grad):
        data_grad[...] = (output_grad @ weight).reshape(data_grad.shape)

    def weight_grad(output_grad, data):
        return output_grad.T @ data.reshape(len(data), -1)

    def bias_grad(output_grad):
        return output_grad.sum(0)


@operator("BatchNorm")
class BatchNorm(OperatorProperty):
    """Normalisation over all axes but the second."""

    eps = param(float, 1e-3, gt=0)
    momentum = param(float, 0.9, ge=0, le=1)
    spec = (
        "data:(N, C, *S), gamma:(C), beta:(C); aux moving_mean:(C), moving_var:(C)"
        " -> output:(N, C, *S), hidden mean:(C), hidden scale:(C)"
    )

    def forward(data, gamma, beta, moving_mean, moving_var, is_train, mean, scale, eps, momentum):
        axes = (0, *range(2, data.ndim))
        center = data.mean(axes) if is_train else moving_mean
        spread = data.var(axes) if is_train else moving_var
        inverse = 1 / np.sqrt(spread + eps)
        mean[...], scale[...] = center, inverse
        column = (-1, *[1] * (data.ndim - 2))
        normal = (data - center.reshape(column)) * (gamma * inverse).reshape(column)
        if is_train:
            moving_mean += (1 - momentum) * (center - moving_mean)
            moving_var += (1 - momentum) * (spread - moving_var)
        return normal + beta.reshape(column)

    def backward(output_grad, data, gamma, mean, scale):
        axes = (0, *range(2, data.ndim))
        column = (-1, *[1] * (data.ndim - 2))
        normal = (data - mean.reshape(column)) * scale.reshape(column)
        by_gamma, by_beta = (output_grad * normal).sum(axes), output_grad.sum(axes)
        count = data.size // data.shape[1]
        rest = normal * (by_gamma / count).reshape(column) + (by_beta / count).reshape(column)
        return (output_grad - rest) * (gamma * scale).reshape(column), by_gamma, by_beta


@operator("Convolution")
class Convolution(OperatorProperty):
    """Correlation over any number of axes, the plain way."""

    kernel = param("shape")
    stride = param("shape")
    pad = param("shape")
    num_filter = param(int, ge=1)
    num_group = param(int, 1, ge=1)
    spec = (
        "data:(N, c*num_group, *S), weight:(num_filter, c, *kernel)"
        " -> output:(N, num_filter, *((S + 2*pad - kernel)//stride + 1))"
    )

    def forward(self, data, weight, output, pad, num_group):
        padded = np.pad(data, [(0, 0), (0, 0), *[(p, p) for p in pad]])
        for group in range(num_group):
            self._group(padded, weight, output, group)

    def _group(self, padded, weight, out, group):
        axes = tuple(range(2, padded.ndim))
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.kernel, axes)
        windows = windows[(slice(None), slice(None), *[slice(None, None, s) for s in self.stride])]
        c, f = weight.shape[1], weight.shape[0] // self.num_group
        taken = windows[:, group * c : (group + 1) * c]
        filters = weight[group * f : (group + 1) * f]
        inner = [1, *range(windows.ndim - len(self.kernel), windows.ndim)]
        product = np.tensordot(taken, filters, (inner, list(range(1, filters.ndim))))
        out[:, group * f : (group + 1) * f] = np.moveaxis(product, -1, 1)


@operator("add_n")
class AddN(OperatorProperty):
    """Sum of any number of arrays."""

    num_args = param(int, ge=1)
    key_var_num_args = "num_args"
    spec = "args[num_args]:(...) -> output:(...)"
    inplace = "args0 -> output"

    def forward(args):
        return sum(args[1:], args[0])

    def backward(output_grad, num_args):
        return [output_grad] * num_args


@operator("LinearRegressionOutput")
class LinearRegressionOutput(OperatorProperty):
    """The data forward, the difference from the label backward, whatever comes from above."""

    grad_scale = param(float, 1.0)
    spec = "data:(N, *S), label:(N, *S) -> output:(N, *S)"
    inplace = "data -> output"

    def forward(data):
        return data

    @gradient(inplace="output")
    def data_grad(output, label, grad_scale):
        per_sample = max(label.size // max(len(label), 1), 1)
        return (output - label) * (grad_scale / per_sample)


@operator("Dropout")
class Dropout(OperatorProperty):
    """Zeroes elements at random in training."""

    p = param(float, 0.5, ge=0, lt=1)
    spec = "data:(...) -> output:(...), hidden mask:(...)"
    resource = ResourceRequest.RANDOM

    def forward(data, op_ctx, is_train, p):
        if not is_train:
            return data, 1
        kept = (op_ctx.requested[0].generator.random(data.shape) >= p) / (1 - p)
        return data * kept, kept

    @gradient(inplace="output_grad")
    def data_grad(output_grad, mask):
        return output_grad * mask


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_smooth_l1_is_called_with_scalar_and_has_both_branches():
    x = np.array([-2.0, -0.1, 0.0, 0.2, 3.0])
    expected = np.array([1.875, 0.02, 0.0, 0.08, 2.875])
    check_forward(smooth_l1, [x], [expected], scalar=2.0)
    np.testing.assert_allclose(smooth_l1.forward(x, 2.0), expected)
    with pytest.raises(ParamError, match="'scalar' is 0, expected float > 0"):
        smooth_l1(scalar=0)


def test_smooth_l1_gradient_reads_head_and_input():
    gradient_check(smooth_l1, [np.array([-2.0, -0.1, 0.05, 0.2, 3.0])], scalar=2.0)
    prop = smooth_l1(scalar="2.0")
    assert prop.backward_dependency([True]) == [OUT_GRAD, DATA]


def test_binary_keeps_only_what_a_requested_gradient_reads(rng):
    check_forward(elemwise_mul, [rng.normal(size=(2, 3)), rng.normal(size=(2, 3))], np.multiply)
    gradient_check(elemwise_mul, [rng.normal(size=(2, 3)), rng.normal(size=(2, 3))])
    prop = elemwise_mul()
    assert prop.backward_dependency([True, False]) == [OUT_GRAD, WEIGHT]
    assert prop.backward_dependency([False, True]) == [OUT_GRAD, DATA]


def test_tanh_runs_the_ufunc_itself(rng):
    data = rng.normal(size=(3, 4))
    check_forward(tanh, [data], np.tanh)
    gradient_check(tanh, [data])
    prop = tanh()
    assert prop.create_operator(cpu(), [data.shape], [data.dtype]).direct is np.tanh


@pytest.mark.parametrize("no_bias", [False, True])
def test_fully_connected_forward_and_gradient(rng, no_bias):
    shapes = [(5, 2, 3), (4, 6), (4,)][: 2 if no_bias else 3]
    inputs = [rng.normal(size=shape) for shape in shapes]

    def reference(data, weight, bias=0):
        return data.reshape(5, 6) @ weight.T + bias

    check_forward(FullyConnected, inputs, reference, num_hidden=4, no_bias=no_bias)
    gradient_check(FullyConnected, inputs, num_hidden=4, no_bias=no_bias)


def test_fully_connected_keeps_only_what_a_requested_gradient_reads():
    prop = FullyConnected(num_hidden="4")
    assert prop.backward_dependency([True, False, False]) == [OUT_GRAD, WEIGHT]
    assert prop.backward_dependency([False, True, False]) == [OUT_GRAD, DATA]
    assert prop.backward_dependency([False, False, True]) == [OUT_GRAD]
    assert prop.declare_backward_dependency(["g"], ["d", "w", "b"], ["o"]) == ["g", "d", "w"]


def test_fully_connected_error_names_argument_and_axis():
    with pytest.raises(
        ShapeError, match=r"FullyConnected: weight has shape \(64, 100\), expected \(64, 128\)"
    ):
        FullyConnected(num_hidden=64).infer_shape([(32, 128), (64, 100), None])


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 2, 2)])
def test_batch_norm_normalises_and_updates_its_states_in_training(rng, shape):
    inputs = [rng.normal(size=shape), rng.normal(size=3), rng.normal(size=3)]
    aux = [np.zeros(3), np.ones(3)]
    output, mean, _ = check_forward(BatchNorm, inputs, aux=aux)
    axes = (0, *range(2, len(shape)))
    np.testing.assert_allclose(mean, inputs[0].mean(axes))
    np.testing.assert_allclose(output.mean(axes), inputs[2], atol=1e-6)
    gradient_check(BatchNorm, inputs, aux=aux, rtol=1e-4, atol=1e-6)
    prop = BatchNorm()
    assert prop.list_auxiliary_states() == ["moving_mean", "moving_var"]
    assert (prop.num_visible_outputs, prop.list_outputs()) == (1, ["output", "mean", "scale"])
    assert prop.infer_shape([shape, None, None])[2] == [(3,), (3,)]


@pytest.mark.parametrize("group", [1, 2])
def test_convolution_shapes_follow_from_one_line(rng, group):
    params = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 0), "num_filter": 4, "num_group": group}
    prop = Convolution(**params)
    assert prop.infer_shape([(2, 4, 7, 5), None]) == (
        [(2, 4, 7, 5), (4, 4 // group, 3, 2)], [(2, 4, 4, 4)], [],
    )  # fmt: skip
    assert prop.kernel == (3, 2)
    check_forward(
        Convolution, [rng.normal(size=(2, 4, 7, 5)), rng.normal(size=(4, 4 // group, 3, 2))], **params
    )


def test_convolution_solves_backwards_only_what_is_unique():
    def shapes(stride):
        return Convolution(kernel=(3, 3), stride=stride, pad=(1, 1), num_filter=4)

    out = [(2, 4, 5, 6)]
    assert shapes((1, 1)).infer_shape_backward([None, None], out)[0] == (2, None, 5, 6)
    assert shapes((1, 2)).infer_shape_backward([None, None], out)[0] == (2, None, 5, None)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_add_n_takes_any_number_of_arrays(rng, count):
    inputs = [rng.normal(size=(2, 3)) for _ in range(count)]
    check_forward(AddN, inputs, lambda *args: sum(args), num_args=count)
    gradient_check(AddN, inputs, num_args=count)
    prop = AddN(num_args=count)
    assert prop.list_arguments() == [f"args{i}" for i in range(count)]
    assert prop.declare_backward_dependency(["g"], list(range(count)), ["o"]) == ["g"]


def test_loss_reads_no_head_gradient(rng):
    inputs = [rng.normal(size=(4, 3)), rng.normal(size=(4, 3))]
    check_forward(LinearRegressionOutput, inputs, inputs[:1])
    expected = [(inputs[0] - inputs[1]) * 2 / 3, None]
    gradient_check(LinearRegressionOutput, inputs, expected, grad_scale=2)
    prop = LinearRegressionOutput()
    assert prop.backward_dependency([True, False]) == [WEIGHT, OUTPUT]
    assert prop.differentiable_inputs() == [True, False]


def test_dropout_draws_once_and_its_gradient_uses_the_hidden_mask(rng):
    data = rng.normal(size=(20, 30)) + 3
    output, mask = check_forward(Dropout, [data], p=0.25)
    assert 0.65 < (mask > 0).mean() < 0.85
    np.testing.assert_allclose(output, data * mask)
    gradient_check(Dropout, [data[:3, :4]], p=0.25)
    check_forward(Dropout, [data], [data], is_train=False, p=0.25)
    assert Dropout().forward_resource([(2,)]) == [ResourceRequest.RANDOM]
    assert Dropout().backward_dependency([True]) == [OUT_GRAD, BackwardEntry("out_data", 1)]
