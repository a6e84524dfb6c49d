"""Operators that are no functions of numbers: sums of many, casts, sizes, gradients of a kind."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_add_n_sums_any_number_of_arrays(count: int) -> None:
    arrays = [RNG.normal(size=(2, 3)) for _ in range(count)]
    check_forward(registry.get("add_n"), arrays, sum(arrays), num_args=count)
    gradient_check(registry.get("add_n"), arrays, num_args=count)


def test_add_n_counts_its_arguments_itself() -> None:
    x = od.nd.array([1.0])
    assert od.nd.ElementWiseSum(x, x, x).asscalar() == 3
    assert od.nd.add_n([x, x]).asscalar() == 2
    symbol = od.sym.add_n(od.sym.var("a"), od.sym.var("b"), od.sym.var("c"))
    executor = symbol.bind(od.cpu(), {"a": x, "b": x, "c": x})
    assert executor.forward()[0].asscalar() == 3


@pytest.mark.walk
@pytest.mark.parametrize("source", ["float16", "float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("target", ["float16", "float32", "float64", "int32", "uint8", "bool"])
def test_cast_changes_the_element_type(source: str, target: str) -> None:
    data = np.array([0, 1, 2.5]).astype(source)
    (out,) = check_forward(registry.get("Cast"), [data], data.astype(target), dtype=target)
    assert out.dtype == target


def test_cast_passes_the_gradient_in_the_argument_type() -> None:
    x = od.nd.array([1.0, 2.0], dtype="float16")
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.cast(x, dtype="float32") * 3
    y.backward()
    assert (x.grad.dtype, x.grad.asnumpy().tolist()) == (np.float16, [3, 3])


def test_shape_and_size_are_arrays_of_integers() -> None:
    data = np.zeros((2, 0, 3), "float32")
    check_forward(registry.get("shape_array"), [data], np.array([2, 0, 3]))
    check_forward(registry.get("size_array"), [data], np.array([0]))
    assert od.nd.shape_array(od.nd.array(data)).dtype == np.int64


def test_block_grad_lets_no_gradient_through() -> None:
    assert registry.get("BlockGrad")().differentiable_inputs() == [False]


def test_make_loss_has_a_gradient_of_one_whatever_comes_from_above() -> None:
    x = od.nd.array([1.0, 2.0])
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.make_loss(x * 3)
    y.backward(od.nd.array([10.0, 20.0]))
    assert x.grad.asnumpy().tolist() == [3, 3]


def test_the_right_array_only_tells_the_left_one_its_shape() -> None:
    op = registry.get("_identity_with_attr_like_rhs")
    lhs, rhs = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3))
    check_forward(op, [lhs, rhs], lhs)
    assert op().infer_shape([None, (2, 3)])[0] == [(2, 3), (2, 3)]
    assert op().differentiable_inputs() == [True, False]
    with pytest.raises(ShapeError):
        op().infer_shape([(2, 3), (3, 2)])


@pytest.mark.parametrize(
    ("alias", "name"), [("_copy", "identity"), ("cast", "Cast"), ("stop_gradient", "BlockGrad")]
)
def test_aliases_are_the_operator(alias: str, name: str) -> None:
    assert registry.get(alias) is registry.get(name)
