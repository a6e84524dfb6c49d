from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import DTypeError, ParamError
from operad_activation import Activation
from operad_check.testing import check_forward, gradient_check
from operator_sdk.check.tests.halves import assert_gradients_near_in_half

POINTS = np.array([[-30, -2.5, -1, -0.1], [0.2, 1, 3.5, 40]])

REFERENCES: dict[str, Callable[[Any], Any]] = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softrelu": lambda x: np.logaddexp(x, 0),
    "softsign": lambda x: x / (1 + abs(x)),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("act_type", REFERENCES)
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-14), ("float32", 5e-7), ("float16", 1e-3)])
def test_values(act_type: str, dtype: str, rtol: float) -> None:
    data = POINTS.astype(dtype)
    (output,) = check_forward(
        Activation,
        [data],
        REFERENCES[act_type](data.astype("float64")),
        rtol=rtol,
        atol=1e-7,
        act_type=act_type,
    )
    assert output.dtype == dtype


@pytest.mark.parametrize("act_type", REFERENCES)
def test_gradients(act_type: str) -> None:
    gradient_check(Activation, [POINTS[:, 1:3]], act_type=act_type)
    gradient_check(Activation, [np.zeros((0, 3))], act_type=act_type)


@pytest.mark.parametrize("act_type", REFERENCES)
def test_nothing_overflows_and_nan_passes_through(act_type: str) -> None:
    data = np.array([-np.inf, -1000, 1000, np.nan], np.float32)
    expected = {
        "relu": [0, 0, 1000, np.nan],
        "sigmoid": [0, 0, 1, np.nan],
        "softrelu": [0, 0, 1000, np.nan],
        "softsign": [np.nan, -1000 / 1001, 1000 / 1001, np.nan],
        "tanh": [-1, -1, 1, np.nan],
    }[act_type]
    with np.errstate(invalid="ignore"):
        check_forward(Activation, [data], np.array(expected), act_type=act_type)


@pytest.mark.parametrize("act_type", [name for name in REFERENCES if name != "softsign"])
def test_the_gradient_reads_the_output_alone(act_type: str) -> None:
    reads = Activation(act_type=act_type).backward_dependency([True])
    assert [(entry.kind, entry.index) for entry in reads] == [("out_grad", 0), ("out_data", 0)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of infinite and undefined results
def test_softsign_is_flat_at_infinity() -> None:
    x = od.nd.array([np.inf, -np.inf, 1.0])
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.Activation(x, act_type="softsign")
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0, 0.25])


def test_the_slope_of_relu_at_zero_is_zero() -> None:
    gradient_check(Activation, [np.zeros(3)], [np.zeros(3)], act_type="relu")


def test_whole_numbers_are_refused() -> None:
    with pytest.raises(DTypeError, match="data is int32, expected a floating type; cast with astype"):
        Activation(act_type="relu").infer_type([np.dtype("int32")])


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(ParamError, match="act_type"):
        Activation(act_type="swish")


@pytest.mark.parametrize("act_type", REFERENCES)
def test_runs_imperatively_and_symbolically(act_type: str) -> None:
    data = od.nd.array(POINTS[:, ::2])
    eager = od.nd.Activation(data, act_type=act_type)
    symbol = od.sym.Activation(od.sym.var("data"), act_type=act_type)
    bound = symbol.bind(od.cpu(), {"data": data})
    np.testing.assert_array_equal(bound.forward()[0].asnumpy(), eager.asnumpy())


@pytest.mark.parametrize("act_type", REFERENCES)
def test_gradients_in_half_precision_are_near_those_in_single_precision(act_type: str) -> None:
    assert_gradients_near_in_half(partial(od.nd.Activation, act_type=act_type), [POINTS])
