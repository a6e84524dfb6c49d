"""Checking what symbols compute."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, ParamError

tu = od.test_utils
A, B = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
ONES = np.ones((2, 2))


def product() -> Any:
    return od.sym.dot(od.sym.var("x"), od.sym.var("y"), name="dot")


class Half(od.operator.CustomOp):
    """A square whose gradient is half of what it should be."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[0])


@od.operator.register("test_utils_half")
class HalfProp(od.operator.CustomOpProp):
    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Half:
        return Half()


def wrong() -> Any:
    return od.sym.Custom(od.sym.var("x"), op_type="test_utils_half", name="wrong")


@pytest.mark.parametrize("location", [[A, B], {"y": B, "x": A}])
@pytest.mark.parametrize("expected", [[A @ B], {"dot_output": A @ B}])
def test_right_outputs_are_accepted_and_returned(location: Any, expected: Any) -> None:
    (output,) = tu.check_symbolic_forward(product(), location, expected)
    np.testing.assert_array_equal(output.asnumpy(), A @ B)


def test_a_wrong_output_is_named_with_its_place() -> None:
    expected = A @ B
    expected[1, 0] += 1
    with pytest.raises(AssertionError, match=r"largest error at \(1, 0\): FORWARD_dot_output is 43.0"):
        tu.check_symbolic_forward(product(), [A, B], [expected])


def test_types_of_values_may_be_kept() -> None:
    outputs = tu.check_symbolic_forward(product(), [A, B], [A @ B], dtype="asnumpy")
    assert outputs[0].dtype == np.float64


@pytest.mark.parametrize(
    "location", [{"x": A}, [A], {"x": A, "y": B, "z": B}, [A, B, B]], ids=["few", "short", "more", "long"]
)
def test_values_for_other_arguments_are_refused(location: Any) -> None:
    with pytest.raises(ValueError, match="location"):
        tu.check_symbolic_forward(product(), location, [A])


@pytest.mark.parametrize("request_", ["write", "add", {"x": "add", "y": "null"}])
def test_right_gradients_are_accepted_for_every_request(request_: Any) -> None:
    expected = {"x": ONES @ B.T, "y": A.T @ ONES}
    found = tu.check_symbolic_backward(product(), [A, B], [ONES], expected, grad_req=request_)
    assert set(found) == {"x", "y"}


def test_a_wrong_gradient_is_named_with_its_place() -> None:
    with pytest.raises(
        AssertionError, match=r"largest error at \(0, 1\): BACKWARD_x is 15.0, EXPECTED_x is 1"
    ):
        tu.check_symbolic_backward(product(), [A, B], {"dot_output": ONES}, {"x": ONES})


def test_states_are_given_by_name() -> None:
    net = od.sym.BatchNorm(od.sym.var("data"), fix_gamma=False, eps=0.0, name="bn")
    x, ones = np.array([[1.0, 2], [3, 4]]), np.ones(2)
    location = {"data": x, "bn_gamma": ones, "bn_beta": ones}
    states = {"bn_moving_mean": ones, "bn_moving_var": 4 * ones}
    tu.check_symbolic_forward(net, location, [(x - 1) / 2 + 1], aux_states=states)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_right_gradients_equal_differences(dtype: Any) -> None:
    """Also those that rounding of a single precision difference would hide."""
    tu.check_numeric_gradient(product(), [A, B], dtype=dtype)
    tu.check_numeric_gradient(od.sym.tanh(product()) * 100, [A / 9, B / 9], dtype=dtype)
    split = od.sym.split(od.sym.exp(od.sym.var("x")), num_outputs=2)
    tu.check_numeric_gradient(split, {"x": A / 4}, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_wrong_gradient_is_found_by_differences(dtype: Any) -> None:
    with pytest.raises(AssertionError, match=r"NUMERICAL_x is .*, BACKWARD_x is"):
        tu.check_numeric_gradient(wrong(), [A], dtype=dtype)
    x = od.sym.var("x")
    blocked = od.sym.BlockGrad(x) * x
    with pytest.raises(AssertionError, match=r"largest error at \(1, 1\)"):
        tu.check_numeric_gradient(blocked, [np.array([[0, 0], [0, 3.0]])], atol=1e-6)


def test_gradients_to_compare_can_be_chosen() -> None:
    net = od.sym.Custom(od.sym.var("x"), op_type="test_utils_half") + od.sym.tanh(od.sym.var("y"))
    tu.check_numeric_gradient(net, {"x": A, "y": B / 9}, grad_nodes=["y"])
    tu.check_numeric_gradient(net, {"x": A, "y": B / 9}, grad_nodes={"x": "null", "y": "add"})
    with pytest.raises(AssertionError, match="BACKWARD_x"):
        tu.check_numeric_gradient(net, {"x": A, "y": B / 9}, grad_nodes={"x": "add"})
    with pytest.raises(ValueError, match="grad_nodes names 'z'"):
        tu.check_numeric_gradient(net, {"x": A, "y": B}, grad_nodes=["z"])


def test_states_are_as_before_in_every_difference() -> None:
    net = od.sym.BatchNorm(od.sym.var("data"), fix_gamma=False, use_global_stats=True, name="bn")
    ones = np.ones(2)
    states = [ones, 4 * ones]
    tu.check_numeric_gradient(net, [np.random.RandomState(0).normal(size=(3, 2)), ones, ones], states)


def test_a_numeric_gradient_is_that_of_the_sum() -> None:
    executor = od.sym.tanh(od.sym.var("x")).simple_bind(od.cpu(), x=(2,), type_dict={"x": "float64"})
    (found,) = tu.numeric_grad(executor, {"x": np.array([0.1, 0.2])}, dtype=np.float64).values()
    np.testing.assert_allclose(found, 1 - np.tanh([0.1, 0.2]) ** 2, rtol=1e-8)


def contexts(*dtypes: str, shape: Any = (2, 3)) -> Any:
    return [{"ctx": od.cpu(), "x": shape, "type_dict": {"x": dtype}} for dtype in dtypes]


def test_types_that_agree_are_consistent() -> None:
    net = od.sym.tanh(od.sym.var("x"), name="t")
    truth = tu.check_consistency(net, contexts("float16", "float64", "float32"))
    output, grad = truth["t_output"].asnumpy(), truth["x"].asnumpy()
    assert output.dtype == np.float64
    np.testing.assert_allclose(grad, output * (1 - output**2), rtol=1e-12)


def test_devices_that_differ_are_named(caplog: Any) -> None:
    nets = [od.sym.tanh(od.sym.var("x"), name="a"), od.sym.sigmoid(od.sym.var("x"), name="a")]
    both = contexts("float64", "float32")
    with pytest.raises(AssertionError, match=r"a_output on cpu\(0\) float32 \(1\)"):
        tu.check_consistency(nets, both)
    with caplog.at_level(logging.WARNING, "operad.test_utils"):
        tu.check_consistency(nets, both, raise_on_err=False)
    assert "x on cpu(0) float32 (1)" in caplog.text
    with pytest.raises(ArgumentError, match="1 contexts"):
        tu.check_consistency(nets[0], both[:1])


def test_values_and_truth_can_be_given() -> None:
    net = od.sym.square(od.sym.var("x"), name="s")
    given = {"arg_params": {"x": np.full((2, 3), 3.0)}, "grad_req": "null"}
    tu.check_consistency(net, contexts("float32"), ground_truth={"s_output": np.full((2, 3), 9.0)}, **given)
    with pytest.raises(AssertionError, match=r"is 9\.0"):
        tu.check_consistency(net, contexts("float32"), ground_truth={"s_output": np.ones((2, 3))}, **given)


def test_a_symbol_is_run_simply() -> None:
    np.testing.assert_array_equal(tu.simple_forward(od.sym.var("x") * 2, x=np.ones(2)), [2, 2])
    x = od.sym.var("x")
    both = tu.simple_forward(od.sym.Group([x, x + 1]), x=np.ones(1))
    assert [each.tolist() for each in both] == [[1], [2]]


@pytest.mark.parametrize("typ", ["whole", "forward"])
def test_speed_is_a_time(typ: str) -> None:
    assert 0 < tu.check_speed(product(), typ=typ, N=2, x=(2, 2), y=(2, 2)) < 60
    assert 0 < tu.check_speed(product(), location={"x": A, "y": B}, typ=typ, N=2) < 60
    with pytest.raises(ParamError, match="expected 'whole' or 'forward'"):
        tu.check_speed(product(), typ="backward", x=(2, 2), y=(2, 2))


def test_structure_is_operators_and_edges() -> None:
    x = od.sym.var("x")
    assert tu.same_symbol_structure(od.sym.tanh(x), od.sym.tanh(od.sym.var("y"), name="other"))
    assert not tu.same_symbol_structure(od.sym.tanh(x), od.sym.exp(x))


def test_optimizers_are_compared_by_their_updates() -> None:
    sgd = od.optimizer.SGD
    tu.compare_optimizer(sgd(momentum=0.9), sgd(momentum=0.9), (2, 3), "float32")
    tu.compare_optimizer(sgd(), sgd(), [(2,), (3,)], "float32", ntensors=2)
    with pytest.raises(AssertionError, match="differ in"):
        tu.compare_optimizer(sgd(learning_rate=0.1), sgd(learning_rate=0.5), (2, 3), "float32")
    with pytest.raises(ArgumentError, match="expected 'default'"):
        tu.compare_optimizer(sgd(), sgd(), (2,), "float32", w_stype="row_sparse")
