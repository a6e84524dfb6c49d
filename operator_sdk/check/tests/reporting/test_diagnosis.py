from __future__ import annotations

import pytest

from operad_check.register import entries
from operad_check.reporting.diagnosis import ECHOES, diagnosed
from operad_check.reporting.outcome import Failure, Outcome, Status


def red(*ids):
    failure = Failure("it is wrong", "fix it", "", "")
    return [Outcome(id, Status.WRONG, failure=failure) for id in ids]


def echoes(outcomes):
    return {outcome.check_id: outcome.echo_of for outcome in diagnosed(outcomes)}


def test_what_a_cause_explains_is_folded_under_it():
    assert echoes(red("B301", "B302", "F207")) == {"B301": "", "B302": "B301", "F207": ""}


def test_the_nearest_cause_is_named():
    assert echoes(red("F209", "B310", "R503"))["R503"] == "F209"


def test_two_that_explain_each_other_leave_one():
    assert echoes(red("F208", "M407")) == {"F208": "", "M407": "F208"}


def test_what_is_not_written_explains_its_nan():
    assert echoes(red("B307", "F219")) == {"B307": "", "F219": "B307"}
    assert echoes(red("F208", "F219")) == {"F208": "", "F219": "F208"}


def test_audits_presuppose_that_the_rest_is_green():
    assert echoes(red("D602", "X804"))["X804"] == "D602"
    assert echoes(red("X804"))["X804"] == ""


def test_what_passed_explains_nothing():
    passed = Outcome("B301", Status.PASSED)
    assert echoes([passed, *red("B302")]) == {"B301": "", "B302": ""}


@pytest.mark.walk
@pytest.mark.parametrize("id", sorted({*ECHOES, *(echo for found in ECHOES.values() for echo in found)}))
def test_only_checks_are_named(id):
    assert id in entries()


def test_findings_of_two_arrays_are_not_folded():
    def of(id, message):
        return Outcome(id, Status.WRONG, failure=Failure(message, "fix it", "", ""))

    first = of("B301", "gradient of lhs[0] is 1, and the numeric derivative is 2")
    same = of("B302", "gradient of lhs and rhs along a random direction is 1, and the derivative is 2")
    other = of("B313", "gradients of rhs[0, 1], rhs[1, 1] from output[0] are 2 together")
    none = of("D603", "it is wrong in float16")
    assert echoes([first, same, other, none]) == {"B301": "", "B302": "B301", "B313": "B302", "D603": "B301"}
    assert echoes([first, other]) == {"B301": "", "B313": ""}
