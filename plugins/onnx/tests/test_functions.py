"""Operators that are defined by others: by functions of a model, and by the standard."""

from __future__ import annotations

from typing import Any

import numpy as np
import operad.onnx
import pytest
from onnx import TensorProto, helper, parser

import operad as od
from operad.errors import FormatError, LimitError, UnsupportedError
from operad_onnx.coverage import not_read
from plugins.onnx.tests.networks import evaluated
from plugins.onnx.tests.test_load import model_of

X = np.array([[-1, 0.5, 2]], "f")
HEAD = '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> g (float[1,3] x) => (float[1,3] y)'
FUNCTION = '<opset_import: ["" : 17], domain: "acme">'
SCALED = f"""{HEAD}
    {{ k = Constant<value = float {{5}}>() a = acme.scaled<by = 3.0>(x) y = acme.scaled(a, k) }}
    {FUNCTION} scaled <by: float = 2.0> (v, shift) => (r)
    {{ k = Constant<value_float: float = @by>() p = Mul(v, k) s = acme.optional(shift, p) r = Neg(s) }}
    {FUNCTION} optional (v, w) => (r) {{ r = Sum(w) }}"""


def loaded(text: str) -> od.onnx.Model:
    return od.onnx.load(parser.parse_model(text))


def values(model: Any, **arrays: Any) -> list[Any]:
    return evaluated(model.symbol, model.params, arrays or {"x": X})


def test_functions_of_a_model_are_read_with_the_attributes_and_defaults_of_each_call() -> None:
    (found,) = values(loaded(SCALED))
    np.testing.assert_allclose(found, X * 3 * 2, rtol=1e-6)


def test_constants_of_one_name_in_two_graphs_are_two() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[1,3] x, bool p) => (float[1,3] y) {
    y = If(p) <then_branch = a () => (float[1,3] u) { w = Constant<value = float {2.0}>() u = Mul(x, w) },
    else_branch = e () => (float[1,3] v) { w = Constant<value = float {3.0}>() v = Mul(x, w) }> }"""
    model = loaded(text)
    for side, factor in ((True, 2), (False, 3)):
        np.testing.assert_array_equal(values(model, x=X, p=np.array(side))[0], X * factor)


def test_a_function_that_calls_itself_is_refused() -> None:
    with pytest.raises(FormatError, match=r"nested 33 deep at 'f', expected 32"):
        loaded(f"{HEAD} {{ y = acme.f(x) }} {FUNCTION} f (v) => (r) {{ r = acme.f(v) }}")


def test_functions_of_exponentially_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operad_onnx.functions._MOST_NODES", 100)
    pairs = [f"{FUNCTION} f{i} (v) => (r) {{ a = acme.f{i + 1}(v) r = acme.f{i + 1}(a) }}" for i in range(8)]
    with pytest.raises(LimitError, match="more than 100 nodes"):
        loaded("\n".join([HEAD, "{ y = acme.f0(x) }", *pairs, FUNCTION, "f8 (v) => (r) { r = Neg(v) }"]))


def test_what_a_function_cannot_do_names_caller_and_node() -> None:
    with pytest.raises(UnsupportedError, match=r"node 'y' \(f\): node 'r' \(NonZero\)"):
        loaded(f"{HEAD} {{ y = acme.f(x) }} {FUNCTION} f (v) => (r) {{ r = NonZero(v) }}")


@pytest.mark.more
def test_operators_that_the_standard_defines_need_no_rule() -> None:
    rng = np.random.default_rng(0)
    shape = (1, 2, 3, 4)
    arrays = {name: rng.standard_normal(shape).astype("f") for name in "xkv"}
    inputs = dict.fromkeys("kv", (TensorProto.FLOAT, shape))
    node = helper.make_node("Attention", ["x", "k", "v"], ["y"], is_causal=1)
    model = model_of(node, x=shape, inputs=inputs, opset=23)
    assert not not_read(model)
    (found,) = values(od.onnx.load(model), **arrays)
    scores = arrays["x"] @ arrays["k"].swapaxes(2, 3) / 2 + np.triu(np.full((3, 3), -np.inf), 1)
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(found, shares @ arrays["v"], rtol=1e-5)


@pytest.mark.more
def test_what_the_standard_defines_by_operators_without_a_rule_is_named() -> None:
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
    model = model_of(node)
    assert [row.operator for row in not_read(model)] == ["DynamicQuantizeLinear"]
    with pytest.raises(UnsupportedError, match=r"\(DynamicQuantizeLinear\).*QuantizeLinear"):
        od.onnx.load(model)
