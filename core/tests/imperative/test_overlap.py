"""Gradients whose buffers share memory with what the backward pass reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from operad import autograd, nd, sym
from operad.device import cpu
from operad.errors import ArgumentError, GradientError
from operad.ndarray import NDArray

pytestmark = pytest.mark.usefixtures("operators")

X, W, HEAD = np.float32([1, 2]), np.float32([4, 5]), np.float32([10, 20])


def separate() -> list[NDArray]:
    return [nd.array(values) for values in (X, W, HEAD * 0, HEAD)]


def parts_of_one() -> list[NDArray]:
    whole = nd.array(np.stack([X, W, HEAD * 0, HEAD]))
    return [whole[i] for i in range(4)]


@pytest.mark.parametrize("layout", [separate, parts_of_one])
@pytest.mark.parametrize("request_", ["write", "add"])
@pytest.mark.parametrize("owner", [0, 1])
def test_a_head_gradient_may_be_a_gradient_buffer(
    each_engine: str, layout: Callable[[], list[NDArray]], request_: str, owner: int
) -> None:
    x, w, other, head = layout()
    buffers = [head, other] if owner == 0 else [other, head]
    autograd.mark_variables([x, w], buffers, request_)
    with autograd.record():
        y = nd.elemwise_mul(x, w)
    y.backward(head)
    before = {"add": [HEAD, HEAD * 0] if owner == 0 else [HEAD * 0, HEAD], "write": [0, 0]}[request_]
    np.testing.assert_array_equal(buffers[0].asnumpy(), HEAD * W + before[0])
    np.testing.assert_array_equal(buffers[1].asnumpy(), HEAD * X + before[1])


def test_a_head_gradient_may_overlap_a_gradient_buffer(each_engine: str) -> None:
    x, w, memory = nd.array(X), nd.array(W), nd.array([10, 20, 0])
    head, other = memory[:2], nd.empty(2)
    autograd.mark_variables([x, w], [memory[1:], other])
    with autograd.record():
        y = nd.elemwise_mul(x, w)
    y.backward(head)
    np.testing.assert_array_equal(x.grad.asnumpy(), HEAD * W)
    np.testing.assert_array_equal(w.grad.asnumpy(), HEAD * X)


def test_one_of_several_heads_may_have_a_gradient_buffer_as_its_gradient(each_engine: str) -> None:
    x, w = nd.array(X), nd.array(W)
    for array in (x, w):
        array.attach_grad()
    x.grad[:] = HEAD
    with autograd.record():
        y, z = nd.elemwise_mul(x, w), nd.square(x)
    autograd.backward([z, y], [None, x.grad])
    np.testing.assert_array_equal(x.grad.asnumpy(), HEAD * W + 2 * X)
    np.testing.assert_array_equal(w.grad.asnumpy(), HEAD * X)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_what_was_recorded_may_read_a_gradient_buffer(each_engine: str, depth: int) -> None:
    """Two branches read it; the gradient of one is written before the other's is computed."""
    x, w = nd.array(X), nd.array(W)
    for array in (x, w):
        array.attach_grad()
    x.grad[:] = HEAD
    with autograd.record():
        y = nd.elemwise_mul(nd.elemwise_mul(x, x.grad), nd.elemwise_mul(w, x.grad))
        for _ in range(depth):
            y = nd.reverse_last(nd.elemwise_mul(y, x.grad))
    y.backward()
    factor = HEAD * HEAD
    for turn in range(depth):
        factor = factor * (HEAD[::-1] if turn % 2 else HEAD)
    np.testing.assert_allclose(x.grad.asnumpy(), W * factor)
    np.testing.assert_allclose(w.grad.asnumpy(), X * factor)


def test_variables_and_gradients_may_be_parts_of_one_array(each_engine: str) -> None:
    x, w, x_grad, w_grad = parts_of_one()
    autograd.mark_variables([x, w], [x_grad, w_grad])
    with autograd.record():
        y = nd.elemwise_mul(nd.square(x), nd.square(w))
    y.backward()
    np.testing.assert_array_equal(x_grad.asnumpy(), 2 * X * W * W)
    np.testing.assert_array_equal(w_grad.asnumpy(), 2 * W * X * X)


@pytest.mark.parametrize("request_", ["write", "add"])
@pytest.mark.parametrize("which", ["x", "w"])
def test_an_executor_takes_its_gradients_as_head_gradients(
    each_engine: str, request_: str, which: str
) -> None:
    product = sym.elemwise_mul(sym.var("x"), sym.var("w"))
    grads = {"x": nd.array(HEAD), "w": nd.array(HEAD)}
    exe = product.bind(cpu(), {"x": nd.array(X), "w": nd.array(W)}, grads, grad_req=request_)
    exe.forward(is_train=True)
    exe.backward([grads[which]])
    added = HEAD if request_ == "add" else 0
    np.testing.assert_array_equal(grads["x"].asnumpy(), HEAD * W + added)
    np.testing.assert_array_equal(grads["w"].asnumpy(), HEAD * X + added)


def _overlapping(kind: str) -> tuple[list[NDArray], list[NDArray]]:
    memory = nd.empty(5)
    a, b, c, d = memory[:2], memory[1:3], memory[3:], nd.empty(2)
    return {
        "gradients": ([nd.empty(2), nd.empty(2)], [a, b]),
        "the same gradient": ([nd.empty(2), nd.empty(2)], [a, a]),
        "views of all of it": ([nd.empty(2), nd.empty(2)], [d, d[:]]),
        "its own variable": ([a], [b]),
        "itself": ([a], [a]),
        "a later variable": ([c, a], [b, d]),
        "an earlier variable": ([a, c], [d, b]),
        "reversed": ([d], [d[::-1]]),
    }[kind]


KINDS = [
    "gradients", "the same gradient", "views of all of it", "its own variable", "itself", "a later variable",
    "an earlier variable", "reversed",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_over_another_array_is_refused_where_it_is_marked(kind: str) -> None:
    variables, gradients = _overlapping(kind)
    with pytest.raises(ArgumentError, match=r"shares memory with .*give each an array of its own"):
        autograd.mark_variables(variables, gradients)
    assert all(x.grad is None for x in variables)


@pytest.mark.parametrize(
    "given", [("null", "write"), ("add", "add")], ids=["one of them null", "all of them added"]
)
def test_gradients_may_share_memory_where_none_overwrites_another(given: Any) -> None:
    shared = nd.array([0, 0])
    x, w = nd.array(X), nd.array(W)
    autograd.mark_variables([x, w], [shared, shared], list(given))
    with autograd.record():
        y = nd.elemwise_mul(x, w)
    y.backward()
    np.testing.assert_array_equal(shared.asnumpy(), W + X if given[0] == "add" else X)


def test_gradients_that_were_marked_apart_and_share_memory_are_refused_in_backward() -> None:
    shared, x, w = nd.empty(2), nd.array(X), nd.array(W)
    autograd.mark_variables(x, shared)
    autograd.mark_variables(w, shared)
    with autograd.record():
        y = nd.elemwise_mul(x, w)
    with pytest.raises(GradientError, match="gradient 1 shares memory with gradient 0"):
        y.backward()
