from __future__ import annotations

import pytest

from operad_check.mutants import reached
from operad_check.trials.subject import subject_of
from operad_sdk import CompiledLoops


def modules(name: str) -> dict[str, int]:
    return {one.module: len(one.spans) for one in reached(subject_of(name))}


def test_functions_of_the_own_package_are_reached_from_the_class_and_its_kernels():
    assert {"operad_ctc_loss.ctc_loss", "operad_ctc_loss.alignment"} <= set(modules("CTCLoss"))


def test_compiled_loops_are_reached():
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    assert "operad_ctc_loss.compiled" in modules("CTCLoss")


def test_compiled_loops_that_cannot_run_here_are_not(monkeypatch):
    monkeypatch.setattr(CompiledLoops, "rejection", lambda *_, **__: "numba is not installed")
    assert "operad_ctc_loss.compiled" not in modules("CTCLoss")


def test_examples_and_references_are_not():
    assert "operad_ctc_loss.examples" not in modules("CTCLoss")


def test_an_operator_of_a_table_reaches_its_own_functions_alone():
    assert 1 <= modules("_mod")["operad_elemwise.arithmetic"] <= 4


def test_a_mapper_is_reached_through_what_is_made_of_it():
    assert "operad_elemwise.gamma" in modules("gamma")
