"""The register that modules of checks fill when they are imported.

`import operad_check` imports the room `checks`, which stands above this one. A check takes one of these:

* a `Trial`, registered with the kinds of cases it wants; the usual form. It is shown many, and a
  failure is shrunk by looking for a smaller case on which it fails;
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
from typing import Any, Final, TypeVar

from operad.errors import ArgumentError
from operad_check.cases.kinds import CaseKind
from operad_check.register.check import GROUPS, Check, Evidence

F = TypeVar("F", bound=Callable[[Any], Evidence])
R = TypeVar("R", bound=Callable[..., object])

_entries: Final[dict[str, Check]] = {}
_checks: Final[dict[str, Check]] = {}
_ORDER: Final = "".join(GROUPS)


def check(id: str, *kinds: CaseKind, **options: bool) -> Callable[[F], F]:
    """Register a check of operators.

    Args:
        id: Its id.
        kinds: The cases it wants.
        options: `pooled`, `of_session` and `reports_raising` of `Check`.
    """

    def register(function: F) -> F:
        _checks[id] = _registered(Check(id, function, kinds, **options))
        return function

    return register


def library_check(
    id: str, *kinds: CaseKind, pooled: bool = False
) -> Callable[[Callable[[Any], Evidence]], Check]:
    """Register a check of functions of a library, for an adapter to offer among its own."""
    return lambda function: _registered(Check(id, function, kinds, pooled))


def rule(id: str) -> Callable[[R], R]:
    """Register a rule by which outcomes are judged, under the function that does it."""

    def register(function: R) -> R:
        judged: Any = function
        _registered(Check(id, judged))
        return function

    return register


def _registered(made: Check) -> Check:
    assert made.id not in _entries, f"{made.id} is registered twice"
    assert made.id[0] in GROUPS, f"{made.id} is of no group"
    _entries[made.id] = made
    return made


def entries() -> Mapping[str, Check]:
    """Everything that can be explained, by id, group by group: checks, also of libraries, and rules."""
    return dict(sorted(_entries.items(), key=lambda item: (_ORDER.index(item[0][0]), item[0])))


def operator_entries() -> Mapping[str, Check]:
    """Those of operators: checks and rules."""
    return {id: entry for id, entry in entries().items() if id[0] != "L"}


def all_checks() -> dict[str, Check]:
    """Every check of operators by id, in order."""
    return dict(sorted(_checks.items()))


def find_check(id: str) -> Check:
    """The check of operators of that id.

    Raises:
        ArgumentError: There is none.
    """
    found = all_checks().get(id)
    if found is None:
        raise ArgumentError(f"check {id!r} is unknown; expected one of {', '.join(all_checks())}")
    return found
