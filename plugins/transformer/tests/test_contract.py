from __future__ import annotations

from operad_check import contract_suite

test_contract = contract_suite("operad_transformer", strict=True)
