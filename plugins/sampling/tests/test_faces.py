"""`od.random`, `od.nd.random` and `od.sym.random`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError

FAMILIES: dict[str, dict[str, float]] = {
    "uniform": {"low": 0, "high": 1},
    "normal": {"loc": 0, "scale": 1},
    "gamma": {"alpha": 1, "beta": 1},
    "exponential": {"scale": 1},
    "poisson": {"lam": 1},
    "negative_binomial": {"k": 1, "p": 1},
    "generalized_negative_binomial": {"mu": 1, "alpha": 1},
}
every = pytest.mark.parametrize("name", FAMILIES)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    od.random.seed(3)


@every
def test_arguments_come_in_the_order_of_mxnet(name: str) -> None:
    own = FAMILIES[name]
    arrays = inspect.signature(getattr(od.nd.random, name)).parameters
    assert [*arrays] == [*own, "shape", "dtype", "ctx", "out", "named"]
    symbols = inspect.signature(getattr(od.sym.random, name)).parameters
    assert [*symbols] == [*own, "shape", "dtype", "named"]
    for parameters in (arrays, symbols):
        assert {key: parameters[key].default for key in own} == own


@every
def test_one_function_takes_numbers_or_arrays(name: str) -> None:
    function = getattr(od.random, name)
    numbers = function(*FAMILIES[name].values(), shape=(2, 3), dtype="float64")
    assert (numbers.shape, numbers.dtype) == ((2, 3), np.float64)
    arrays = function(*[od.nd.array([value] * 4) for value in FAMILIES[name].values()], shape=(2, 3))
    assert (arrays.shape, arrays.dtype) == ((4, 2, 3), np.float32)
    assert function().shape == (1,)


@every
def test_a_face_draws_what_its_operator_draws(name: str) -> None:
    values = {"scale" if name == "normal" else key: 0.5 if key != "k" else 2 for key in FAMILIES[name]}
    values = dict(zip(FAMILIES[name], [*values.values(), 1], strict=False)) if name == "uniform" else values
    operator = {"lam": 2.0} if name == "exponential" else values
    drawn = getattr(od.nd.random, name)(**values, shape=5).asnumpy()
    od.random.seed(3)
    np.testing.assert_array_equal(drawn, getattr(od.nd, f"_random_{name}")(**operator, shape=5).asnumpy())


def test_the_mean_of_the_exponential_face_is_its_scale() -> None:
    assert od.random.exponential(8, shape=10_000).asnumpy().mean() == pytest.approx(8, abs=6 * 8 / 100)
    arrays = od.random.exponential(od.nd.array([8.0]), shape=10_000)
    assert arrays.asnumpy().mean() == pytest.approx(8, abs=6 * 8 / 100)
    with pytest.raises(ParamError, match="exponential: scale is 0, expected a number above 0"):
        od.random.exponential(0)


def test_an_output_says_shape_and_type() -> None:
    out = od.nd.zeros((3, 4), dtype="float64")
    assert od.random.normal(5, 1, out=out) is out
    assert out.asnumpy().all()
    od.random.normal(od.nd.array([5.0] * 3), od.nd.array([1.0] * 3), out=out)
    assert abs(out.asnumpy() - 5).max() < 8


def test_numbers_are_made_on_the_device_that_is_given() -> None:
    assert od.random.uniform(shape=2, ctx=od.cpu(1)).ctx == od.cpu(1)
    assert od.random.uniform(out=od.nd.zeros(2, ctx=od.cpu(1))).ctx == od.cpu(1)


def test_mixed_parameters_are_refused() -> None:
    with pytest.raises(ParamError, match="normal: scale is 1, expected NDArray, as its other parameters are"):
        od.random.normal(od.nd.array([0.0]), 1)
    with pytest.raises(ParamError, match="normal: scale is 1, expected Symbol, as its other parameters are"):
        od.sym.random.normal(od.sym.var("loc"), 1)


def test_randn_takes_its_shape_as_arguments() -> None:
    assert od.random.randn(2, 3).shape == (2, 3)
    assert od.random.randn().shape == (1,)
    assert od.random.randn(2, loc=od.nd.array([1.0]), scale=od.nd.array([1.0])).shape == (1, 2)
    assert od.sym.random.randn(2, 3).infer_shape()[1] == [(2, 3)]


def test_whole_numbers_classes_and_orders_have_functions_too() -> None:
    assert od.random.randint(0, 10, 5).dtype == np.int32
    assert od.random.multinomial(od.nd.array([[0, 1], [1, 0]])).asnumpy().tolist() == [1, 0]
    assert len(od.random.multinomial(od.nd.array([0.5, 0.5]), get_prob=True)) == 2
    assert sorted(od.random.shuffle(od.nd.arange(4)).asnumpy().tolist()) == [0, 1, 2, 3]
    assert od.nd.random.uniform_like(od.nd.zeros((2, 3))).shape == (2, 3)


def test_symbols_have_the_names_of_mxnet() -> None:
    with od.name.NameManager():
        numbers = od.sym.random.normal(0, 1, shape=2)
        assert numbers.list_outputs() == ["_random_normal0_output"]
        symbols = od.sym.random.uniform(od.sym.var("a"), od.sym.var("b"), name="drawn")
        assert (symbols.list_arguments(), symbols.list_outputs()) == (["a", "b"], ["drawn_output"])
        classes = od.sym.random.multinomial(od.sym.var("a"))
        assert [name[-7:] for name in classes.list_outputs()] == ["output0", "output1"]


@pytest.mark.parametrize("face", [od.random, od.nd.random, od.sym.random])
def test_a_name_that_is_not_there_is_an_attribute_error(face: Any) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'unifrom'"):
        _ = face.unifrom


def test_bool_probabilities_are_refused() -> None:
    with pytest.raises(DTypeError, match="data is bool, expected a floating type"):
        od.random.multinomial(od.nd.array([True, False], dtype="bool"))
