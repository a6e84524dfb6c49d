"""Facts of behaviour beside what MXNet 1.9.1 gave once."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.recorded import behaviour


def as_recorded(outcome: Any) -> Any:
    """An outcome as a record holds it."""
    return json.loads(json.dumps(outcome))


def check(found: Any, recorded: Any, fact: str, code: str, *, is_listed: bool) -> None:
    """Assert that an outcome is as in MXNet, or differs where the fact is listed as a difference."""
    differences = list(behaviour.differences(found, recorded, fact))
    if is_listed:
        assert differences, f"{fact} is listed as a difference, and is none"
    else:
        assert not differences, f"{code}: {differences[0]}"
