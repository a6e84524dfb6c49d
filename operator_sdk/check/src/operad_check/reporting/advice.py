"""Advice about an exception, by its type."""

from __future__ import annotations

from typing import Final

import numpy as np

from operad.errors import OperadError
from operad_sdk.errors import DeclarationError, SpecError

_KINDS: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    (
        (NameError, AttributeError, ImportError),
        "Correct the line named: it uses something that is not there.",
    ),
    (
        (np.linalg.LinAlgError,),
        'Declare which matrices it is for, such as Contract(inputs={"data": PositiveDefinite()}).',
    ),
    (
        (IndexError, KeyError),
        (
            "Make the shapes that do not work an error of inference, or declare which numbers index what: "
            'Contract(inputs={"index": Index("data")}).'
        ),
    ),
    ((ZeroDivisionError,), "Bound the parameter it divides by: param(..., gt=0)."),
    ((MemoryError, RecursionError), "Bound what the size follows from: a parameter, or a count."),
    (
        (TypeError,),
        "Accept only the types that it computes with (accepts=...), or correct the call in the line named.",
    ),
)


def advice(error: BaseException) -> str:
    """One suggestion; "" where the check's own is better."""
    if isinstance(error, (DeclarationError, SpecError)):
        return "Correct the name or the line that the message quotes; nothing else of it is looked at before."
    if isinstance(error, OperadError):
        return "Raise it from inference or the constructor, where a graph is still being made."
    for kinds, text in _KINDS:
        if isinstance(error, kinds):
            return text
    return ""
