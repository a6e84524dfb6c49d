"""Three verdicts: wrong, undeclared and hard."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad_check import Profile, Status, check_operator
from operad_sdk import Contract, unary

FEW = Profile("few", examples=20, seconds=60.0)


def logistic(name: str, *, slope: float = 1.0, **options: Any) -> Any:
    @unary(name, **options)
    def operator(x: Any) -> Any:
        """The logistic function, of which integers are given no whole result."""
        return 1 / (1 + np.exp(-x))

    @operator.gradient
    def _(output_grad: Any, output: Any) -> Any:
        return slope * output_grad * output * (1 - output)

    return operator


def test_types_that_nothing_is_said_of_are_undeclared_and_the_words_are_offered() -> None:
    report = check_operator(logistic("verdict_silent"), checks=["F201", "D601", "B301"], profile=FEW)
    assert (report.red_ids, report.undeclared_ids, report.passed) == ([], ["D601", "F201"], True)
    assert {str(one.failure.declares) for one in report.outcomes if one.failure} == {'accepts="floating"'}
    assert repr(report).startswith("<report on verdict_silent: passed, D601 F201 undeclared; 1 checks passed")
    said = check_operator(logistic("verdict_said", accepts="floating"), checks=["F201", "D601"], profile=FEW)
    assert said.undeclared_ids == []


def test_the_cause_is_the_first_line_below_the_verdict() -> None:
    wrong = logistic("verdict_half", slope=0.5, accepts="floating")
    lines = repr(check_operator(wrong, checks=["B301", "S107", "F201"], profile=FEW)).splitlines()
    assert "B301" in lines[0]
    assert lines[1].startswith("  B301: gradient of data")


def test_what_is_wrong_outweighs_what_is_undeclared_in_one_check() -> None:
    @unary("verdict_both")
    def operator(x: Any) -> Any:
        """Raises for integers, which is to be declared, and for two elements, which is not."""
        if x.dtype.kind != "f" or x.size == 2:
            raise ValueError(x)
        return x

    report = check_operator(operator, checks=["F201"], profile=FEW)
    assert (report.red_ids, report.undeclared_ids) == (["F201"], [])


def test_a_type_that_alone_is_not_taken_is_wrong() -> None:
    @unary("verdict_but_bytes")
    def operator(x: Any) -> Any:
        """The data, but for bytes."""
        if x.dtype == np.int8:
            raise ValueError(x)
        return x

    assert check_operator(operator, checks=["D601"], profile=FEW).red_ids == ["D601"]


@pytest.mark.parametrize(("off", "status"), [(0.0, "passed"), (0.1, "hard"), (0.5, "wrong")])
def test_half_precision_that_is_little_further_off_than_rounding_is_hard(off: float, status: str) -> None:
    @unary("verdict_hard", accepts="floating")
    def operator(x: Any) -> Any:
        """The data, which half precision has somewhat larger."""
        return x * x.dtype.type(1 + off) if x.dtype == np.float16 else x * 1

    report = check_operator(operator, checks=["D602"], profile=FEW)
    assert [str(one.status) for one in report.outcomes] == [status]
    assert report.red_ids == (["D602"] if status == "wrong" else [])
    assert report.hard_ids == (["D602"] if status == "hard" else [])


def test_an_expected_failure_is_met_by_what_is_undeclared() -> None:
    contract = Contract(expected_failures={"F201": "its types are to be declared next"})
    (found,) = check_operator(logistic("verdict_met", contract=contract), checks=["F201"]).outcomes
    assert found.status is Status.EXPECTED


def test_draws_name_their_seed() -> None:
    from operad.resource import ResourceRequest

    @unary("verdict_draws", accepts="floating", resource=ResourceRequest.RANDOM)
    def operator(op_ctx: Any, x: Any) -> Any:
        """NaN, whatever is drawn."""
        return x * np.nan

    (found,) = check_operator(operator, checks=["F219"], profile=FEW).outcomes
    assert found.failure is None or "draws of seed" in found.failure.case
