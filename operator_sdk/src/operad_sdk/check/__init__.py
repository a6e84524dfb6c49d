"""The contract harness: find what is wrong with an operator, and show it.

Needs the extra `check`: `pip install operad-sdk[check]`.
"""

from operad_sdk.check.case import Case as Case
from operad_sdk.check.catalogue import explain as explain
from operad_sdk.check.outcome import Failure as Failure
from operad_sdk.check.outcome import OperatorReport as OperatorReport
from operad_sdk.check.outcome import Outcome as Outcome
from operad_sdk.check.outcome import Report as Report
from operad_sdk.check.outcome import Status as Status
from operad_sdk.check.profile import Profile as Profile
from operad_sdk.check.repro import verify as verify
from operad_sdk.check.runner import check_operator as check_operator
from operad_sdk.check.violation import Violation as Violation
