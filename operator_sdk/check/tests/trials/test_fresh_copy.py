"""A module executed once more has nothing of what ran before."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from operad_check import Case, verify
from operad_check.trials.fresh_copy import fresh_copy
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from operad_sdk import OperatorProperty, operator, unary

_seen: list[int] = []


@operator("fresh_copy_counts")
class Counts(OperatorProperty):
    """As many as ran."""

    spec = "data:(N) -> output:(N)"

    def forward(data):
        """One more."""
        _seen.append(1)
        return data * len(_seen)


@unary("fresh_copy_halves")
def halves(data):
    """Half."""
    return data / 2


def once(subject):
    trial = Trial(subject, Case(inputs={"data": np.array([1.0])}))
    return float(trial.forward().outputs[0][0])


def test_a_copy_starts_from_nothing_and_leaves_the_original_alone():
    subject = subject_of(Counts)
    before = len(_seen)
    first, second = fresh_copy(subject), fresh_copy(subject)
    assert [once(first.subject), once(first.subject), once(second.subject)] == [1.0, 2.0, 1.0]
    assert len(_seen) == before
    assert first.subject.name == subject.name


def test_what_a_run_leaves_behind_shows():
    copy = fresh_copy(subject_of(Counts))
    state = copy.state()
    assert copy.state() == state
    once(copy.subject)
    assert copy.state() != state


def test_functions_are_copied_and_leave_nothing():
    copy = fresh_copy(subject_of(halves))
    state = copy.state()
    assert once(copy.subject) == 0.5
    assert copy.state() == state


def test_what_no_module_has_is_not_copied():
    @operator("fresh_copy_local")
    class Local(OperatorProperty):
        spec = "data:(N) -> output:(N)"

        def forward(data):
            return data

    assert fresh_copy(subject_of(Local)) is None
    assert verify("R501", Local, Case(inputs={"data": np.array([1.0])})) >= 0


@pytest.mark.parametrize("ending", ["raise RuntimeError", "import sys; sys.exit(3)"], ids=["raises", "exits"])
def test_a_module_that_can_be_executed_once_only_is_not_copied(ending, tmp_path, monkeypatch):
    (tmp_path / "fresh_copy_once.py").write_text(
        "import builtins\n"
        "from operad_sdk import unary\n"
        "@unary('fresh_copy_once')\n"
        "def once(data):\n"
        "    return data * 1\n"
        "if hasattr(builtins, 'fresh_copy_once_ran'):\n"
        f"    {ending}\n"
        "builtins.fresh_copy_once_ran = True\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import builtins

    import fresh_copy_once

    try:
        assert fresh_copy(subject_of(fresh_copy_once.once)) is None
    finally:
        del builtins.fresh_copy_once_ran
        del sys.modules["fresh_copy_once"]
    assert not [name for name in sys.modules if name.endswith("__again")]


SCRIPT = """
from operad_sdk import OperatorProperty, operator
from operad_check import check_operator
print("begun", flush=True)
_seen = set()


@operator("scripted")
class Scripted(OperatorProperty):
    spec = "data:(N) -> output:(N)"

    def forward(data):
        _seen.update({len(data), 1})
        return 2 * data

    def data_grad(output_grad):
        return 2 * output_grad


found = check_operator(Scripted)
ids = {outcome.check_id for outcome in found.outcomes}
print("checked", sorted({"R501", "R509"} & ids))
"""


@pytest.mark.more
def test_a_script_that_checks_its_operator_does_so_once(tmp_path):
    script = tmp_path / "scripted.py"
    script.write_text(SCRIPT)
    for command in ([str(script)], ["-c", "import scripted"]):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout.count("checked ['R501', 'R509']") == 1
        assert done.stdout.splitlines()[-1].startswith("checked")
