"""The contract harness: checks that an operator keeps its promises to the system.

`check_operator` checks one operator, `check_function` a plain pair of functions, `check_foreign` a function
of another library. `contract_suite` makes pytest tests of all checks of a plugin, and `foreign_suite` of a
table of functions. `operad check` does it from the command line, each operator in a process of its own.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from operad_check.foreign.backend import Backend as Backend
    from operad_check.foreign.checking import check_foreign as check_foreign
    from operad_check.foreign.checking import check_numpy as check_numpy
    from operad_check.foreign.function import ForeignFunction as ForeignFunction
    from operad_check.foreign.suite import foreign_suite as foreign_suite
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
    from operad_check.running.suite import contract_suite as contract_suite
    from operad_check.trials.case import Case as Case
    from operad_check.trials.violation import Violation as Violation

# Each is imported when it is first named: `operad new`, `operad tune` and `gradient_check` do without
# Hypothesis, and a program that reproduces a failure does without pytest.
_LAZY = {
    "foreign.backend": ("Backend",),
    "foreign.checking": ("check_foreign", "check_numpy"),
    "foreign.function": ("ForeignFunction",),
    "foreign.suite": ("foreign_suite",),
    "plan.profile": ("Profile",),
    "reporting.outcome": ("Failure", "OperatorReport", "Outcome", "Report", "Status"),
    "running.plain_function": ("check_function",),
    "running.repro": ("drawn_case", "verify"),
    "running.runner": ("case_plan", "check_operator"),
    "running.suite": ("contract_suite",),
    "trials.case": ("Case",),
    "trials.violation": ("Violation",),
}


def __getattr__(name: str) -> _Any:
    for place, names in _LAZY.items():
        if name in names:
            return getattr(_import_module(f"operad_check.{place}"), name)
    raise AttributeError(f"module 'operad_check' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for names in _LAZY.values() for name in names)})
