"""The contract harness: checks that an operator keeps its promises to the system.

`check_operator` checks one operator, `check_function` a plain pair of functions, `check_foreign` a function
of another library. `contract_suite` makes pytest tests of all checks of a plugin, and `foreign_suite` of a
table of functions. `operad check` does it from the command line, each operator in a process of its own.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from operad_check import checks as checks
from operad_check.foreign.backend import Backend as Backend
from operad_check.foreign.checking import check_foreign as check_foreign
from operad_check.foreign.checking import check_numpy as check_numpy
from operad_check.foreign.function import ForeignFunction as ForeignFunction
from operad_check.plan.profile import Profile as Profile
from operad_check.reporting.outcome import Failure as Failure
from operad_check.reporting.outcome import OperatorReport as OperatorReport
from operad_check.reporting.outcome import Outcome as Outcome
from operad_check.reporting.outcome import Report as Report
from operad_check.reporting.outcome import Status as Status
from operad_check.running.plain_function import check_function as check_function
from operad_check.running.repro import drawn_case as drawn_case
from operad_check.running.repro import verify as verify
from operad_check.running.runner import case_plan as case_plan
from operad_check.running.runner import check_operator as check_operator
from operad_check.trials.case import Case as Case
from operad_check.trials.violation import Violation as Violation

if TYPE_CHECKING:
    from operad_check.foreign.suite import foreign_suite as foreign_suite
    from operad_check.running.suite import contract_suite as contract_suite


def __getattr__(name: str) -> _Any:
    # Only tests need pytest: a program that reproduces a failure does without.
    places = {"contract_suite": "running.suite", "foreign_suite": "foreign.suite"}
    if name not in places:
        raise AttributeError(f"module 'operad_check' has no attribute {name!r}")
    return getattr(_import_module(f"operad_check.{places[name]}"), name)
