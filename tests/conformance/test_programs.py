"""Programs whose results MXNet 1.9.1 gave once; see `recorded/programs.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import operad as od
from tests.conformance.recorded.programs import PROGRAMS, TOLERANCES, run

RECORD: dict[str, Any] = json.loads(
    (Path(__file__).parent / "recorded" / "programs.json").read_text(encoding="utf-8")
)


def as_compared(value: Any, tolerance: float) -> Any:
    """A result with its numbers compared up to rounding."""
    if isinstance(value, dict):
        return {key: as_compared(one, tolerance) for key, one in value.items()}
    if isinstance(value, list):
        return [as_compared(one, tolerance) for one in value]
    return pytest.approx(value, rel=tolerance, abs=tolerance) if isinstance(value, float) else value


@pytest.mark.filterwarnings("ignore:two nodes are called:UserWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_mxnet_gave(name: str) -> None:
    found = json.loads(json.dumps(run(name, od)))  # as a record holds it: lists, no tuples
    assert found == as_compared(RECORD[name], TOLERANCES.get(name, 1e-5))


def test_every_record_has_its_program() -> None:
    assert list(RECORD) == list(PROGRAMS)
