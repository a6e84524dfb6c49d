"""Cases for all checks of one operator, drawn once for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final
from zlib import crc32

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable

from operad_sdk.check import backend
from operad_sdk.check.case import Case
from operad_sdk.check.kinds import CaseKind
from operad_sdk.check.profile import Profile
from operad_sdk.check.strategies import cases
from operad_sdk.check.subject import Subject


@final
class Session:
    """One operator and one profile, with the cases made so far."""

    def __init__(self, subject: Subject, profile: Profile) -> None:
        self.subject = subject
        self.profile = profile
        self._pools: dict[CaseKind, list[Case]] = {}

    def pool(self, kind: CaseKind) -> list[Case]:
        """The cases of one kind, always the same; none where the operator accepts none.

        Raises:
            OperatorRaised: The operator's constructor breaks on parameters within their bounds.
        """
        if kind not in self._pools:
            found: list[Case] = []
            self.examine(kind, found.append, shrink=False)
            self._pools[kind] = found
        return self._pools[kind]

    def examine(self, kind: CaseKind, function: Callable[[Case], Any], *, shrink: bool) -> None:
        """Call `function` with each case, in the order of the pool.

        Args:
            shrink: Go on with smaller and smaller cases once one raises.
        """
        name = f"{self.subject.name} {kind.name}"
        seed = crc32(name.encode()) ^ self.profile.seed
        phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)

        @seeded(seed)
        @settings(
            max_examples=max(1, round(self.profile.examples * kind.share)),
            database=None,
            deadline=None,
            derandomize=False,
            backend=backend.NAME,
            phases=phases,
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(cases(self.subject, kind))
        def run(case: Case) -> None:
            function(case)

        backend.SeededProvider.seed = seed
        try:
            run()
        except Unsatisfiable:
            return
