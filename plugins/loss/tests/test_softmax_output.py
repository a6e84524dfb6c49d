from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_loss.softmax_output import SoftmaxOutput

RNG = np.random.default_rng(5)


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gives_probabilities_and_their_difference_from_the_label(dtype: str) -> None:
    data = RNG.normal(size=(4, 3)).astype(dtype)
    label = np.array([0, 2, 1, 2], dtype)
    probabilities = softmax(data.astype("float64"))
    rtol = 2e-3 if dtype == "float16" else 1e-5
    check_forward(SoftmaxOutput, [data, label], probabilities, rtol=rtol)
    expected = softmax(data.astype("float64")) - np.eye(3)[label.astype(int)]
    gradient_check(SoftmaxOutput, [data, label], [expected, None])


@pytest.mark.parametrize(
    ("shape", "label", "params"),
    [
        ((2, 3, 4), (2, 4), {"multi_output": True, "use_ignore": True, "ignore_label": 1}),
        ((2, 4, 3), (2, 4), {"preserve_shape": True, "smooth_alpha": 0.1}),
        ((2, 2, 3), (2,), {"normalization": "valid", "use_ignore": True, "ignore_label": 1}),
        ((4, 3), (4,), {"out_grad": True, "normalization": "batch"}),
        ((4, 3), (4, 3), {"grad_scale": 0.5}),
    ],
)
def test_every_request_and_sharing_gives_the_same_gradient(
    shape: tuple[int, ...], label: tuple[int, ...], params: dict[str, Any]
) -> None:
    data, labels = RNG.normal(size=shape), RNG.integers(0, 3, label).astype(float)
    check_forward(SoftmaxOutput, [data, labels], **params)
    gradient_check(SoftmaxOutput, [data, labels], [None, None], **params)


def test_out_grad_multiplies_the_gradient_with_the_one_from_above() -> None:
    data, head = RNG.normal(size=(2, 3)).astype("float32"), RNG.normal(size=(2, 3)).astype("float32")
    x = od.nd.array(data)
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.SoftmaxOutput(x, od.nd.array([0, 1]), out_grad=True)
    y.backward(od.nd.array(head))
    expected = (softmax(data) - np.eye(3)[[0, 1]]) * head
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_large_scores_do_not_overflow() -> None:
    check_forward(
        SoftmaxOutput, [np.array([[1e4, -1e4]], "float32"), np.array([0])], [np.array([[1.0, 0.0]])]
    )


def test_an_empty_batch_is_no_error() -> None:
    check_forward(SoftmaxOutput, [np.zeros((0, 3)), np.zeros(0)])
    gradient_check(SoftmaxOutput, [np.zeros((0, 3)), np.zeros(0)], [np.zeros((0, 3)), None])


def test_a_label_that_is_no_class_leaves_the_probabilities() -> None:
    data = RNG.normal(size=(2, 3))
    gradient_check(SoftmaxOutput, [data, np.array([-1.0, 3.0])], [softmax(data), None])


def test_the_label_shape_follows_from_the_data() -> None:
    infer = SoftmaxOutput().infer_shape
    assert infer([(4, 3), None])[0] == [(4, 3), (4,)]
    assert SoftmaxOutput(preserve_shape=True).infer_shape([(2, 4, 3), None])[0][1] == (2, 4)
    assert SoftmaxOutput(multi_output=True).infer_shape([(2, 3, 4, 5), None])[0][1] == (2, 4, 5)
    with pytest.raises(ShapeError, match=r"label has shape \(5,\), expected \(4,\) or"):
        infer([(4, 3), (5,)])


def test_the_gradient_reads_the_probabilities_and_the_label_alone() -> None:
    reads = [(entry.kind, entry.index) for entry in SoftmaxOutput().backward_dependency([True, False])]
    assert reads == [("in_data", 1), ("out_data", 0)]


def test_trains_symbolically_without_a_gradient_from_above() -> None:
    net = od.sym.SoftmaxOutput(od.sym.var("data"), od.sym.var("label"), name="softmax")
    executor = net.simple_bind(od.cpu(), data=(2, 3), label=(2,), grad_req={"data": "write", "label": "null"})
    data = RNG.normal(size=(2, 3)).astype("float32")
    executor.forward(is_train=True, data=od.nd.array(data), label=od.nd.array([2, 0]))
    executor.backward()
    expected = softmax(data) - np.eye(3)[[2, 0]]
    np.testing.assert_allclose(executor.grad_dict["data"].asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_a_label_known_in_part_is_kept() -> None:
    infer = SoftmaxOutput().infer_shape
    assert infer([(4, 3), (4, None)])[0][1] == (4, 3)
    assert infer([(4, 3), (None,)])[0][1] == (4,)
    with pytest.raises(ShapeError, match="label has shape"):
        infer([(4, 3), (None, 5)])


@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0), (2, 0, 3)])
def test_data_without_elements_have_no_gradient(shape: tuple[int, ...]) -> None:
    data, label = np.zeros(shape), np.zeros(shape[:1])
    check_forward(SoftmaxOutput, [data, label], data)
    gradient_check(SoftmaxOutput, [data, label], [data, None])
