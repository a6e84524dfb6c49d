"""Exceptions that checks raise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from operad.errors import OperadError, ShapeError
from operad_check.trials.case import Case
from operad_check.trials.cause import Meant, authors_line


class Verdict(StrEnum):
    """Weight of a finding."""

    WRONG = "wrong"
    """A promise is broken."""
    UNDECLARED = "undeclared"
    """A declaration is missing that would say whether it is meant."""
    HARD = "hard"
    """Its type, or cancellation, leaves so few digits that the figure is shown and not judged."""


@final
@dataclass(frozen=True, slots=True)
class Declaration:
    """Declaration that would settle a finding.

    Attributes:
        name: Keyword of a decorator, or attribute of a class.
        value: As it stands in a source.
    """

    name: str
    value: str

    def __str__(self) -> str:
        """As an author writes it."""
        return f"{self.name}={self.value}"


@final
class Violation(Meant, AssertionError):  # noqa: N818 - a finding about an operator, no error of ours
    """Breach of an operator's contract.

    Args:
        message: One line: which thing, found, expected.
        fix: A suggestion for this case; left out: the check's.
        cases: Those that show it, for a check of several cases.
        verdict: How much it weighs.
        declares: What would settle it, where a program can write that.
    """

    def __init__(
        self,
        message: str,
        fix: str = "",
        cases: Sequence[Case] = (),
        verdict: Verdict = Verdict.WRONG,
        declares: Declaration | None = None,
    ) -> None:
        super().__init__(message)
        self.message = self.finding = message
        self.fix = fix
        self.cases = cases
        self.verdict = verdict
        self.declares = declares

    def add(self, words: str) -> None:
        """Append words on the circumstances to the message; `finding` stays without them."""
        self.message += words
        self.args = (self.message,)


def undeclared(message: str, declares: Declaration) -> Violation:
    """Finding that a declaration would settle."""
    return Violation(message, f"Say {declares}.", (), Verdict.UNDECLARED, declares)


@contextmanager
def shown_by(*cases: Case) -> Iterator[None]:
    """Name the cases that show a violation which the block raises, in a check of several cases."""
    try:
        yield
    except Violation as error:
        error.cases = error.cases or cases
        raise


@final
class OperatorRaised(Meant, Exception):  # noqa: N818 - says what happened, in the operator's code
    """Exception from an operator's code where none is allowed.

    One check of each pass reports it; the others have no example in this case.

    Args:
        where: `forward`, `backward`, `infer_shape` and so on.
        error: What it raised.
    """

    def __init__(self, where: str, error: BaseException) -> None:
        line = authors_line(error)
        place = f" ({line})" if line else ""
        notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        super().__init__(f"{where} raised {type(error).__name__}: {error}{place}{notes}")
        self.where = where
        self.error = error

    @property
    def is_refusal(self) -> bool:
        """True if arguments were refused that nothing says must be taken."""
        return isinstance(self.error, Refusal)


@final
class Refusal(OperadError):  # noqa: N818 - what a function may do, no error of ours
    """Refusal of arguments by a function of another library, which promises to take none in particular."""


@final
class UndeclaredError(ShapeError):
    """Result of a function that a declaration would explain."""

    def __init__(self, message: str, declares: Declaration) -> None:
        super().__init__(message)
        self.declares = declares


@final
class Unavailable(Meant, Exception):  # noqa: N818 - no error of anybody's
    """Lack of something on this machine that a check needs; the message names it."""
