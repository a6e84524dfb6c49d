"""Kinds of calls, what they return, what is kept of them, and what is said of it."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import A, B, variable
from core.tests.together import run_together
from operad import autograd, config, nd, registry
from operad.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("operators")


@od.compile
def doubled(x):
    """Twice the array."""
    return x * 2


class Pair(NamedTuple):
    first: object
    second: object


def test_it_looks_like_the_function() -> None:
    assert (doubled.__name__, doubled.__doc__) == ("doubled", "Twice the array.")


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: [x * 2, (y, {"sum": x + y, "text": "abc"}), None],
        lambda x, y: Pair(x + y, y),
        lambda x, y: (),
        lambda x, y: {"again": [x, x]},
    ],
)
def test_results_have_the_structure_that_the_function_returns(function) -> None:
    def plain(value):
        if isinstance(value, od.NDArray):
            return value.asnumpy().tolist()
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items()}
        return type(value), [plain(each) for each in value] if isinstance(value, (list, tuple)) else value

    arrays = nd.array(A), nd.array(B)
    assert plain(od.compile(function)(*arrays)) == plain(function(*arrays))


def test_what_is_returned_as_it_came_is_the_array_itself() -> None:
    x, captured = nd.array(A), nd.array(B)
    one, two, three, four = od.compile(lambda x: (x, captured, (y := x * 2), y))(x)
    assert one is x
    assert two is captured
    assert three is four


def test_arguments_may_be_nested_and_named() -> None:
    compiled = od.compile(
        lambda pair, *, scale, bias=None: pair["x"] * scale[0] + (0 if bias is None else bias)
    )
    found = compiled({"x": nd.array(A)}, scale=[nd.array(B)])
    np.testing.assert_array_equal(found.asnumpy(), A * B)
    found = compiled({"x": nd.array(A)}, scale=[nd.array(B)], bias=nd.array(B))
    np.testing.assert_array_equal(found.asnumpy(), A * B + B)


def test_a_kind_of_call_is_traced_once_and_the_report_says_why() -> None:
    compiled = od.compile(lambda x, flag: x * 2 if flag else x * 3)
    for _ in range(2):
        compiled(nd.array(A), True)
        compiled(nd.array(A), False)
        compiled(nd.array([A]), False)
        with autograd.train_mode():
            compiled(nd.array([A]), False)
    traced = [line for line in compiled.why().splitlines() if line.startswith("traced")]
    reasons = "first call", "structure or constants", "array 0 is float32(1, 3)", "mode"
    assert len(traced) == len(reasons)
    assert all(reason in line for reason, line in zip(reasons, traced, strict=True))


def test_a_program_is_compiled_for_each_set_of_gradients() -> None:
    weight = nd.array(B)
    compiled = od.compile(lambda x: x * weight)
    for each in (nd.array(A), variable(A), variable(A)):
        with autograd.record():
            compiled(each)
    weight.attach_grad()
    with autograd.record():
        compiled(variable(A))
    lines = [line for line in compiled.why().splitlines() if line.startswith("compiled")]
    wanted = [line.rpartition("gradients of ")[2] for line in lines]
    assert wanted == ["nothing", "input0", "input0, input1"]


def test_what_is_installed_is_followed() -> None:
    compiled = od.compile(lambda x: nd.chosen(x))
    for name, expected in (("square", A * A), ("sign", np.sign(A))):
        registry.register(registry.get(name), "chosen")
        try:
            np.testing.assert_array_equal(compiled(nd.array(A)).asnumpy(), expected)
        finally:
            registry.unregister("chosen")
    assert "what is installed" in compiled.why()


def test_settings_are_followed() -> None:
    compiled = od.compile(lambda x: x * 2)
    compiled(nd.array(A))
    config.reload()
    compiled(nd.array(A))
    assert "settings" in compiled.why().splitlines()[-1 - 1] + compiled.why().splitlines()[-1]


def test_the_context_of_the_thread_counts() -> None:
    compiled = od.compile(lambda: nd.array([1, 2]) * 2)
    assert compiled().context == od.cpu(0)
    with od.cpu(1):
        assert compiled().context == od.cpu(1)


def test_kinds_of_calls_are_bounded(monkeypatch) -> None:
    monkeypatch.setattr("operad.compiled.function._MOST_KEPT", 3)
    compiled = od.compile(lambda x, n: x * n)
    for number in (*range(5), 0):
        np.testing.assert_array_equal(compiled(nd.array(A), number).asnumpy(), A * number)
    assert len(compiled.why().splitlines()) <= 4


def test_arguments_that_cannot_be_a_key_are_named() -> None:
    with pytest.raises(ArgumentError, match="neither an array nor hashable"):
        doubled(A)


def test_a_method_is_compiled_for_each_instance() -> None:
    class Layer:
        def __init__(self, scale):
            self.scale = nd.array(scale)

        @od.compile
        def run(self, x):
            return x * self.scale

    one, two = Layer(A), Layer(B)
    np.testing.assert_array_equal(one.run(nd.array(A)).asnumpy(), A * A)
    np.testing.assert_array_equal(two.run(nd.array(A)).asnumpy(), A * B)


def test_inside_another_one_it_is_part_of_that() -> None:
    outer = od.compile(lambda x: doubled(x) + 1)
    np.testing.assert_array_equal(outer(nd.array(A)).asnumpy(), A * 2 + 1)
    assert "2 calls" in outer.why()


def test_it_is_pickled_by_name_and_copied() -> None:
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    other = copy.deepcopy(od.compile(_squared))
    np.testing.assert_array_equal(other(nd.array(A)).asnumpy(), A * A)
    again = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(again(nd.array(A)).asnumpy(), A * A)


def _squared(x):
    return nd.square(x)


def test_it_dies_with_its_last_reference() -> None:
    weight = nd.array(B)
    compiled = od.compile(lambda x: x * weight)
    compiled(nd.array(A))
    seen = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert seen() is None


def test_threads_may_call_it(two_threads) -> None:
    compiled, wrong = od.compile(lambda x, n: nd.square(x * n) - x), []

    def work(seed):
        for number in range(30):
            x, rate = nd.array(A + seed), float(number % 3)
            with autograd.record(bool(number % 2)):
                found = compiled(x, rate).asnumpy()
            if (found != (nd.square(x * rate) - x).asnumpy()).any():
                wrong.append(number)

    run_together(work, range(3))
    assert wrong == []


def test_options_may_come_before_the_function() -> None:
    @od.compile(create_graph=True)
    def tripled(x):
        return x * 3

    np.testing.assert_array_equal(tripled(nd.array(A)).asnumpy(), A * 3)
