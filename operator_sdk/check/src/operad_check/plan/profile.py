"""Profiles: the number of examples and the time of a run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, final

from operad.errors import ArgumentError


@final
@dataclass(frozen=True, slots=True)
class Profile:
    """A number of examples and the time they may take.

    Attributes:
        name: For reports.
        examples: Cases of each kind.
        seconds: A check that has computed for so long, has seen `least` cases and lacks no evidence stops
            early; processor time.
        least: Cases that a check sees however slow the operator is.
        shrinking_s: Processor time in seconds after which a case that fails is small enough.
        seed: Of everything random.
        limit_s: Seconds after which a check is stopped, and has proved nothing; None: never.
    """

    name: str
    examples: int
    seconds: float
    least: int = 10
    shrinking_s: float = 20.0
    seed: int = 0
    limit_s: float | None = None


PROFILES: Final = {
    "dev": Profile("dev", 50, 0.1),
    "ci": Profile("ci", 200, 2.0),
    "nightly": Profile("nightly", 2000, 60.0),
}


def profile_of(name: str | Profile | None) -> Profile:
    """Profile of that name; for None, the one that `HYPOTHESIS_PROFILE` names, else `dev`.

    Raises:
        ArgumentError: There is no such profile.
    """
    if isinstance(name, Profile):
        return name
    if name is None:
        return PROFILES.get(os.environ.get("HYPOTHESIS_PROFILE", ""), PROFILES["dev"])
    if name not in PROFILES:
        raise ArgumentError(f"profile {name!r} is unknown; expected one of {', '.join(PROFILES)}")
    return PROFILES[name]
