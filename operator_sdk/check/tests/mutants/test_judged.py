"""Verdicts on an operator's source."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from operad_check.catalogue import CATALOGUE
from operad_check.mutants import judged
from operad_check.running.register import CheckFunction
from operad_check.trials.violation import Violation
from operad_sdk import unary


def planted(id: str, source: str) -> CheckFunction:
    """A check of the harness's whose code is `source`."""
    names = {"__name__": "operad_check.planted", "Violation": Violation}
    exec(f"def run(subject):\n    {source}", names)  # noqa: S102 - a module made here
    return CheckFunction(
        id, names["run"], (), pooled=False, of_session=False, reports_raising=False, entry=CATALOGUE[id]
    )


@pytest.mark.parametrize(
    ("sources", "killed_by", "broken"),
    [
        (("return 1", "return 1"), "", ""),
        (("return [].pop()", "return 1"), "", "F202"),
        (("return [].pop()", "raise Violation('wrong')"), "F203", ""),
    ],
    ids=["nothing", "a break", "a break and a finding"],
)
def test_a_check_that_breaks_is_told_unless_another_is_red(
    sources: tuple[str, str], killed_by: str, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @unary("judged_copy", accepts="floating")
    def copy(data):
        return np.copy(data)

    module = sys.modules[judged.__module__]
    checks = {id: planted(id, source) for id, source in zip(("F202", "F203"), sources, strict=True)}
    monkeypatch.setattr(module, "FIRST", ())
    monkeypatch.setattr(module, "all_checks", lambda: checks)
    monkeypatch.setattr(module, "find_check", checks.__getitem__)
    monkeypatch.setattr(module, "subject_of", lambda name, own=module.subject_of: own(copy))
    monkeypatch.setattr(module, "limit_processor_time", lambda limit_s: None)
    found = judged("judged_copy", "", None, 60.0)
    assert (found.killed_by, found.broken) == (killed_by, broken)
    assert ("pop from empty list" in found.message) == bool(broken)
