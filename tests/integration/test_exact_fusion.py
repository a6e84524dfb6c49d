"""`OPERAD_FUSION=exact`: no bit of any operator changes, nor the sign of a zero."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import registry, sym
from operad.graph import Entry, Variable
from operad.operator import OperatorProperty
from operad.symbol import Symbol
from operad.symbol.compose import apply
from operad_sdk.form_kernels import EXACT
from tools.scalar_forms import SHAPE, has_same_shapes, variants

ROWS = (16, 64)
_VALUES = 16
"""Variants of an operator that are tried at most: the first values of each of its parameters."""


def fused() -> Iterator[tuple[str, OperatorProperty, np.dtype[Any]]]:
    """Operators that draw nothing, some part of which has only instructions that are exact."""
    for name in registry.list_operators(aliases=False):
        for changed, prop in islice(variants(name), _VALUES):
            count = len(prop.list_arguments())
            for dtype in (np.dtype("float32"), np.dtype("float64")):
                types = [dtype] * count
                if not count or prop.list_auxiliary_states() or prop.forward_resource([ROWS] * count):
                    continue
                if not has_same_shapes(prop, [SHAPE] * count, types):
                    continue
                forms = [prop.scalar_form(part, [ROWS] * count, types) for part in prop.list_parts()]
                ops = [{step.op for step in form.instructions} for form in forms if not isinstance(form, str)]
                if any(each <= EXACT for each in ops):
                    yield f"{name} {changed} {dtype}", prop, dtype


def arguments(rng: np.random.Generator, dtype: np.dtype[Any]) -> Any:
    """Numbers of all sizes, and those at which branches turn."""
    found = rng.normal(size=ROWS) * 10.0 ** rng.integers(-3, 4, ROWS)
    found.flat[:12] = [0, -0.0, 1, -1, 0.5, -0.5, 2, -2, np.inf, -np.inf, np.nan, 1e-40]
    return found.astype(dtype)


def results(symbol: Symbol, values: dict[str, Any], head: Any, dtype: str) -> list[Any]:
    executor = symbol.simple_bind(
        od.cpu(), grad_req="write", type_dict=dict.fromkeys(values, dtype), **dict.fromkeys(values, ROWS)
    )
    given = {name: od.nd.array(value, dtype=dtype) for name, value in values.items()}
    made = executor.forward(is_train=True, **given)[0].asnumpy()
    executor.backward(od.nd.array(head, dtype=dtype))
    return [made, *[grad.asnumpy() for grad in executor.grad_arrays if grad is not None]]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_bit_of_any_operator_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, failures, rng = 0, [], np.random.default_rng(11)
    for label, prop, dtype in fused():
        names = {name: f"v{i}" for i, name in enumerate(prop.list_arguments())}
        node = apply(prop, {name: Entry(Variable(v)) for name, v in names.items()}, name="op")
        # two nodes that change no bit, so that there is a cluster
        symbol = sym.negative(sym.negative(Symbol([Entry(node, 0)])))
        values, head = {v: arguments(rng, dtype) for v in names.values()}, arguments(rng, dtype)
        both = []
        for mode in ("exact", "off"):
            monkeypatch.setenv("OPERAD_FUSION", mode)
            both.append(results(symbol, values, head, str(dtype)))
        for number, (found, expected) in enumerate(zip(*both, strict=True)):
            same = (found == expected) & (np.signbit(found) == np.signbit(expected))
            same |= np.isnan(found) & np.isnan(expected)
            if not same.all():
                failures.append(
                    f"{label}: {'gradient' if number else 'output'}, {int((~same).sum())} elements"
                )
        compared += 1
    assert not failures, "\n".join(failures)
    assert compared > 400
