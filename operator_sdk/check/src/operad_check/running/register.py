"""The register of checks: functions under the ids that the catalogue explains.

The room `checks`, which stands above this one, fills it: `import operad_check` imports that room first.

A check takes one of three things:

* a `Trial`, registered with the kinds of cases it wants; the usual form. It is shown many, and a
  failure is made smaller by looking for a smaller case on which it fails;
* a list of trials, with kinds and `pooled=True`: for statements about several cases together;
* a `Subject`: for statements about the operator as it stands;
* a `Session`, with `of_session=True`: for statements about what all other checks compared.

It raises `Violation` where the contract is broken, and otherwise returns its evidence: how many
things it compared, or how many under each of several names, all of which must then come up in some
case. None says that the check does not apply to such a trial; that must follow from what the
operator declares, never from values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, final

from operad.errors import ArgumentError
from operad_check.cases.kinds import CaseKind
from operad_check.catalogue import CATALOGUE
from operad_check.catalogue.entry import Check

Evidence = int | Mapping[str, int] | None
F = TypeVar("F", bound=Callable[[Any], Evidence])


@final
@dataclass(frozen=True, slots=True)
class CheckFunction:
    """A registered check.

    Attributes:
        id: Its id in the catalogue.
        run: The function.
        kinds: The cases it wants; none: it takes the subject, or the session.
        pooled: Whether it takes all trials at once.
        of_session: Whether it takes the session.
        reports_raising: Whether it is the check that reports code which raises.
        entry: What the catalogue says of it.
    """

    id: str
    run: Callable[[Any], Evidence]
    kinds: tuple[CaseKind, ...]
    pooled: bool
    of_session: bool
    reports_raising: bool
    entry: Check


_checks: Final[dict[str, CheckFunction]] = {}


def check(
    id: str,
    *kinds: CaseKind,
    pooled: bool = False,
    of_session: bool = False,
    reports_raising: bool = False,
) -> Callable[[F], F]:
    """Register a check under its id in the catalogue."""
    assert id in CATALOGUE, f"{id} is not in the catalogue"

    def register(function: F) -> F:
        assert id not in _checks, f"{id} is registered twice"
        _checks[id] = CheckFunction(id, function, kinds, pooled, of_session, reports_raising, CATALOGUE[id])
        return function

    return register


def all_checks() -> dict[str, CheckFunction]:
    """Every check by id, in order."""
    return dict(sorted(_checks.items()))


def find_check(id: str) -> CheckFunction:
    """The check of that id.

    Raises:
        ArgumentError: There is none.
    """
    found = all_checks().get(id)
    if found is None:
        raise ArgumentError(f"check {id!r} is unknown; expected one of {', '.join(all_checks())}")
    return found
