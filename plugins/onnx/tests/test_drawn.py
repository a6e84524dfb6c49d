"""Operators that draw: onnxruntime draws from the same distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest

import operad as od

pytestmark = pytest.mark.more
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

COUNT = 20_000
S = od.sym
LOW, HIGH = np.array([[0, 2], [5, -3]], "f"), np.array([[1, 4], [9, -1]], "f")
a, b = S.var("a"), S.var("b")

CASES: dict[str, tuple[Any, dict[str, Any], Any, Any]] = {
    "uniform": (
        S.sample_uniform(a, b, shape=(COUNT,)),
        {"a": LOW, "b": HIGH},
        (LOW + HIGH) / 2,
        (HIGH - LOW) / 12**0.5,
    ),
    "normal": (S.sample_normal(a, b, shape=(COUNT,)), {"a": LOW, "b": HIGH**2}, LOW, HIGH**2),
    "exponential": (S.sample_exponential(a, shape=(COUNT,)), {"a": HIGH**2}, HIGH**-2, HIGH**-2),
    "exponential_like": (S._random_exponential_like(a, lam=4), {"a": np.zeros((2, COUNT), "f")}, 0.25, 0.25),
    "randint": (S._random_randint(low=-2, high=3, shape=(2, COUNT)), {}, 0, 2**0.5),
}


def run(symbol: Any, arrays: dict[str, Any]) -> Any:
    model = od.onnx.export(symbol, {}, {name: array.shape for name, array in arrays.items()})
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, arrays)[0]


@pytest.mark.parametrize("name", CASES)
def test_draws_have_the_mean_and_the_deviation_of_the_distribution(name: str) -> None:
    symbol, arrays, mean, deviation = CASES[name]
    found = run(symbol, arrays)
    error = 8 * np.asarray(deviation) / COUNT**0.5
    assert (np.abs(found.mean(-1) - mean) < error).all()
    assert (np.abs(found.std(-1) - deviation) < 3 * error).all()


def test_whole_numbers_are_below_the_end() -> None:
    assert set(np.unique(run(CASES["randint"][0], {}))) == {-2, -1, 0, 1, 2}


def test_a_shuffle_keeps_rows_and_changes_their_order() -> None:
    rows = np.arange(200, dtype="f").reshape(100, 2)
    found = run(S._shuffle(a), {"a": rows})
    assert not np.array_equal(found, rows)
    np.testing.assert_array_equal(found[found[:, 0].argsort()], rows)
