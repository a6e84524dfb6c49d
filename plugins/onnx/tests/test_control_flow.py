"""Graphs inside nodes: loops and branches that are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx import parser
from operad.onnx import NeedsValueError

import operad as od
from operad.errors import UnsupportedError
from plugins.onnx.tests.networks import evaluated

X = np.arange(6, dtype="f").reshape(2, 3) / 4
TRUE = "c = Constant<value = bool {1}>()"
COUNT = "m = Constant<value = int64 {4}>()"

MODELS = {
    "a_count": (
        f"""(float[2,3] x) => (float[2,3] y) {{ {TRUE} {COUNT} y = Loop(m, c, x) <body = b
        (int64 i, bool k, float[2,3] s) => (bool k2, float[2,3] s2)
        {{ k2 = Identity(k) f = Cast<to=1>(i) t = Add(s, f) s2 = Tanh(t) }}> }}""",
        {"x": X},
    ),
    "rows_of_every_step": (
        f"""(float[2,3] x) => (float[2,3] y, float[4,2,3] z) {{ {TRUE} {COUNT} y, z = Loop(m, c, x) <body = b
        (int64 i, bool k, float[2,3] s) => (bool k2, float[2,3] s2, float[2,3] o)
        {{ k2 = Identity(k) s2 = Tanh(s) o = Mul(s2, x) }}> }}""",
        {"x": X},
    ),
    "parts_by_the_number_of_the_step": (
        f"""(float[2,3] x) => (float[1,3] y, float[2,1,3] z) {{ {TRUE} m = Constant<value = int64 {{2}}>()
        h = Constant<value = float[1,3] {{1, 2, 3}}>() y, z = Loop(m, c, h) <body = b
        (int64 i, bool k, float[1,3] s) => (bool k2, float[1,3] s2, float[1,3] o) {{ k2 = Identity(k)
        a = Constant<value = int64[1] {{0}}>() one = Constant<value = int64[1] {{1}}>()
        start = Reshape(i, one) end = Add(start, one) r = Slice(x, start, end, a)
        s2 = Mul(r, s) o = Neg(s2) }}> }}""",
        {"x": X},
    ),
    "until_a_condition": (
        f"""(float[2,3] x) => (float[2,3] y) {{ {TRUE} m = Constant<value = int64 {{40}}>()
        y = Loop(m, c, x) <body = b (int64 i, bool k, float[2,3] s) => (bool k2, float[2,3] s2)
        {{ half = Constant<value = float {{0.5}}>() s2 = Mul(s, half)
        t = ReduceSum<keepdims=0>(s2) k2 = Greater(t, half) }}> }}""",
        {"x": X},
    ),
    "a_branch": (
        """(float[2,3] x, bool p) => (float[2,3] y) { y = If(p) <then_branch = a () => (float[2,3] u)
        { u = Exp(x) }, else_branch = e () => (float[2,3] v)
        { w = Constant<value = float {2.0}>() v = Mul(x, w) }> }""",
        {"x": X, "p": np.array(False)},
    ),
    "a_branch_in_a_loop": (
        f"""(float[2,3] x) => (float[2,3] y) {{ {TRUE} {COUNT} y = Loop(m, c, x) <body = b
        (int64 i, bool k, float[2,3] s) => (bool k2, float[2,3] s2) {{ k2 = Identity(k)
        two = Constant<value = int64 {{2}}>() p = Less(i, two)
        s2 = If(p) <then_branch = a () => (float[2,3] u) {{ u = Cos(s) }},
        else_branch = e () => (float[2,3] v) {{ v = Sin(s) }}> }}> }}""",
        {"x": X},
    ),
    "slices_from_both_ends": (
        """(float[3] h, float[2,3] x) => (float[3] y, float[2,3] z) { y, z = Scan(h, x)
        <num_scan_inputs = 1, scan_input_directions = [1], body = b (float[3] s, float[3] r)
        => (float[3] s2, float[3] o) { t = Mul(s, r) s2 = Sin(t) o = Neg(s2) }> }""",
        {"h": np.ones(3, "f"), "x": X},
    ),
    "slices_along_other_axes": (
        """(float[2] h, float[2,3] x, float[3,2,4] v) => (float[2] y, float[2,3] z, float[2,4,3] u)
        { y, z, u = Scan(h, x, v) <num_scan_inputs = 2, scan_input_axes = [1, -3], scan_output_axes = [1, -1],
        scan_output_directions = [1, 0], body = b (float[2] s, float[2] r, float[2,4] m)
        => (float[2] s2, float[2] o, float[2,4] p) { s2 = Sub(r, s) o = Sin(s2) p = Cos(m) }> }""",
        {"h": np.ones(2, "f"), "x": X, "v": np.arange(24, dtype="f").reshape(3, 2, 4) / 9},
    ),
}


def model_of(text: str) -> Any:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}')


@pytest.mark.parametrize("name", MODELS)
def test_graphs_inside_nodes_are_read(name: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    text, arrays = MODELS[name]
    model = model_of(text)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    read = od.onnx.load(model)
    found = evaluated(read.symbol, read.params, {key: arrays[key] for key in read.inputs})
    for got, wanted in zip(found, session.run(None, arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_a_known_condition_leaves_one_branch() -> None:
    text = """(float[2,3] x) => (float[2,3] y) { s = Size(x) six = Constant<value = int64 {6}>()
    p = Equal(s, six) y = If(p) <then_branch = a () => (float[2,3] u) { u = Exp(x) },
    else_branch = e () => (float[2,3] v) { v = Identity(x) }> }"""
    symbol = od.onnx.load(model_of(text)).symbol
    assert [node.op.name for node in symbol.graph.op_nodes] == ["exp"]


def test_rows_whose_number_follows_from_a_condition_are_refused() -> None:
    text = MODELS["rows_of_every_step"][0].replace(
        "k2 = Identity(k)", "t = ReduceSum<keepdims=0>(s) k2 = Greater(t, t)"
    )
    with pytest.raises(UnsupportedError, match=r"Loop.*how many rows"):
        od.onnx.load(model_of(text))


FILLED = """(float[2] x) => (float[2] y, float[3,2] r) { c = Constant<value = bool {1}>()
    m = Constant<value = int64 {3}>() zero = Constant<value = int64[1] {0}>()
    most = Constant<value = int64[1] {3}>() none = Constant<value = float[3,2] {0, 0, 0, 0, 0, 0}>()
    y, z = Loop(m, c, x) <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] s2, float[2] o)
    { half = Constant<value = float {0.5}>() s2 = Mul(s, half) t = ReduceSum<keepdims=0>(s2)
    k2 = Greater(t, half) o = Neg(s2) }> j = Concat<axis=0>(z, none) r = Slice(j, zero, most, zero) }"""


def test_rows_that_are_filled_up_with_zeros_are_those_of_a_loop_here() -> None:
    read = od.onnx.load(model_of(FILLED))
    found = evaluated(read.symbol, read.params, {"x": np.array([1, 0.5], "f")})[1]
    assert found.tolist() == [[-0.5, -0.25], [-0.25, -0.125], [0, 0]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{0, 0, 0, 0, 0, 0}", "{0, 0, 0, 0, 0, 1}"),
        (
            "none = Constant<value = float[3,2] {0, 0, 0, 0, 0, 0}>",
            "none = Constant<value = float[1,2] {0, 0}>",
        ),
        ("most = Constant<value = int64[1] {3}>", "most = Constant<value = int64[1] {4}>"),
        ("Concat<axis=0>(z, none)", "Concat<axis=0>(none, z)"),
        ("r = Slice(j", "q = Neg(z) r = Slice(j"),
    ],
)
def test_rows_that_are_filled_up_otherwise_are_refused(old: str, new: str) -> None:
    assert old in FILLED
    with pytest.raises(UnsupportedError, match=r"Loop.*how many rows"):
        od.onnx.load(model_of(FILLED.replace(old, new)))


def test_rows_that_nothing_reads_may_be_any_number() -> None:
    model = model_of(FILLED)
    del model.graph.node[-2:], model.graph.output[-1]
    model.graph.node[-1].output[1] = ""
    read = od.onnx.load(model)
    assert evaluated(read.symbol, read.params, {"x": np.array([1, 0.5], "f")})[0].tolist() == [0.25, 0.125]


def test_a_count_that_is_an_input_is_asked_for() -> None:
    text = MODELS["a_count"][0].replace("(float[2,3] x)", "(float[2,3] x, int64 m)", 1).replace(COUNT, "")
    with pytest.raises(NeedsValueError, match="'m'"):
        od.onnx.load(model_of(text))
    assert od.onnx.load(model_of(text), values={"m": np.array(2)}).inputs == ["x"]
