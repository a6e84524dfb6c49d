"""Operators without a rule, written by the steps of their functions."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest

import operad as od
from operad.errors import UnsupportedError
from operad.graph import Entry, OpNode, Variable
from operad_check.cases.kinds import ORDINARY
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from operad_onnx.export import OPSET
from operad_sdk import OperatorProperty, operator, param
from plugins.onnx.tests.networks import evaluated

AUTHORS = Path(__file__).parents[3] / "tests" / "benchmarks" / "authors"
CLOSE = {"rtol": 1e-5, "atol": 1e-6}


def declared(name: str, spec: str, function: Any, **options: Any) -> type[OperatorProperty]:
    return operator(name, spec, doc="An operator of a test.", **options)(function)


def symbol_of(prop: Any, *names: str) -> od.Symbol:
    node = OpNode(prop, "node", [Entry(Variable(name)) for name in names])
    return od.Symbol([Entry(node, index) for index in range(prop.num_visible_outputs)])


def compared(
    prop: Any, arrays: dict[str, Any], shapes: dict[str, Any] | None = None, opset: int = OPSET
) -> Any:
    """The model, whose outputs are those computed here."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    symbol = symbol_of(prop, *arrays)
    types = {name: array.dtype for name, array in arrays.items()}
    model = od.onnx.export(
        symbol, {}, shapes or {n: a.shape for n, a in arrays.items()}, opset=opset, types=types
    )
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {info.name: arrays[info.name] for info in model.graph.input})
    for got, wanted in zip(found, evaluated(symbol, {}, arrays), strict=True):
        np.testing.assert_allclose(got, wanted, **CLOSE)
    return model


def rotated(data: Any) -> Any:
    """Halves that change places, one with its sign."""
    half = data.shape[-1] // 2
    output = np.empty_like(data)
    output[..., :half] = -data[..., half:]
    output[..., half:] = data[..., :half]
    return output


def beside_a_copy(data: Any) -> Any:
    """A product: what is reshaped lies in another order, so that it is copied."""
    found = data @ data.T
    turned = found.T
    turned *= 2
    turned.reshape(-1)[...] = 1
    return found


def standardized(data: Any, scale: float) -> Any:
    centred = data - data.mean(axis=-1, keepdims=True)
    return scale * centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)


FUNCTIONS = {
    "halves_that_are_written": ("data:(B, D) -> output:(B, D)", rotated),
    "a_table_of_rows": ("data:(B, D) -> output:(B, D)", lambda data: data[[1, 0, 1], ::-1]),
    "a_diagonal_that_is_replaced": (
        "data:(B, D) -> output:(B, D)",
        lambda data: np.where(np.eye(*data.shape, dtype=bool), 0, data) + np.tri(*data.shape).astype("f"),
    ),
    "positions_of_the_largest": (
        "data:(B, D) -> output:int64(B)", lambda data: np.argmax(data, axis=1)
    ),
    "norms": (
        "data:(B, D) -> output:(B)",
        lambda data: np.linalg.norm(data, axis=1) + np.linalg.norm(data, 2, 1) / np.linalg.norm(data),
    ),
    "what_is_in_order": ("data:(B, D) -> output:(B, D)", lambda data: np.sort(data, axis=1) * 2),
    "logic": (
        "data:(B, D) -> output:(B, D)",
        lambda data: np.where(
            (data > 0) & ~(data > 1) | (data < -1), np.copysign(data, -1), np.log1p(abs(data))
        ),
    ),
    "truth_along_axes": (
        "data:(B, D) -> output:(B, D)",
        lambda data: np.where(np.any(data > 1, 1, keepdims=True), data, 0) * (data > -1).all(0),
    ),
    "divisions_by_0": (
        "data:(B, D) -> output:(B, D)",
        lambda data: (data * 100) // np.where(abs(data) > 0.5, abs(data) * 0, 0.1),
    ),
    "a_write_to_a_copy": ("data:(B, D) -> output:(B, B)", beside_a_copy),
    "a_product_of_parts": (
        "data:(B, D) -> output:(D, D)",
        lambda data: data.T @ data[:, ::1] - np.einsum("bi,bj->ij", data, data) / 2,
    ),
    "elements_by_numbers": (
        "data:(B, D) -> output:(D)", lambda data: data[0] + data[-1, None, :][0] + data[..., 1, :]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_steps_of_a_function_are_written(name: str) -> None:
    spec, function = FUNCTIONS[name]
    data = np.random.default_rng(0).normal(size=(3, 4)).astype("f")
    compared(declared(f"traced_{name}", spec, function)(), {"data": data})


def test_a_length_may_differ_from_run_to_run() -> None:
    prop = declared(
        "traced_standardized", "data:(B, D) -> output:(B, D)", standardized,
        params={"scale": param(float, 2.0, doc="A factor.")},
    )()  # fmt: skip
    data = np.random.default_rng(0).normal(size=(3, 4)).astype("f")
    model = compared(prop, {"data": data}, {"data": ("N", 4)})
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "N"


def test_what_depends_on_such_a_length_is_refused() -> None:
    prop = declared("traced_mean", "data:(B, D) -> output:(D)", lambda data: data.mean(axis=0))()
    with pytest.raises(UnsupportedError, match=r"node 'node'.*a length that differs.*test_traced\.py"):
        od.onnx.export(symbol_of(prop, "data"), {}, {"data": ("N", 4)})


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda data: np.cumprod(data, axis=0), "cumprod has no counterpart in ONNX"),
        (lambda data: data * np.linalg.norm(data, 2), "norms other than the square root"),
        (lambda data: data * float(data.max()), "cannot be traced.*made a number"),
    ],
)
def test_a_step_without_a_counterpart_is_named_by_its_line(function: Any, reason: str) -> None:
    prop = declared("traced_refused", "data:(...) -> output:(...)", function)()
    with pytest.raises(UnsupportedError, match=rf"node 'node' \(traced_refused\).*{reason}.*test_traced\.py"):
        od.onnx.export(symbol_of(prop, "data"), {}, {"data": (2, 3)})


def authors() -> list[Any]:
    modules = [
        import_module(f"tests.benchmarks.authors.{path.stem}") for path in sorted(AUTHORS.glob("*.py"))
    ]
    return [
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, OperatorProperty) and one.__module__ == module.__name__
    ]


@pytest.mark.more
@pytest.mark.parametrize("operator", authors(), ids=lambda one: one.name)
def test_files_of_authors_are_written(operator: Any) -> None:
    subject, found = subject_of(operator), list[Any]()
    session = Session(subject, Profile("few", examples=4, seconds=1.0))
    for goal in session.plan.of(ORDINARY)[:3]:
        session.examine(goal, found.append, shrink=False)
    cases = [Trial(subject, case) for case in found]
    for trial in [one for one in cases if one.is_runnable and all(a.size for a in one.inputs)]:
        arrays = dict(zip(trial.arguments, trial.inputs, strict=True))
        if all(array.dtype.name == "float32" for array in arrays.values() if array.dtype.kind == "f"):
            compared(trial.prop, arrays)
