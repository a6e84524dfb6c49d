"""A check: a function, the cases it wants, and its docstring, which `operad explain` prints.

The docstring has a form, as that of an operator has; `sections` reads it:

    The rule that holds where the check passes, as one sentence.

    The damage where the rule is broken.

    Broken by:
        Code that breaks the rule.
    Within:
        What stands around that code, with HERE in its place, so that the two are an operator: the body of
        its class, or a module in which it is called `Example`.
    Not run:
        In place of `Within`: why the code alone is no operator.
    Fix:
        One suggestion, for the ordinary case.
    How:
        What the function compares. It is for readers of the code.

Beside the function, words are not forgotten when it changes, and a check is added in one place. Python run
with `-OO` has no docstrings, and then the checks have no words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from textwrap import dedent
from typing import Any, Final, final

from operad_check.cases.kinds import CaseKind

Evidence = int | Mapping[str, int] | None
GROUPS: Final = {
    "S": "static",
    "F": "forward",
    "B": "backward",
    "M": "memory contract",
    "R": "runtime",
    "D": "dtype and device",
    "A": "mapper",
    "X": "evidence",
    "L": "library",
}
_HEADING: Final = re.compile(r"^(Broken by|Within|Not run|Fix|How):\n", re.MULTILINE)


@cache
def sections(doc: str) -> Mapping[str, str]:
    """The parts of a check's docstring by their headings; the first two are `title` and `why`."""
    head, *rest = _HEADING.split(cleandoc(doc) + "\n")
    title, _, why = head.partition("\n\n")
    bodies = [dedent(body).strip("\n") for body in rest[1::2]]
    return {"title": title.strip(), "why": why, **dict(zip(rest[::2], bodies, strict=True))}


@final
@dataclass(frozen=True, slots=True)
class Check:
    """A registered check.

    Attributes:
        id: Stable: a letter for the group and a number that is never used again.
        run: The function.
        kinds: The cases it wants; none: it takes the subject, or the session.
        pooled: Whether it takes all trials at once.
        of_session: Whether it takes the session.
        reports_raising: Whether it is the check that reports code which raises.
    """

    id: str
    run: Callable[[Any], Evidence]
    kinds: tuple[CaseKind, ...] = ()
    pooled: bool = False
    of_session: bool = False
    reports_raising: bool = False

    @property
    def group(self) -> str:
        """The group's name."""
        return GROUPS[self.id[0]]

    @property
    def title(self) -> str:
        """The rule that holds where the check passes, as a sentence without a full stop."""
        title = self._text("title").removesuffix(".")
        return title[:1].lower() + title[1:]

    @property
    def why(self) -> str:
        """The damage where the rule is broken."""
        return self._text("why")

    @property
    def example(self) -> str:
        """Code that breaks the rule."""
        return self.words.get("Broken by", "")

    @property
    def fix(self) -> str:
        """One suggestion, for the ordinary case."""
        return self._text("Fix")

    @property
    def words(self) -> Mapping[str, str]:
        """Parts of the docstring, by their headings."""
        return sections(self.run.__doc__ or "")

    def _text(self, heading: str) -> str:
        return " ".join(self.words.get(heading, "").split())
