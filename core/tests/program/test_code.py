"""Calls of a segment, worked out once for all its runs."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.program.variables import variable
from operad import autograd, nd, sym
from operad.device import cpu
from operad.executor.compiling import compiled as program_of
from operad.graph import OpNode
from operad.ndarray import NDArray
from operad.program import KeptCalls, SegmentCode

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


def kept_chain() -> tuple[KeptCalls, list[np.ndarray]]:
    """Calls of a chain of three operators over four arrays, the first of which is the argument."""
    net = sym.square(sym.tanh(sym.square(sym.var("x"))))
    program = program_of(net.graph, cpu(), {}, {"x": (4,)}, {}, {})
    nodes = program.graph.nodes
    code = SegmentCode(program, [i for i in program.forward if isinstance(nodes[i], OpNode)])
    arrays = [np.full(4, float(number), np.float32) for number in range(len(code.entries))]
    return KeptCalls(code, program.operators(program.forward), False, arrays), arrays


def test_only_calls_of_arrays_that_are_others_are_renewed() -> None:
    kept, arrays = kept_chain()
    before = list(kept.calls)
    kept.exchange([(i, i) for i in range(len(arrays))], arrays)
    assert all(one is other for one, other in zip(kept.calls, before, strict=True))
    kept.exchange([(0, 0)], [arrays[0].copy()])
    changed = [one is not other for one, other in zip(kept.calls, before, strict=True)]
    takes = [any(arg is arrays[0] for arg in call) for call in before]
    assert changed == takes
    assert True in takes
    assert False in takes


def test_exchanged_arrays_are_those_of_the_next_run() -> None:
    kept, arrays = kept_chain()
    for number in (2.0, 3.0, 2.0):
        given = [np.full(4, number, np.float32), *[array.copy() for array in arrays[1:]]]
        kept.exchange([(i, i) for i in range(len(given))], given)
        for function, *args in kept.calls:
            function(*args)
        results = [array for array in given if np.allclose(array, np.tanh(number**2) ** 2)]
        assert results, given
