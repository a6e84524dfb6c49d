from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check import Case, verify
from operad_check.testing import check_forward, gradient_check
from operad_loss.make_loss import MakeLoss
from operad_loss.regression import LinearRegressionOutput, LogisticRegressionOutput, MAERegressionOutput
from operad_loss.softmax_cross_entropy import SoftmaxCrossEntropy
from operad_loss.svm_output import SVMOutput

RNG = np.random.default_rng(6)


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def test_linear_regression_has_the_difference_as_gradient() -> None:
    data, label = RNG.normal(size=(3, 2, 2)), RNG.normal(size=(3, 2, 2))
    check_forward(LinearRegressionOutput, [data, label], [data])
    expected = (data - label) * 0.5 / 4
    gradient_check(LinearRegressionOutput, [data, label], [expected, None], grad_scale=0.5)


def test_mean_absolute_error_has_the_sign_as_gradient() -> None:
    data, label = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))
    check_forward(MAERegressionOutput, [data, label], [data])
    gradient_check(MAERegressionOutput, [data, label], [np.sign(data - label) / 2, None])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logistic_regression_never_overflows(dtype: str) -> None:
    data = np.array([[-1000.0], [-2.0], [0.0], [1000.0]], dtype)
    rtol = 2e-3 if dtype == "float16" else 1e-5
    expected = [[0.0], [logistic(-2.0)], [0.5], [1.0]]
    check_forward(LogisticRegressionOutput, [data, np.zeros(4, dtype)], [expected], rtol=rtol)


def test_logistic_regression_has_the_difference_as_gradient() -> None:
    data, label = RNG.normal(size=(3, 2)), RNG.uniform(size=(3, 2))
    gradient_check(LogisticRegressionOutput, [data, label], [(logistic(data) - label) / 2, None])


def test_a_regression_label_may_lack_an_axis_of_one() -> None:
    infer = LinearRegressionOutput().infer_shape
    assert infer([(4, 1), None])[0][1] == (4,)
    assert infer([(4, 2), None])[0][1] == (4, 2)
    assert infer([(4, 1), (4, 1)])[0][1] == (4, 1)
    with pytest.raises(ShapeError, match="as many elements"):
        infer([(4, 2), (4,)])


@pytest.mark.parametrize("use_linear", [False, True])
def test_svm_has_the_gradient_of_the_hinge_loss(use_linear: bool) -> None:
    data, label = RNG.normal(size=(5, 3)), np.array([0.0, 1, 2, 1, 0])
    side = 1 - 2 * np.eye(3)[label.astype(int)]
    shortfall = np.maximum(0.7 + data * side, 0)
    expected = 0.3 * side * ((shortfall > 0) if use_linear else 2 * shortfall)
    params = {"margin": 0.7, "regularization_coefficient": 0.3, "use_linear": use_linear}
    check_forward(SVMOutput, [data, label], [data], **params)
    gradient_check(SVMOutput, [data, label], [expected, None], **params)


@pytest.mark.parametrize(("normalization", "divisor"), [("null", 1), ("batch", 3), ("valid", 4)])
def test_make_loss_has_a_constant_gradient(normalization: str, divisor: int) -> None:
    data = np.array([[0.5, 0.1], [0.3, 0.4], [0.05, 0.6]])
    params = {"normalization": normalization, "grad_scale": 2.0, "valid_thresh": 0.2}
    check_forward(MakeLoss, [data], [data], **params)
    gradient_check(MakeLoss, [data], [np.full((3, 2), 2.0 / divisor)], **params)


@pytest.mark.parametrize(("shape", "rows"), [((), 1), ((5,), 1), ((2, 3, 4), 6), ((0, 3), 1)])
def test_make_loss_divides_by_the_rows_of_a_batch(shape: tuple[int, ...], rows: int) -> None:
    gradient_check(MakeLoss, [np.ones(shape)], [np.full(shape, 1 / rows)], normalization="batch")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_cross_entropy_is_the_negative_logarithm_of_the_labelled_probability(dtype: str) -> None:
    data, label = RNG.normal(size=(4, 3)).astype(dtype), np.array([0, 2, 1, 0], dtype)
    wide = data.astype("float64")
    probabilities = np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    expected = -np.log(probabilities[range(4), label.astype(int)]).sum(keepdims=True)
    check_forward(SoftmaxCrossEntropy, [data, label], [expected], rtol=2e-3 if dtype == "float16" else 1e-5)
    gradient_check(SoftmaxCrossEntropy, [data, label])


def test_cross_entropy_of_an_impossible_label_is_that_of_one_in_a_hundred_million() -> None:
    data, label = np.array([[100.0, 0.0]], "float32"), np.array([1.0])
    check_forward(SoftmaxCrossEntropy, [data, label], [[np.log(1e8)]])


@pytest.mark.parametrize(
    "name",
    ["SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput",
     "SVMOutput", "softmax_cross_entropy"],
)  # fmt: skip
def test_a_label_has_the_type_of_the_data_or_one_of_its_own(name: str) -> None:
    half, whole = np.dtype("float16"), np.dtype("int32")
    op = od.registry.get(name)()
    assert op.infer_type([half, None])[0] == [half, half]
    assert op.infer_type([half, whole])[0] == [half, whole]


def test_cross_entropy_of_an_empty_batch_is_zero() -> None:
    check_forward(SoftmaxCrossEntropy, [np.zeros((0, 3)), np.zeros(0)], [[0.0]])


@pytest.mark.parametrize(
    "name",
    ["LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "SVMOutput", "MakeLoss"],
)
def test_trains_symbolically_as_it_does_imperatively(name: str) -> None:
    has_label = name != "MakeLoss"
    label_shape = (2,) if name == "SVMOutput" else (2, 3)
    arrays = {"data": od.nd.array(RNG.normal(size=(2, 3)))}
    if has_label:
        arrays["label"] = od.nd.array(RNG.integers(0, 3, label_shape))
    arrays["data"].attach_grad()
    with od.autograd.record():
        eager = getattr(od.nd, name)(*arrays.values())
    eager.backward()
    symbol = getattr(od.sym, name)(*map(od.sym.var, arrays))
    gradient = od.nd.array(np.zeros((2, 3)))
    grad_req = {name: "write" if name == "data" else "null" for name in arrays}
    executor = symbol.bind(od.cpu(), arrays, args_grad={"data": gradient}, grad_req=grad_req)
    np.testing.assert_array_equal(executor.forward(is_train=True)[0].asnumpy(), eager.asnumpy())
    executor.backward()
    np.testing.assert_array_equal(gradient.asnumpy(), arrays["data"].grad.asnumpy())


def test_an_item_without_a_class_adds_no_cross_entropy() -> None:
    data, label = RNG.normal(size=(3, 2)), np.array([-1.0, 1, 2])
    expected = np.logaddexp.reduce(data[1]) - data[1, 1]
    check_forward(SoftmaxCrossEntropy, [data, label], [[expected]])
    gradients = gradient_check(SoftmaxCrossEntropy, [data, label])
    assert (np.asarray(gradients[0])[[0, 2]] == 0).all()


def test_no_classes_and_a_single_item_are_no_errors() -> None:
    check_forward(SoftmaxCrossEntropy, [np.zeros((2, 0)), np.zeros(2)], [[0.0]])
    gradient_check(SoftmaxCrossEntropy, [np.zeros((2, 0)), np.zeros(2)], [np.zeros((2, 0)), None])
    gradient_check(SVMOutput, [np.zeros((2, 0)), np.zeros(2)], [np.zeros((2, 0)), None])
    gradient_check(SVMOutput, [np.array([0.5, 0.25]), np.array(1)], [[3.0, -1.5], None])


def test_a_label_known_in_part_is_kept() -> None:
    infer = LinearRegressionOutput().infer_shape
    assert infer([(4, 1), (4, None)])[0][1] == (4, 1)
    assert infer([(4, 1), (None,)])[0][1] == (4,)
    assert infer([(4, 6), (4, None, 3)])[0][1] == (4, None, 3)


def test_branches_are_not_looked_for_where_a_label_has_another_shape() -> None:
    inputs = {"data": np.ones((3, 3, 2)), "label": np.zeros((3, 2, 3))}
    assert verify("B314", "MAERegressionOutput", Case(inputs=inputs)) is None


def test_a_scalar_form_reads_a_label_of_another_shape_in_its_order() -> None:
    inputs = {"data": np.ones((1, 3, 2)), "label": np.arange(6.0).reshape(1, 2, 3)}
    assert verify("A704", "LogisticRegressionOutput", Case(inputs=inputs))
