"""Cases of `BatchNorm_v1` and `_contrib_SyncBatchNorm`, which compute what `BatchNorm` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, normal, uniform


def cases(op: str, fixed: dict[str, Any]) -> Iterator[Case]:
    """Training and prediction, with each parameter."""
    vectors = (uniform(3, low=0.5, high=1.5), normal(3), normal(3), uniform(3, low=0.5, high=1.5))
    rows: list[tuple[str, dict[str, Any], bool]] = [
        ("defaults", {}, True),
        ("learned_gamma", {"fix_gamma": False}, True),
        ("prediction", {"fix_gamma": False}, False),
        ("prediction_with_outputs", {"fix_gamma": False, "output_mean_var": True}, False),
        ("global_stats", {"fix_gamma": False, "use_global_stats": True}, True),
        ("eps", {"eps": 0.1, "momentum": 0.5}, True),
        ("output_mean_var", {"output_mean_var": True}, True),
    ]
    for name, params, is_train in rows:
        yield Case(op, name, (normal(4, 3, 2, 2), *vectors), {**fixed, **params}, is_train=is_train)
    yield Case(op, "two_axes", (normal(6, 3), *vectors), fixed)


CASES: list[Case] = [*cases("BatchNorm_v1", {}), *cases("_contrib_SyncBatchNorm", {"key": "one"})]
