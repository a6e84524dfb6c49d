"""Loops and branches as ONNX nodes: onnxruntime computes the same, and so does what is read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import onnx
import operad.onnx
import pytest

import operad as od
from operad.errors import UnsupportedError
from plugins.onnx.tests.networks import evaluated

S, C = od.sym, od.sym.contrib
x, h, w, u, n = (S.var(name) for name in ("x", "h", "w", "u", "n"))

OPSETS = (17, min(od.onnx.newest_opset(), 23))


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype("f")


class Case(NamedTuple):
    """A symbol, parameters, shapes of its inputs, and values of these for some runs."""

    symbol: od.Symbol
    params: Mapping[str, Any]
    shapes: Mapping[str, Any]
    runs: list[dict[str, Any]]
    fixed: bool = False


def recurrent() -> Case:
    """A network over sequences, of any length and number."""

    def step(row: Any, state: Any) -> Any:
        state = S.tanh(S.dot(row, w) + S.dot(state, u), name="cell")
        return state, state

    outputs, last = C.foreach(step, x, h, name="rnn")
    runs = [{"x": draw(t, b, 3), "h": draw(b, 4, seed=1)} for t, b in ((5, 2), (1, 7))]
    params = {"w": draw(3, 4), "u": draw(4, 4)}
    return Case(S.Group([outputs, last]), params, {"x": ("T", "N", 3), "h": ("N", 4)}, runs)


def numbers() -> Case:
    """Slices of one element, which have an axis here and none in ONNX."""
    outputs, last = C.foreach(lambda row, state: (row * state, state + row), x, h)
    return Case(S.Group([outputs, last]), {}, {"x": ("T",), "h": (1,)}, [{"x": draw(6), "h": draw(1)}])


def states_alone() -> Case:
    """No outputs of steps, and a state that two inputs make."""
    _, last = C.foreach(lambda row, states: ([], [states[1], states[0] + row]), x, [h, w])
    given = {"x": draw(4, 3), "h": draw(3), "w": draw(3, seed=1)}
    return Case(S.Group(last), {}, {name: array.shape for name, array in given.items()}, [given])


def powers(most: int = 6) -> Case:
    """A loop until a sum is reached: before the first step, in the middle, and never."""
    outputs, last = C.while_loop(
        lambda i, y: S.sum(i) < n,
        lambda i, y: (S.broadcast_mul(y, w), [i + 1, S.broadcast_mul(y, w)]),
        [h, x],
        most,
    )
    runs = [
        {"h": np.zeros(1, "f"), "n": np.array([limit], "f"), "x": draw(b, 3)}
        for limit, b in ((0, 3), (2, 1), (9, 3))
    ]
    shapes = {"h": (1,), "n": (1,), "x": ("N", 3)}
    return Case(S.Group([outputs, *last]), {"w": draw(1, 3)}, shapes, runs, fixed=True)


def branches() -> Case:
    """A network of which a part is one of two layers."""
    hidden = S.FullyConnected(x, num_hidden=4, name="fc")
    layers = [S.FullyConnected(f(hidden), num_hidden=4, name=f.__name__) for f in (S.relu, S.tanh)]
    root = C.cond(S.sum(hidden) > 0, lambda: layers[0] * 1, lambda: layers[1] * 1)
    root = C.cond(
        S.sum(hidden) > 0,
        lambda: [S.FullyConnected(root, num_hidden=4, name="positive"), hidden * 2],
        lambda: [S.FullyConnected(S.tanh(root), num_hidden=4, name="negative"), hidden * 3],
    )
    params = {f"{name}_weight": draw(4, 4) for name in ("relu", "tanh", "positive", "negative")}
    params |= {f"{name}_bias": draw(4) for name in ("relu", "tanh", "positive", "negative", "fc")}
    runs = [{"x": sign * draw(b, 5)} for sign in (1, -1) for b in (1, 3)]
    net = S.Group([S.softmax(root[0], name="out"), root[1]])
    return Case(net, {**params, "fc_weight": draw(4, 5)}, {"x": ("N", 5)}, runs)


def nested() -> Case:
    """A branch and a loop with a condition in a loop, which read values of both graphs around them."""

    def body(row: Any, state: Any) -> Any:
        made = C.cond(S.sum(row) > 0, lambda: row * w + state, lambda: state - row * row)
        rows, last = C.while_loop(lambda y: S.sum(y * y) > 0.5, lambda y: (y + made, y * 0.5), made, 4)
        return [made, rows], last

    outputs, last = C.foreach(body, x, h)
    runs = [{"x": draw(t, 3), "h": draw(3, seed=1)} for t in (6, 1)]
    return Case(S.Group([*outputs, last]), {"w": draw(3)}, {"x": ("T", 3), "h": (3,)}, runs)


def integers() -> Case:
    """States of another type, and a loop of which the rows are read by an operator."""
    rows, last = C.while_loop(lambda i: i < 3, lambda i: (i * i, i + 1), h, 5)
    root = S.Group([S.sum(rows, axis=0), last])
    return Case(root, {}, {"h": (1,)}, [{"h": np.array([start], "i4")} for start in (0, 2, 5)])


CASES: list[Callable[[], Case]] = [recurrent, numbers, states_alone, powers, branches, nested, integers]


def written(case: Case, opset: int, **shapes: Any) -> onnx.ModelProto:
    types = {name: array.dtype for name, array in case.runs[0].items()}
    params = {name: od.nd.array(array) for name, array in case.params.items()}
    model = od.onnx.export(case.symbol, params, {**case.shapes, **shapes}, opset=opset, types=types)
    onnx.checker.check_model(model, full_check=True)
    return model


def agree(found: Any, wanted: Any) -> None:
    for got, want in zip(found, wanted, strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def here(symbol: od.Symbol, params: Any, arrays: Any) -> list[Any]:
    return evaluated(
        symbol, {name: od.nd.array(array, dtype=array.dtype) for name, array in params.items()}, arrays
    )


@pytest.mark.more
@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("make", CASES)
def test_onnxruntime_computes_the_same(make: Callable[[], Case], opset: int) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    case = make()
    content = written(case, opset).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    for arrays in case.runs:
        found = session.run(None, {info.name: arrays[info.name] for info in session.get_inputs()})
        agree(found, here(case.symbol, case.params, arrays))


@pytest.mark.more
@pytest.mark.parametrize("make", CASES)
def test_what_is_read_back_computes_the_same(make: Callable[[], Case]) -> None:
    case = make()
    for arrays in case.runs:
        shapes = {name: array.shape for name, array in arrays.items()} if case.fixed else {}
        read = od.onnx.load(written(case, 17), shapes=shapes)
        params = {name: array.asnumpy() for name, array in read.params.items()}
        found = here(read.symbol, params, {name: arrays[name] for name in read.inputs})
        agree(found, here(case.symbol, case.params, arrays))


def test_names_are_kept_inside_and_outside() -> None:
    model = written(recurrent(), 17)
    (scan,) = model.graph.node
    assert scan.op_type == "Scan"
    assert {tensor.name for tensor in model.graph.initializer} == {"w", "u"}
    assert "cell" in [node.name for node in scan.attribute[0].g.node]
    read = od.onnx.load(model).symbol
    assert [node.name for node in read.graph.op_nodes] == [scan.name]
    assert sorted(read.list_inputs()) == ["h", "u", "w", "x"]


def test_what_only_a_branch_reads_is_a_parameter_of_the_model() -> None:
    model = written(branches(), 17)
    assert {"positive_weight", "negative_bias"} <= {tensor.name for tensor in model.graph.initializer}


def test_a_refusal_inside_names_both_nodes_and_both_rules() -> None:
    outputs, _ = C.foreach(lambda row, state: (S.gamma(row, name="mine"), state + row), x, h, name="rnn")
    with pytest.raises(
        UnsupportedError, match=r"\(_foreach\): node 'mine' \(gamma\) cannot.*\(rule .*_scan of"
    ):
        od.onnx.export(outputs, {}, {"x": (2, 3), "h": (3,)})
