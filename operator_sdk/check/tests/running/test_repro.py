"""The programs that reports print: short, and failing in the same way when they run."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from operad import registry
from operad_check import Case, Violation, verify
from operad_check.plan.profile import PROFILES
from operad_check.register import find_check
from operad_check.reporting.outcome import Failure
from operad_check.running.repro import drawn_case, literal, redrawn, script
from operad_check.running.runner import run_check
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_sdk import unary
from operator_sdk.check.tests.zoo.fault import Fault
from operator_sdk.check.tests.zoo.table import ZOO, each_fault

ROOT = Path(__file__).parents[4]
MAX_LINES = 16

# A name given to an operator for one test is gone when its program runs elsewhere; what is judged from
# the outcomes of other checks has no program of its own; a race between threads is not lost every time.
ELSEWHERE = ("X801", "X803", "X804", "R503")
IMPORTABLE = [fault for fault in ZOO if not fault.registered_as and fault.id not in ELSEWHERE]
ONE_A_GROUP = [
    pytest.param(fault, id=fault.title, marks=() if letter in "AF" else pytest.mark.more)
    for letter, fault in {fault.id[0]: fault for fault in IMPORTABLE}.items()
]


@unary("repro_square")
def square(x):
    """Square."""
    return x * x


@cache
def failure_of(fault: Fault) -> Failure:
    outcome = run_check(Session(subject_of(fault.operator), PROFILES["dev"]), find_check(fault.id))
    assert outcome.failure is not None, f"{fault.title}: {outcome.status} {outcome.reason}"
    return outcome.failure


@pytest.mark.more
@each_fault(IMPORTABLE)
def test_the_program_of_every_fault_fails_under_its_id(fault):
    failure = failure_of(fault)
    assert len(failure.script.splitlines()) <= MAX_LINES
    with pytest.raises(Violation) as caught:
        exec(compile(failure.script, "<script>", "exec"), {})  # noqa: S102 - our own
    assert str(caught.value).startswith(f"[{fault.id}]")


@pytest.mark.parametrize("fault", ONE_A_GROUP)
def test_the_program_fails_in_a_process_of_its_own(fault, tmp_path):
    program = tmp_path / "shows.py"
    program.write_text(failure_of(fault).script)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(program)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"[{fault.id}]" in done.stderr.splitlines()[-1]


def test_verify_returns_the_evidence_where_the_check_passes():
    case = Case(inputs={"data": np.array([2.0, -1.0])})
    assert verify("F207", square, case) == 2


def test_an_installed_operator_is_named_and_not_imported():
    name = registry.list_operators()[0]
    lines = script("F207", subject_of(name), [Case(inputs={"data": np.zeros((0, 3))})], "why").splitlines()
    assert lines[:2] == ["import numpy as np", "from operad_check import Case, verify"]
    assert f"verify('F207', {name!r}, case)" in lines
    assert lines[-1] == "# why"


@pytest.mark.parametrize(
    "array",
    [
        np.array(0.5, np.float32),
        np.array([[0.125, -2.0]]),
        np.zeros((0, 3), np.float32),
        np.full((2, 2), 1.0),
        np.array([np.nan, np.inf, -0.0]),
        np.array([True, False]),
        np.array([3, -1], np.int8),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_a_printed_array_is_the_array(array):
    text = script("F207", subject_of(square), [Case(inputs={"data": array})], "")
    names: dict[str, object] = {}
    exec(compile(text.partition("verify('F207'")[0], "<script>", "exec"), names)  # noqa: S102 - our own
    (found,) = names["case"].inputs.values()
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


LARGE = [
    np.where(np.arange(256) == 77, 0.5, 1.0).reshape(4, 4, 4, 4).astype(np.float32),
    np.random.default_rng(0).integers(-17, 17, (4, 4, 4, 4)) / 8,
    np.where(np.arange(60) % 20 == 0, np.nan, -0.0).astype(np.float16),
    np.arange(100) % 3 == 0,
]


@pytest.mark.parametrize("array", LARGE, ids=["one apart", "all apart", "not finite", "booleans"])
def test_a_large_array_is_printed_exactly_and_in_few_lines(array):
    case = Case(params={"a": 1}, inputs={"data": array, "other": array}, aux={"state": array})
    text = script("F207", subject_of(square), [case], "why")
    assert len(text.splitlines()) <= MAX_LINES
    assert max(map(len, text.splitlines())) < 2000
    names: dict[str, object] = {}
    exec(compile(text.partition("verify('F207'")[0], "<script>", "exec"), names)  # noqa: S102 - our own
    found = names["case"].inputs["data"]
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()
    assert found.flags.writeable


def test_an_array_of_one_number_apart_is_readable():
    assert literal(LARGE[0]) == "np.array([1.0] * 77 + [0.5] + [1.0] * 178, 'float32').reshape((4, 4, 4, 4))"


def test_a_long_case_that_a_seed_determines_is_printed_by_its_seed():
    case = drawn_case(
        square, shapes={"data": (300, 2)}, dtypes={"data": "float64"}, values="DIGITS", seed=3, is_train=False
    )
    text = script("F207", subject_of(square), [case], "why")
    assert "drawn_case(" in text
    assert max(map(len, text.splitlines())) < 250
    names: dict[str, object] = {}
    exec(compile(text.partition("verify('F207'")[0], "<script>", "exec"), names)  # noqa: S102 - our own
    assert names["case"].inputs["data"].tobytes() == case.inputs["data"].tobytes()


def test_a_case_that_was_made_smaller_is_drawn_anew_where_that_fails_too():
    array = np.random.default_rng(0).normal(size=(200, 3))
    case = Case(inputs={"data": array}, seed=77)
    found = redrawn(subject_of(square), case, lambda tried: tried.inputs["data"].shape == (200, 3))
    assert "drawn_case(" in script("F207", subject_of(square), [found], "why")
    assert redrawn(subject_of(square), case, lambda tried: False) is case
