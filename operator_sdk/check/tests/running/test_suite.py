from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operad.errors import ArgumentError
from operad_check import contract_suite
from operad_sdk import unary

pytest_plugins = ["pytester"]

PLUGIN = '''
import numpy as np
from operad_sdk import Contract
from operad_check import Profile, contract_suite
from operad_sdk import unary


@unary("twice")
def twice(x):
    """Two times x."""
    return 2 * x


@twice.gradient
def _(output_grad):
    return {slope} * output_grad


test_contract = contract_suite(
    [twice], checks=["B301", "F202"], profile=Profile("few", examples=5, seconds=1.0)
)
'''


def run(pytester: pytest.Pytester, slope: str) -> pytest.RunResult:
    pytester.makepyfile(test_twice=PLUGIN.replace("{slope}", slope))
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v")


def test_there_is_one_test_for_each_operator_and_check(pytester: pytest.Pytester) -> None:
    result = run(pytester, "2")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_contract?twice-B301? PASSED*", "*test_contract?twice-F202? PASSED*"])


def test_a_failure_shows_case_fix_and_program(pytester: pytest.Pytester) -> None:
    result = run(pytester, "3")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*B301 wrong: twice: gradient of data*",
            "*smallest case: data=float64*",
            "*fix:*",
            "*verify('B301', twice, case)*",
        ]
    )


def test_an_unknown_package_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no installed operator belongs to 'operad_lost'"):
        contract_suite("operad_lost")


def test_an_expected_failure_is_xfailed_with_its_reason(pytester: pytest.Pytester, tmp_path: Path) -> None:
    source = PLUGIN.replace("{slope}", "3").replace(
        '@unary("twice")',
        '@unary("twice", contract=Contract(expected_failures={"B301": "three is the custom here"}))',
    )
    pytester.makepyfile(test_twice=source)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rx")
    result.assert_outcomes(passed=1, xfailed=1)
    result.stdout.fnmatch_lines(["*three is the custom here*"])


def test_operators_may_be_given_as_objects() -> None:
    @unary("given_as_object")
    def operator(x: Any) -> Any:
        """The same."""
        return x

    marks = contract_suite([operator], checks=["F202"]).pytestmark  # type: ignore[attr-defined]
    assert [case.id for case in marks[0].args[1]] == ["given_as_object-F202"]


@pytest.mark.more
def test_strict_adds_a_test_of_what_is_not_proved(pytester: pytest.Pytester) -> None:
    text = PLUGIN.replace("{slope}", "2").replace('checks=["B301", "F202"],', 'checks=["F202"], strict=True,')
    pytester.makepyfile(test_twice=text)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_contract?twice-strict? PASSED*"])
    pytester.makepyfile(test_twice=text.replace('"twice"', '"twice", contract=Contract(nan_policy="x")'))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v", "--junit-xml=report.xml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*twice: not proved, and no reason says why:*", "*nan_policy: *because x*"])
    assert 'name="not proved"' in (pytester.path / "report.xml").read_text()


@pytest.mark.parametrize(
    ("strict", "outcomes"),
    [pytest.param("False", {"undeclared": 1}, marks=pytest.mark.more), ("True", {"failed": 1})],
)
def test_what_is_undeclared_is_told_with_its_cause_and_fails_if_strict(
    pytester: pytest.Pytester, strict: str, outcomes: dict[str, int]
) -> None:
    text = PLUGIN.replace("return 2 * x", "return x / 2").replace("{slope}", "0.5")
    text = text.replace('checks=["B301", "F202"],', f'checks=["F201"], strict={strict},')
    pytester.makepyfile(test_twice=text)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rs", "-k", "F201")
    counts = result.parseoutcomes()
    assert {word: counts.get(word) for word in outcomes} == outcomes
    result.stdout.fnmatch_lines(["*F201 undeclared: twice: forward raised DTypeError*"])
