"""One fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

from operad_check.mutations.mutant import Wrapped, Wrapper, mutant
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial


def always(_: Trial) -> bool:
    """Return True: the fault can be put into any operator."""
    return True


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """A way to break an operator.

    Attributes:
        words: What is wrong, as a clause: "forward overwrites where it should add".
        caught_by: Checks of which one at least must fail, the cheapest first.
        wrapper: Computes wrongly.
        declared: Members of the property class in place of its own, made from the class.
        applies: Whether it is a fault on a case.
        may_be_equal: Whether there are correct operators in which it changes nothing.
    """

    words: str
    caught_by: tuple[str, ...]
    wrapper: Wrapper = Wrapped
    declared: Callable[[type], Mapping[str, Any]] = field(default=lambda _: {})
    applies: Callable[[Trial], bool] = always
    may_be_equal: bool = False

    def put_into(self, subject: Subject) -> Subject:
        """The operator with this fault."""
        return mutant(subject, self.wrapper, **self.declared(subject.cls))
