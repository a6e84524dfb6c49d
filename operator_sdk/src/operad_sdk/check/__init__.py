"""The contract harness: checks that an operator keeps its promises to the system.

`check_operator` checks one operator, `check_function` a plain pair of functions, and `contract_suite` makes
pytest tests of all checks of a plugin. `operad check` does it from the command line, each operator in
a process of its own. Needs `pip install operad-sdk[check]`.
"""

from typing import TYPE_CHECKING
from typing import Any as _Any

from operad_sdk.check import checks as checks
from operad_sdk.check import old_paths as _old_paths  # noqa: F401 - finds modules by the paths they had
from operad_sdk.check.plan.profile import Profile as Profile
from operad_sdk.check.reporting.outcome import Failure as Failure
from operad_sdk.check.reporting.outcome import OperatorReport as OperatorReport
from operad_sdk.check.reporting.outcome import Outcome as Outcome
from operad_sdk.check.reporting.outcome import Report as Report
from operad_sdk.check.reporting.outcome import Status as Status
from operad_sdk.check.running.plain_function import check_function as check_function
from operad_sdk.check.running.repro import drawn_case as drawn_case
from operad_sdk.check.running.repro import verify as verify
from operad_sdk.check.running.runner import case_plan as case_plan
from operad_sdk.check.running.runner import check_operator as check_operator
from operad_sdk.check.trials.case import Case as Case
from operad_sdk.check.trials.violation import Violation as Violation

if TYPE_CHECKING:
    from operad_sdk.check.running.suite import contract_suite as contract_suite


def __getattr__(name: str) -> _Any:
    # Only tests need pytest: a program that reproduces a failure does without.
    if name != "contract_suite":
        raise AttributeError(f"module 'operad_sdk.check' has no attribute {name!r}")
    from operad_sdk.check.running.suite import contract_suite  # noqa: PLC0415

    return contract_suite
