"""Cases of the operator that sets arrays to zero. MXNet makes no symbol of it: that crashes."""

from __future__ import annotations

from typing import Final

from tests.conformance.recorded.case import Case, exactly, normal

CASES: Final = [
    Case("reset_arrays", "defaults", [normal(2, 3), normal(4)], {"num_arrays": 2}, grad=()),
    Case("reset_arrays", "one", [normal(3)], {"num_arrays": 1}, grad=()),
    Case("reset_arrays", "five", [normal(2) for _ in range(5)], {"num_arrays": 5}, grad=()),
    Case("reset_arrays", "float64", [normal(2, dtype="float64")], {"num_arrays": 1}, grad=()),
    Case("reset_arrays", "float16", [normal(2, dtype="float16")], {"num_arrays": 1}, grad=()),
    Case("reset_arrays", "undefined", [exactly([float("nan"), float("inf")])], {"num_arrays": 1}, grad=()),
]
