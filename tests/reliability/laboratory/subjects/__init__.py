"""What is interrupted, and what has to hold afterwards.

A subject does one thing that a program does, in `act`. It may be left anywhere by an error from outside: an
exception of a signal's handler, a failed allocation, an exhausted stack. Then `check` tells whether what it
did is done or not done, never half; what was pushed before has run; and everything that has a value has the
right one.
"""

from __future__ import annotations

from typing import Final

from tests.reliability.laboratory.subjects.arrays import (
    Add,
    Dot,
    Record,
    Recycle,
    Save,
    Scopes,
    Step,
    Tanh,
    Update,
    Write,
)
from tests.reliability.laboratory.subjects.pushes import (
    Bulk,
    Delete,
    Fork,
    Inline,
    Push,
    PushAndHire,
    PushAndWait,
    PushBehind,
    PushMany,
    StopAndPush,
    WaitForFailure,
)
from tests.reliability.laboratory.subjects.subject import Subject
from tests.reliability.laboratory.subjects.subject import Unraisable as Unraisable
from tests.reliability.laboratory.subjects.subject import caused_by as caused_by
from tests.reliability.laboratory.subjects.subject import check_at_rest as check_at_rest
from tests.reliability.laboratory.subjects.subject import judge as judge
from tests.reliability.laboratory.subjects.subject import traced as traced
from tests.reliability.laboratory.subjects.threads import Ask, NewCourier, StopAhead, TakeAhead

SUBJECTS: Final[dict[str, type[Subject]]] = {
    "push": Push,
    "push-wait": PushAndWait,
    "push-many": PushMany,
    "push-behind": PushBehind,
    "inline": Inline,
    "delete": Delete,
    "bulk": Bulk,
    "failure": WaitForFailure,
    "tanh": Tanh,
    "add": Add,
    "dot": Dot,
    "write": Write,
    "recycle": Recycle,
    "update": Update,
    "record": Record,
    "save": Save,
    "scopes": Scopes,
    "step": Step,
}
APART: Final[dict[str, type[Subject]]] = {
    "fork": Fork,
    "hire": PushAndHire,
    "stop": StopAndPush,
    "ask": Ask,
    "courier": NewCourier,
    "take": TakeAhead,
    "pass": StopAhead,
}
"""Subjects apart: exceptions in a fork's handlers come out of nothing, and a fork takes milliseconds. An
exception that is sent to a thread while that starts another may reach the new one, which has its number until
it runs (CPython 3.11); signals are never mistaken so."""

ARRAYS: Final = [name for name, subject in SUBJECTS.items() if not issubclass(subject, Push)]
"""Subjects whose operations run inline or are pushed, as the settings say."""
