"""Calls of a segment, worked out once for all its runs."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.program.variables import variable
from operad import autograd, nd
from operad.ndarray import NDArray
from operad.program import SegmentCode

pytestmark = pytest.mark.usefixtures("operators")


def step(x: NDArray, factor: float, train_mode: bool = True) -> np.ndarray:
    with autograd.record(train_mode):
        y = nd.square(x * factor)
    y.backward(train_mode=train_mode)
    return x.grad.asnumpy()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The mode of each compilation, in order."""
    found: list[bool] = []
    compile_calls = SegmentCode._compile

    def noted(self: SegmentCode, operators: object, is_train: bool) -> object:
        found.append(is_train)
        return compile_calls(self, operators, is_train)

    monkeypatch.setattr(SegmentCode, "_compile", noted)
    return found


def test_a_repeated_tape_asks_no_operator_again(compiled: list[bool]) -> None:
    x = variable([1.0, 2, 3, 4, 5])
    step(x, 3.0)
    compiled.clear()
    x[:] = 2
    np.testing.assert_array_equal(step(x, 3.0), np.full(5, 2 * 9 * 2))
    assert compiled == []


def test_other_values_of_run_time_parameters_get_gradients_of_their_own(compiled: list[bool]) -> None:
    x = variable([1.0, 2, 3, 4])
    found = [step(x, factor) for factor in (3.0, 5.0, 3.0)]
    np.testing.assert_array_equal(found, [2 * k * k * np.arange(1, 5) for k in (3, 5, 3)])


def test_each_mode_has_its_calls(compiled: list[bool]) -> None:
    x = variable([1.0, 2, 3, 4, 5, 6])
    step(x, 3.0, train_mode=True)
    step(x, 3.0, train_mode=False)
    assert compiled == [True, False]
