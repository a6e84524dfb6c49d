from __future__ import annotations

from operad_sdk.check.mutants import reached
from operad_sdk.check.trials.subject import subject_of


def modules(name: str) -> dict[str, int]:
    return {one.module: len(one.spans) for one in reached(subject_of(name))}


def test_functions_of_the_own_package_are_reached_from_the_class_and_its_kernels():
    found = modules("CTCLoss")
    assert {"operad_ctc_loss.ctc_loss", "operad_ctc_loss.alignment", "operad_ctc_loss.compiled"} <= set(found)


def test_examples_and_references_are_not():
    assert "operad_ctc_loss.examples" not in modules("CTCLoss")


def test_an_operator_of_a_table_reaches_its_own_functions_alone():
    assert 1 <= modules("_mod")["operad_elemwise.arithmetic"] <= 4


def test_a_mapper_is_reached_through_what_is_made_of_it():
    assert "operad_elemwise.gamma" in modules("gamma")
