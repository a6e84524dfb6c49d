"""One compiled function for arrays of several contexts, and under several settings: a plan for each."""

from __future__ import annotations

import random
from threading import Thread
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import autograd, config, nd
from operad.context import Context
from operad.errors import ContextError

pytestmark = pytest.mark.usefixtures("operators")

CONTEXTS = (od.cpu(0), od.cpu(1), od.cpu_pinned(0))


def compiled() -> Any:
    return od.compile(lambda x, w, rate: (nd.tanh(x * w) * rate, nd.sum(x)))


def values(seed: int, rows: int = 3) -> list[np.ndarray]:
    return list(np.random.default_rng(seed).uniform(-1, 1, (2, rows, 4)).astype(np.float32))


def expected(x: np.ndarray, w: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Results, and the gradient of `w`."""
    found = np.tanh(x * w)
    return found * np.float32(rate), np.float32(rate) * (1 - found * found) * x


def check(function: Any, ctx: Context, seed: int, rate: float, rows: int = 3) -> None:
    """Call it with arrays of a context, and differentiate."""
    x, w = values(seed, rows)
    weight = nd.array(w, ctx=ctx)
    weight.attach_grad()
    with autograd.record():
        out, total = function(nd.array(x, ctx=ctx), weight, rate)
    out.backward()
    assert {array.context for array in (out, total, weight.grad)} == {ctx}
    for array, right in zip((out, weight.grad), expected(x, w, rate), strict=True):
        np.testing.assert_allclose(array.asnumpy(), right, rtol=1e-5, atol=1e-6)


def count(function: Any, word: str) -> int:
    return sum(line.startswith(word) for line in function.why().splitlines())


def test_contexts_by_turns_are_traced_once_each() -> None:
    function = compiled()
    for number in range(9):
        check(function, CONTEXTS[number % 3], number, rate=1.0 + number)
    assert (count(function, "traced"), count(function, "compiled")) == (3, 3)


def test_kinds_of_one_context_do_not_put_out_those_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operad.compiled.function._MOST_KEPT", 3)
    function = compiled()
    function._lines = []  # of which there would be three
    check(function, od.cpu(1), 0, 2.0)
    for rows in range(1, 8):
        check(function, od.cpu(0), 0, 2.0, rows)
    before = count(function, "traced")
    check(function, od.cpu(1), 1, 2.0)
    assert count(function, "traced") == before


def test_live_forwards_of_two_contexts_are_apart() -> None:
    function, found = compiled(), []
    for number, ctx in enumerate(CONTEXTS[:2] * 2):
        x, w = values(number)
        weight = nd.array(w, ctx=ctx)
        weight.attach_grad()
        with autograd.record():
            found.append((function(nd.array(x, ctx=ctx), weight, 0.5)[0], weight, expected(x, w, 0.5)))
    for out, weight, (right, slope) in reversed(found):
        out.backward()
        np.testing.assert_allclose(out.asnumpy(), right, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(weight.grad.asnumpy(), slope, rtol=1e-5, atol=1e-6)


def test_threads_on_several_contexts_get_their_own_results() -> None:
    function, failures = compiled(), list[Exception]()

    def work(number: int) -> None:
        draw = random.Random(number)
        try:
            for _ in range(15):
                check(function, draw.choice(CONTEXTS), draw.randrange(99), draw.random(), draw.randint(1, 3))
        except Exception as error:  # noqa: BLE001 - the test shows it
            failures.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_captured_array_serves_its_own_context_alone() -> None:
    weight = nd.array(values(0)[1], ctx=od.cpu(1))
    function = od.compile(lambda x: x * weight)
    for _ in range(2):
        with pytest.raises(ContextError, match=r"rhs is on cpu\(1\)"):
            function(nd.array(values(0)[0]))
        x = values(1)[0]
        got = function(nd.array(x, ctx=od.cpu(1))).asnumpy()
        np.testing.assert_allclose(got, x * values(0)[1], rtol=1e-6)


def test_a_setting_of_a_plugin_is_followed_and_each_value_keeps_its_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As an executor that is bound under the setting."""
    monkeypatch.setattr("operad.registry.entry_names", lambda group: ["OPERAD_KV_OWN"])
    monkeypatch.setattr("operad.compiled.function._installed", {})
    function = compiled()
    for number in range(6):
        monkeypatch.setenv("OPERAD_KV_OWN", "on" if number % 2 else "off")
        check(function, CONTEXTS[number % 3 > 1], number, 1.5)
    assert count(function, "traced") == 4
    assert "what is installed or its settings" in function.why()


def test_other_variables_mean_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    function = compiled()
    for number in range(3):
        monkeypatch.setenv("ANOTHER", str(number))
        check(function, od.cpu(0), number, 1.5)
    assert count(function, "traced") == 1
    assert config.settings() is config.settings()
