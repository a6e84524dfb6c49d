"""Group D: element types that an operator accepts."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad.errors import DTypeError, OperadError
from operad.operator import OperatorProperty
from operad_check.cases.kinds import ORDINARY
from operad_check.cases.params import required_params
from operad_check.cases.retype import retyped
from operad_check.register import Evidence, check
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation

ELEMENT_TYPES: Final = (
    *("float16", "float32", "float64", "bool", "uint8", "int8", "int32", "int64"),
    *("int16", "uint16", "uint32", "uint64"),
)
"""All that arrays can have, the usual ones first."""


@check("D601", ORDINARY)
def element_types(trial: Trial) -> Evidence:
    """Every element type that is accepted works, every other is refused with a DTypeError.

    Type inference is a promise, as shape inference is. A kernel that then raises does so in the middle of
    a run.

    Broken by:
        @unary("erf")    # accepts any type
        def erf(data): return my_erf(data)    # and fails for int8
    Within:
        def my_erf(data):
            if data.dtype.kind != 'f':
                raise TypeError(data.dtype)
            return np.tanh(data)
        HERE
        Example = erf
    Fix:
        Say accepts="floating", or infer_type; or list what is meant in Contract(dtypes=...).
    How:
        Check that every type runs that inference accepts, and that declared types are those it accepts.
    """
    count = len(trial.arguments)
    if not count or _choices(trial) == 0:
        return None
    if not trial.is_runnable:
        return 0
    meant = trial.subject.contract.dtypes
    compared = dict.fromkeys(meant or ["compared"], 0)
    for name in ELEMENT_TYPES:
        is_taken = _inferred(trial.prop, np.dtype(name)) is not None
        if meant and is_taken != (name in meant):
            said = "is not" if is_taken else "is"
            does = "takes" if is_taken else "refuses"
            raise Violation(
                f"{name} {said} among Contract(dtypes=...), and type inference {does} it",
                fix="Name in Contract(dtypes=...) exactly the types that infer_type takes; it refuses the "
                "others with a DTypeError, and accepts= refuses whole families.",
            )
        if is_taken or not meant:
            compared[name if meant else "compared"] += _runs_in(trial, name)
    return compared


@check("D609")
def result_types(subject: Subject) -> Evidence:
    """Results have the types that the contract names.

    Inference and the kernels share one function of types; where that is wrong, both are, and agree.

    Broken by:
        contract = Contract(result_types=[ResultTypes({'bool': 'int64', 'float32': 'float32'})])
        def promote(self, dtype): return dtype    # bool too
    Within:
        spec = "data:(*S) -> output:(*S)"
        HERE
        def forward(data, output): np.copyto(output, data)
    Fix:
        Correct promote() or infer_type(), or the table Contract(result_types=...), which names every
        type that is accepted.
    How:
        Compare inferred types with those that the contract names, for every element type.
    """
    tables = subject.contract.result_types
    if not tables:
        return None
    for table in tables:
        prop = subject.cls(**{**required_params(subject), **table.params})
        for name in ELEMENT_TYPES:
            wanted = table.types.get(name)
            found = _result_type(prop, np.dtype(name))
            if found != wanted:
                given = "".join(f", {key}={value!r}" for key, value in table.params.items())
                does = "is refused" if found is None else f"gives {found}"
                expected = "a refusal" if wanted is None else wanted
                raise Violation(f"{name}{given} {does}, and Contract(result_types=...) says {expected}")
    return len(tables) * len(ELEMENT_TYPES)


def _result_type(prop: OperatorProperty, dtype: np.dtype[Any]) -> str | None:
    known = _inferred(prop, dtype)
    found = None if known is None else prop.infer_type(known)[1][0]
    return None if found is None else found.name


def _runs_in(trial: Trial, name: str) -> int:
    """Run both passes in one type; return the number of passes that were possible."""
    made = retyped(trial, np.dtype(name), is_mixed=True)
    if made is None:
        return 0  # these values have no counterpart
    try:
        made.forward()
        made.any_gradients()
    except OperatorRaised as error:
        if isinstance(error.error, OperadError):
            return 0  # refused in words, such as a scalar that the type cannot hold
        raise Violation(f"type inference takes {name}, and {error}") from error
    return 1 + any(made.differentiable())


def _choices(trial: Trial) -> int:
    """Number of arguments whose type inference leaves open."""
    try:
        known = trial.prop.infer_type([None] * len(trial.arguments))[0]
    except Exception as error:
        message = f"with no type known, infer_type raises {type(error).__name__}: {error}"
        raise Violation(message, fix="Return None for the types that do not follow.") from error
    return sum(dtype is None for dtype in known)


def _inferred(prop: OperatorProperty, dtype: np.dtype[Any]) -> list[Any] | None:
    """Types of the arguments where those that inference leaves open have this one; None if it is refused."""
    known: list[Any] = [None] * len(prop.list_arguments())
    try:
        while True:
            known = list(prop.infer_type(known)[0])
            unknown = [place for place, found in enumerate(known) if found is None]
            if not unknown:
                return known
            known[unknown[0]] = dtype
    except DTypeError:
        return None
    except Exception as error:
        message = f"infer_type raises {type(error).__name__} for {dtype}: {error}; expected a DTypeError"
        raise Violation(message) from error
