from __future__ import annotations

from operad_check import contract_suite
from operad_hoisting.joined import Joined

test_contract = contract_suite([Joined], strict=True)
