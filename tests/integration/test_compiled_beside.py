"""Programs that stand side by side: of several contexts, and under several values of a setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd, nd, sym
from operad.executor import compiling
from operator_sdk.sdk.tests.vector_code import require_vector_code

pytestmark = pytest.mark.more

ROWS, COLUMNS, HIDDEN = 24, 32, 16
NAMES = ("x", "w", "b")
SHAPES = ((ROWS, COLUMNS), (HIDDEN, COLUMNS), (HIDDEN,))
MODES = ("on", "off", "exact", "on", "off", "exact")


def network(f: Any, x: Any, w: Any, b: Any) -> Any:
    """A layer, and functions of elements that fusion makes one node of."""
    hidden = f.FullyConnected(x, w, b, num_hidden=HIDDEN)
    return f.tanh(hidden) * f.sigmoid(hidden) + f.exp(hidden * 0.5)


def eager(*arrays: Any) -> Any:
    """The network by calls."""
    return network(nd, *arrays)


def of_symbol() -> Callable[..., Any]:
    """The network as a symbol's function."""
    return nd.CachedOp(network(sym, *map(sym.var, NAMES)))  # type: ignore[no-any-return]


def of_function() -> Callable[..., Any]:
    """The network as a compiled function."""
    return od.compile(eager)  # type: ignore[no-any-return]


WAYS = pytest.mark.parametrize("way", [of_symbol, of_function])


def arrays_on(ctx: Any, seed: int) -> list[Any]:
    """Arguments with gradients."""
    rng = np.random.default_rng(seed)
    found = [nd.array(rng.normal(size=shape) * 0.3, ctx) for shape in SHAPES]
    for each in found:
        each.attach_grad()
    return found


def bits(arrays: list[Any]) -> list[bytes]:
    """Those of all values."""
    return [each.asnumpy().tobytes() for each in arrays]


def passed(function: Callable[..., Any], seed: int = 0) -> list[bytes]:
    """Bits of the result and of all gradients."""
    arrays = arrays_on(od.cpu(), seed)
    with autograd.record():
        found = function(*arrays)
    found.backward()
    return bits([found, *[each.grad for each in arrays]])


@WAYS
def test_contexts_have_programs_side_by_side(way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERAD_FUSION", "exact")
    monkeypatch.setenv("OPERAD_HOISTING", "off")
    function = way()
    for turn in range(3):
        every = [arrays_on(ctx, 10 * turn + ctx.device_id) for ctx in (od.cpu(0), od.cpu(1), od.cpu(0))]
        # All forwards are alive before the first gradient.
        with autograd.record():
            found = [function(*arrays) for arrays in every]
            for result, arrays in zip(found, every, strict=True):
                assert result.context == arrays[0].context
        for result in reversed(found):
            result.backward()
        for result, arrays in zip(found, every, strict=True):
            ctx = arrays[0].context
            beside = arrays_on(ctx, 10 * turn + ctx.device_id)
            with autograd.record():
                expected = eager(*beside)
            expected.backward()
            assert [each.grad.context for each in arrays] == [ctx] * len(arrays)
            assert bits([result, *[each.grad for each in arrays]]) == bits(
                [expected, *[each.grad for each in beside]]
            )
    if way is of_function:
        assert function.why().count("traced") == 2


@WAYS
def test_a_setting_that_changes_fusion_counts_at_each_call(way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    require_vector_code()
    right: dict[str, list[bytes]] = {}
    for mode in {*MODES}:
        monkeypatch.setenv("OPERAD_FUSION", mode)
        compiling._graphs.clear()
        right[mode] = passed(way())
    assert right["on"] != right["off"]  # else nothing here tells them apart
    function = way()
    for mode in MODES:
        monkeypatch.setenv("OPERAD_FUSION", mode)
        assert passed(function) == right[mode], mode


def test_a_setting_that_changes_fusion_counts_at_each_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    require_vector_code()
    symbol = network(sym, *map(sym.var, NAMES))

    def bound() -> tuple[list[str], list[bytes]]:
        arrays = arrays_on(od.cpu(), 0)
        grads = [nd.zeros(each.shape) for each in arrays]
        executor = symbol.bind(od.cpu(), dict(zip(NAMES, arrays, strict=True)), args_grad=grads)
        (found,) = executor.forward(is_train=True)
        executor.backward(nd.ones(found.shape))
        names = [node.name for node in executor.program.graph.op_nodes]
        return names, bits([found, *grads])

    right = {}
    for mode in {*MODES}:
        monkeypatch.setenv("OPERAD_FUSION", mode)
        compiling._graphs.clear()
        right[mode] = bound()
    assert len(right["on"][0]) < len(right["off"][0])
    for mode in MODES:
        monkeypatch.setenv("OPERAD_FUSION", mode)
        assert bound() == right[mode], mode
