"""Whether a call is accepted, and what it gives, does not depend on the calls before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import OperadError
from operad_sdk import OperatorProperty, operator, param


class Whole(int):
    """A class of integers of its own."""


EQUAL_TO_ONE = [
    1.0, 1, True, np.float64(1), np.float32(1), np.int64(1), np.bool_(True), Whole(1), Fraction(1),
    Decimal(1), 1 + 0j, np.array(1.0), np.array([1.0]), "1", "1.0", "True", b"1", None, [1], (1,), (1.0,),
    (True,), (np.int64(1),), (Fraction(1),), "(1,)", "float32", np.float32, np.dtype("float32"), 0.0, -0.0, 0,
    False,
]  # fmt: skip
KINDS: dict[str, Any] = {
    "run-time float": lambda: param(float, 0.5, run_time=True),
    "bounded run-time float": lambda: param(float, 0.5, ge=0.25, run_time=True),
    "run-time int": lambda: param(int, 5, run_time=True),
    "float": lambda: param(float, 0.5),
    "optional float": lambda: param(float, None),
    "int": lambda: param(int, 5),
    "bool": lambda: param(bool, False),
    "str": lambda: param(str, "text"),
    "shape": lambda: param("shape", (5,)),
    "indices": lambda: param("indices", (5,)),
    "floats": lambda: param("floats", (5.0,)),
    "dtype": lambda: param("dtype", "int8"),
}
_numbers = count()


@contextmanager
def registered(kind: str) -> Iterator[str]:
    """An operator, new to every cache, with a parameter `value` of that kind; it gives the value's text."""
    name = f"test_accepting_{next(_numbers)}"

    class Accepting(OperatorProperty):
        value = KINDS[kind]()
        spec = "data:(N) -> output:(N)"

        def forward(data: Any, value: Any) -> Any:
            return np.resize(np.frombuffer(repr(value).encode(), np.uint8).astype(data.dtype), data.shape)

    od.registry.register(operator(name)(Accepting))
    try:
        yield name
    finally:
        od.registry.unregister(name)


def imperative(name: str, value: Any) -> Any:
    return getattr(od.nd, name)(od.nd.zeros(24), value=value).asnumpy().tolist()


def symbolic(name: str, value: Any) -> Any:
    return getattr(od.sym, name)(od.sym.var("x"), value=value).eval(x=od.nd.zeros(24))[0].asnumpy().tolist()


def outcome(call: Any, name: str, value: Any) -> Any:
    try:
        return call(name, value)
    except (OperadError, TypeError) as error:
        return type(error).__name__


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", [imperative, symbolic])
def test_of_a_value_does_not_depend_on_equal_values_before(call: Any, kind: str) -> None:
    fresh = []
    for value in EQUAL_TO_ONE:
        with registered(kind) as name:
            fresh.append(outcome(call, name, value))
    assert any(isinstance(found, list) for found in fresh)
    assert any(isinstance(found, str) for found in fresh)
    for step in (1, -1):
        with registered(kind) as name:
            for value in EQUAL_TO_ONE:
                outcome(call, name, value)
            found = [outcome(call, name, value) for value in EQUAL_TO_ONE[::step]]
        assert found == fresh[::step]
