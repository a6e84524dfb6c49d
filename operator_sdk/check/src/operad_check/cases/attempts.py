"""Record of the attempts at a case, for where none was found."""

from __future__ import annotations

from typing import final

from operad_check.trials.violation import OperatorRaised


@final
class Attempts:
    """Attempts at the cases of one goal.

    Attributes:
        refusal: Words of the operator's last refusal; empty if it was not asked, or refused nothing.
        is_limited: Whether arrays that the operator takes were left out for their size.
        lacks_size: Whether shapes that the operator takes do not have the size that the goal gives.
    """

    __slots__ = ("is_limited", "lacks_size", "refusal")

    def __init__(self) -> None:
        self.refusal = ""
        self.is_limited = self.lacks_size = False

    def refused(self, error: BaseException) -> None:
        """Note what the operator raised when it was asked for something."""
        cause = error.error if isinstance(error, OperatorRaised) else error
        self.refusal = f"{type(cause).__name__}: {cause}"

    @property
    def lack(self) -> str:
        """Why there is no case, as `Coverage` has it."""
        if self.is_limited:
            return "too large"
        return "no such size" if self.lacks_size or not self.refusal else "refused"

    def reaches(self, is_reached: bool) -> bool:
        """Note whether shapes have the size that the goal gives, and return it."""
        self.lacks_size = self.lacks_size or not is_reached
        return is_reached

    def within(self, is_within: bool) -> bool:
        """Note whether arrays are within the limits of the harness, and return it."""
        self.is_limited = self.is_limited or not is_within
        return is_within
