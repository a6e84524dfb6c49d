"""Stage: every first-party operator on one ordinary case of its contract, beside the CPU."""

from __future__ import annotations

from collections.abc import Mapping

from operad import registry
from operad_check.cases.kinds import ORDINARY
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from tests.devices.operators import FIRST_PARTY, compare


def names() -> list[str]:
    """Operators of the plugins first, contributed ones behind."""
    contributed = ("contrib", "image_")
    return sorted(FIRST_PARTY, key=lambda name: (any(word in name for word in contributed), name))


def run(name: str) -> Mapping[str, object]:
    """Compare outputs, states and gradients of one case."""
    session = Session(subject_of(registry.find(name).name), Profile("day", examples=1, seconds=1.0))
    case = next(iter(session.pool(ORDINARY)))
    compare(name, case)
    return {}
