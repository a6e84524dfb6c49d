"""Every operator that is written, on cases of the contract checks: onnxruntime, and what is read back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import operad.onnx
import pytest
from onnx.reference import ReferenceEvaluator

import operad as od
from operad.errors import OperadError, UnsupportedError
from operad.graph import Entry, OpNode, Variable
from operad_check.cases.kinds import ORDINARY
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from operad_onnx.coverage import written

pytestmark = pytest.mark.more
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

FEW = Profile("few", examples=4, seconds=1.0)
GOALS = 3
ELSEWHERE = ("_random", "_sample", "_shuffle", "_cond", "_foreach", "_while_loop")
"""Beginnings of operators whose values nothing can foresee (test_drawn), or that get graphs (test_loops)."""
ONE_WAY = frozenset(("NonMaxSuppression", "Compress"))
"""ONNX operators that are written and not read."""
OPSETS = {
    **{
        f"{name}{end}": 18 for name in ("bitwise_and", "bitwise_or", "bitwise_xor") for end in ("", "_scalar")
    },
    "cumprod": 26,
}
"""Operators of which later versions of the standard have a counterpart; `_npi_` before names is left out."""
BY_VALUE = ("RNN", "parameters")
"""An operator, and the input that must be a parameter."""
TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-5}
ENDS_OTHERWISE = {
    "_mod_scalar": "the remainder of 0 is NaN in ONNX",
    "LRN": "its constants are float32 in ONNX",
}
"""Operators of which a drawn case may have another value, with the reason."""


def trials(name: str) -> list[Trial]:
    """A few calls of an operator that have elements."""
    subject, found = subject_of(name), list[Any]()
    session = Session(subject, FEW)
    for goal in session.plan.of(ORDINARY)[:GOALS]:
        session.examine(goal, found.append, shrink=False)
    made = [Trial(subject, case) for case in found]
    return [trial for trial in made if trial.is_runnable and all(a.size for a in (*trial.inputs, *trial.aux))]


def symbol_of(trial: Trial) -> od.Symbol:
    names = [*trial.arguments, *trial.states]
    node = OpNode(trial.prop, "node", [Entry(Variable(name)) for name in names])
    return od.Symbol([Entry(node, index) for index in range(trial.prop.num_visible_outputs)])


def computed(model: onnx.ModelProto, arrays: dict[str, Any]) -> list[Any] | None:
    """Outputs by onnxruntime, by onnx's reference where that lacks a type, or None where both do."""
    given = {info.name: arrays[info.name] for info in model.graph.input}
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return list(session.run(None, given))
    except Exception as error:  # noqa: BLE001 - the runtime's classes of errors are its own
        runtime = str(error)
    try:
        return list(ReferenceEvaluator(model).run(None, given))
    except Exception:
        if "NOT_IMPLEMENTED" in runtime or "INVALID_ARGUMENT" in runtime or "Status Message" in runtime:
            return None
        raise


def differ(found: Sequence[Any], wanted: Sequence[Any]) -> str | None:
    """How outputs differ; None where they do not."""
    for got, want in zip(found, wanted, strict=True):
        got = np.asarray(got)
        if (got.shape, got.dtype) != (want.shape, want.dtype):
            return f"{got.shape} of {got.dtype}, expected {want.shape} of {want.dtype}"
        exact, tolerance = want.astype("f8"), TOLERANCES.get(want.dtype.name, 0)
        largest = np.abs(exact[np.isfinite(exact)]).max(initial=1)
        if not np.allclose(got.astype("f8"), exact, rtol=tolerance, atol=tolerance * largest, equal_nan=True):
            return f"{got.ravel()[:4]}, expected {want.ravel()[:4]}"
    return None


def failure(name: str, trial: Trial) -> tuple[bool, str | None]:
    """Whether an operator was compared, and how it failed."""
    arrays = dict(zip([*trial.arguments, *trial.states], [*trial.inputs, *trial.aux], strict=True))
    symbol = symbol_of(trial)
    params = {n: a for n, a in arrays.items() if (name, n) == BY_VALUE or n in trial.states}
    inputs = {n: a for n, a in arrays.items() if n not in params}
    shapes, types = {n: a.shape for n, a in inputs.items()}, {n: a.dtype for n, a in inputs.items()}
    try:
        wanted = run_here(symbol, arrays)
        model = od.onnx.export(
            symbol, params, shapes, opset=OPSETS.get(name.removeprefix("_npi_"), 17), types=types
        )
    except (UnsupportedError, OperadError):
        return False, None
    onnx.checker.check_model(model, full_check=True)
    found = computed(model, inputs)
    if found is None:
        return False, None
    problem = differ(found, wanted)
    if problem is None and not ONE_WAY & {node.op_type for node in model.graph.node}:
        back = od.onnx.load(model)
        again = {n: a for n, a in arrays.items() if n in back.symbol.list_inputs() and n not in back.params}
        problem = differ(
            run_here(back.symbol, {**again, **{n: a.asnumpy() for n, a in back.params.items()}}), wanted
        )
        problem = problem and f"read back: {problem}"
    return True, problem


def run_here(symbol: od.Symbol, arrays: dict[str, Any]) -> list[Any]:
    given = {name: od.nd.array(array, dtype=array.dtype) for name, array in arrays.items()}
    args, states = (
        {n: given[n] for n in names} for names in (symbol.list_arguments(), symbol.list_auxiliary_states())
    )
    return [
        o.asnumpy()
        for o in symbol.bind(None, args, aux_states=states, grad_req="null").forward(is_train=False)
    ]


@pytest.mark.parametrize(
    "name", [row.operator for row in written() if not row.operator.startswith(ELSEWHERE)]
)
def test_what_is_written_computes_the_same(name: str) -> None:
    found = [(trial.case.params, *failure(name, trial)) for trial in trials(name)]
    failures = [(params, problem) for params, _, problem in found if problem]
    if name not in ENDS_OTHERWISE:
        assert not failures
    compared = sum(was for _, was, _ in found)
    assert compared > len(failures) or name in (
        "_contrib_DeformableConvolution",
        "_contrib_ModulatedDeformableConvolution",
    )
