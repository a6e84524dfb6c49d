from __future__ import annotations

from operad_hoisting.joined import Joined
from operad_sdk.check import contract_suite

test_contract = contract_suite([Joined], strict=True)
