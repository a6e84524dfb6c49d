"""The catalogue, assembled from the groups."""

from __future__ import annotations

import difflib
from typing import Final

from operad.errors import ArgumentError
from operad_check.catalogue.backward import BACKWARD
from operad_check.catalogue.dtype import DTYPE
from operad_check.catalogue.entry import Check
from operad_check.catalogue.evidence import EVIDENCE
from operad_check.catalogue.forward import FORWARD
from operad_check.catalogue.library import LIBRARY
from operad_check.catalogue.mapper import MAPPER
from operad_check.catalogue.memory import MEMORY
from operad_check.catalogue.runtime import RUNTIME
from operad_check.catalogue.static import STATIC

_GROUPS: Final = (STATIC, FORWARD, BACKWARD, MEMORY, RUNTIME, DTYPE, MAPPER, EVIDENCE)
CATALOGUE: Final[dict[str, Check]] = {check.id: check for group in _GROUPS for check in group}
"""Checks of operators, by id."""
ENTRIES: Final[dict[str, Check]] = {**CATALOGUE, **{check.id: check for check in LIBRARY}}
"""All checks: those of operators, and those that adapters of other libraries add."""


def explain(id: str) -> str:
    """Return the text that `operad explain ID` prints.

    Raises:
        ArgumentError: There is no such check.
    """
    check = ENTRIES.get(id.upper())
    if check is None:
        close = difflib.get_close_matches(id.upper(), ENTRIES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "`operad explain` lists them all"
        raise ArgumentError(f"explain: check {id!r} is unknown; {hint}")
    example = "\n".join(f"    {line}" for line in check.example.splitlines())
    return (
        f"{check.id} ({check.group}): {check.title}.\n\n"
        f"Why:\n    {check.why}\n\nBroken by:\n{example}\n\nFix:\n    {check.fix}\n"
    )
