"""The standard's own tests of nodes, as the installed onnx makes them."""

from __future__ import annotations

import logging
import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx import numpy_helper

import operad as od
from operad.errors import OperadError
from operad_onnx.coverage import not_read
from operad_onnx.element_types import dtype_of
from plugins.onnx.tests.networks import evaluated

pytestmark = [pytest.mark.more, pytest.mark.long]

LEAST_SHARE = 0.99
"""Share of the tests that must pass, of those whose operators and types are here."""

DRAWN = re.compile("bernoulli|training_dropout(?!_zero)")
"""Names of tests whose values nothing can foresee."""


def _cases() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return list(collect_testcases(None))


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def why_skipped(case: Any) -> str | None:
    """The reason why a test says nothing here; None where it does."""
    infos = [*case.model.graph.input, *case.model.graph.output]
    if missing := not_read(case.model):
        return f"operator {missing[0].operator}"
    for info in infos:
        kind = info.type.WhichOneof("value")
        if kind != "tensor_type":
            return f"type {kind}"
        try:
            dtype_of(info.type.tensor_type.elem_type, info.name)
        except OperadError:
            return f"type {onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type)}"
    return "drawn at random" if DRAWN.search(case.name) else None


def outputs(model: onnx.ModelProto, arrays: dict[str, Any]) -> list[Any]:
    """The outputs of a model; inputs that operators here have as parameters are given when it is read."""
    values: dict[str, Any] = {}
    while True:
        shapes = {name: array.shape for name, array in arrays.items() if name not in values}
        try:
            loaded = od.onnx.load(model, shapes=shapes, values=values)
            break
        except od.onnx.NeedsValueError as error:
            new = [name for name in error.inputs if name in arrays and name not in values]
            if not new:
                raise
            values.update((name, arrays[name]) for name in new)
    return evaluated(loaded.symbol, loaded.params, {name: arrays[name] for name in loaded.inputs})


def problem_of(case: Any) -> str | None:
    """How a test fails; None where it passes."""
    given, wanted = ([_array(value) for value in side] for side in case.data_sets[0])
    arrays = dict(zip([info.name for info in case.model.graph.input], given, strict=False))
    try:
        found = outputs(case.model, arrays)
    except Exception as error:  # noqa: BLE001 - it is reported
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    for got, want in zip(found, wanted, strict=True):
        if (got.shape, got.dtype) != (want.shape, want.dtype):
            return f"{got.shape} of {got.dtype}, expected {want.shape} of {want.dtype}"
        least = 1e-3 if want.dtype == np.float16 else 1e-7  # one unit in the last place of a half near 1
        tolerances = {"rtol": max(case.rtol, 1e-3), "atol": max(case.atol, least), "equal_nan": True}
        if not np.allclose(got.astype("f8"), want.astype("f8"), **tolerances):
            return "other values"
    return None


def test_tests_of_nodes_pass(record_property: Callable[[str, object], None]) -> None:
    skipped, failed, passed = Counter[str](), dict[str, str](), 0
    for case in _cases():
        reason = why_skipped(case)
        if reason is not None:
            skipped[reason] += 1
        elif (problem := problem_of(case)) is not None:
            failed[case.name] = problem
        else:
            passed += 1
    share = passed / (passed + len(failed))
    report = [f"{passed} passed, {len(failed)} failed ({share:.1%}), {skipped.total()} skipped"]
    report += [f"skipped {count}: {reason}" for reason, count in skipped.most_common()]
    report += [f"failed {name}: {problem[:160]}" for name, problem in failed.items()]
    record_property("report", report)
    logging.getLogger("operad_onnx").info("onnx %s: %s", onnx.__version__, "\n  ".join(report))
    assert share >= LEAST_SHARE, "\n".join(report)
