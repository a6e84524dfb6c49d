"""Group S: parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, Final

from operad.errors import OperadError, ParamError
from operad.operator import OperatorProperty, Param, is_known
from operad_check.cases.kinds import ORDINARY
from operad_check.cases.params import candidates, required_params
from operad_check.register import Evidence, check
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation, shown_by

_LISTS: Final = ("shape", "indices", "floats")
_MANY: Final = 10**5
"""A number that is too large for a size or a place, and not for an array of it."""
_MOST_ELEMENTS: Final = 10**4
"""Elements of outputs up to which an operator is run."""


@check("S103")
def round_trip(subject: Subject) -> Evidence:
    """Parameters survive the conversion to strings and back.

    Graphs are saved as JSON, where parameters are strings. An operator whose parameters do not come back
    equal is another operator after loading.

    Broken by:
        def get_params(self):
            return {'alpha': f'{self.alpha:.2f}'}
    Within:
        spec = "data:(*S) -> output:(*S)"
        alpha = param(float, 1.0, doc="A number.")
        def forward(data): return data * 1
        HERE
    Fix:
        Leave get_params to param(...), or print every digit.
    How:
        Check that each value of each parameter survives the trip to strings and back.
    """
    required = required_params(subject)
    count = 0
    for name, param in subject.cls.params.items():
        for value in [*candidates(subject, param, 2), *_long_numbers(subject, param)]:
            try:
                prop = subject.cls(**{**required, name: value})
            except Exception:  # noqa: BLE001 - it does not go with the other parameters; or S104 reports it
                continue
            _expect_back(prop)
            count += 1
    return count or None


def _long_numbers(subject: Subject, param: Param) -> list[Any]:
    """Numbers with many digits, within the bounds."""
    if (
        param.type not in (float, "floats")
        or param.choices is not None
        or param.name in subject.contract.params
    ):
        return []
    low = param.bounds.get("ge", param.bounds.get("gt", 0.0))
    high = param.bounds.get("le", param.bounds.get("lt", low + 1.0))
    number = low + (high - low) / 3
    return [(number, number)] if param.type == "floats" else [number]


def _expect_back(prop: OperatorProperty) -> None:
    cls = type(prop)
    words = prop.get_params()
    for name, word in words.items():
        if not isinstance(word, str):
            raise Violation(f"get_params gives {word!r} for {name!r}, expected a string")
    try:
        again = cls(**words)
    except Exception as error:
        raise Violation(f"{cls.name}(**{words}), from get_params, raised {error!r}") from error
    for name in cls.params:
        before, after = getattr(prop, name, None), getattr(again, name, None)
        if before != after or type(before) is not type(after):
            raise Violation(
                f"parameter {name!r} is {before!r}, and comes back from {words.get(name)!r} as {after!r}"
            )
    if again.list_arguments() != prop.list_arguments() or again.get_params() != words:
        raise Violation(f"{cls.name}(**{words}), from get_params, is another operator")


@check("S104")
def bounds(subject: Subject) -> Evidence:
    """Parameters within their bounds are accepted, and others refused with a ParamError.

    A wrong parameter that passes shows up later, as a shape error or a wrong result.

    Broken by:
        def __init__(self, **params):
            super().__init__(num_hidden=params['num_hidden'])
    Within:
        spec = "data:(*S) -> output:(*S)"
        num_hidden = param(int, ge=1, doc="How many.")
        def forward(data): return data * 1
        HERE
    Fix:
        Say the bounds in param(...), and raise ParamError for what depends on several parameters.
    How:
        Try each parameter within its bounds, beyond them and with another type; and an unknown parameter.
    """
    required = required_params(subject)
    count = 0
    for name, param in subject.cls.params.items():
        for value in wrong_values(param):
            _expect_refused(subject, required, name, value, param.expects())
            count += 1
        if param.is_required:
            without = {n: v for n, v in required.items() if n != name}
            _expect_param_error(subject, without, f"without the required parameter {name!r}")
        for value in candidates(subject, param, 2):
            _expect_no_crash(subject, {**required, name: value})
            count += 1
    _expect_refused(subject, required, "no_such_parameter", 1, "no parameter of that name")
    return count + 1


def wrong_values(param: Param) -> Iterator[Any]:
    """Values beyond the bounds, and one of another type."""
    bounds = param.bounds
    step = 1 if param.type in (int, "shape", "indices") else 0.25
    wrong: list[Any] = []
    wrong += [bounds["ge"] - step] if "ge" in bounds else []
    wrong += [bounds["gt"]] if "gt" in bounds else []
    wrong += [bounds["le"] + step] if "le" in bounds else []
    wrong += [bounds["lt"]] if "lt" in bounds else []
    for value in wrong:
        number = int(value) if step == 1 else value
        yield (number, number) if param.type in ("shape", "indices", "floats") else number
    if param.choices is not None or param.type in (int, float, bool, "dtype"):
        yield "no such value"


def _expect_refused(subject: Subject, required: Any, name: str, value: Any, expects: str) -> None:
    _expect_param_error(subject, {**required, name: value}, f"with {name}={value!r}, expected {expects}")


def _expect_param_error(subject: Subject, params: Any, what: str) -> None:
    try:
        subject.cls(**params)
    except ParamError:
        return
    except Exception as error:
        kind = type(error).__name__
        raise Violation(f"{subject.name} {what}: raised {kind}, expected a ParamError") from error
    raise Violation(f"{subject.name} {what}: it was accepted")


def _expect_no_crash(subject: Subject, params: Any) -> None:
    try:
        subject.cls(**params)
    except OperadError:  # it may not go with the other parameters
        return
    except Exception as error:
        raise Violation(f"{subject.name}(**{params}) raised {type(error).__name__}: {error}") from error


@check("S105")
def defaults(subject: Subject) -> Evidence:
    """Every default is a value that the parameter itself accepts.

    Defaults are not validated when used, but they are when a saved graph is loaded: it then fails.

    Broken by:
        num_group = param(int, 0, ge=1)
    Not run:
        Refused where it is declared.
    Fix:
        Change the default or the bounds; a parameter that may be left out altogether has the default
        None.
    How:
        Check that each default is accepted, and stays what it is.
    """
    count = 0
    for name, param in subject.cls.params.items():
        if param.is_required:
            continue
        try:
            parsed = param.parse(param.default)
        except ParamError as error:
            raise Violation(f"the default of {name!r} is refused: {error}") from error
        if parsed != param.default or type(parsed) is not type(param.default):
            raise Violation(f"the default of {name!r} is {param.default!r}, and is read as {parsed!r}")
        count += 1
    return count or None


@check("S112", ORDINARY, pooled=True)
def unusual(trials: Sequence[Trial]) -> Evidence:
    """Lists of another length, and negative and huge numbers, are refused by inference, or work.

    A call with a wrong parameter should end in words, and not in the middle of a computation, whose
    message names neither the parameter nor the operator.

    Broken by:
        def forward(data, offset):
            top, left = offset    # what if there are three?
    Within:
        spec = "data:(N, D) -> output:(N, D)"
        offset = param("indices", (0, 0), doc="How far.")
        accepts = "floating"
        HERE
            return np.roll(data, (top, left), (0, 1))
    Fix:
        Give the parameter bounds, write its length into the shape line, or refuse it in infer_shape.
    How:
        Pass lists of other lengths, and negative and huge numbers: each is refused by inference, or works.
    """
    subject = trials[0].subject
    values = {
        name: _unusual_values(param, subject.contract.params.get(name))
        for name, param in subject.cls.params.items()
        if param.type in (*_LISTS, int) and param.choices is None
    }
    count = 0
    chosen = {len(trial.in_shapes[0]) if trial.in_shapes else 0: trial for trial in trials[::-1]}
    tried = [(name, value) for name, several in values.items() for value in several]
    for trial, (name, value) in product(chosen.values(), tried):
        case = replace(trial.case, params={**trial.case.params, name: value})
        with shown_by(trial.case):
            outcome_of(trial, case, f"{name}={value!r}")
        count += 1
    return count or None


def _unusual_values(param: Param, declared: Sequence[Any] | None) -> list[Any]:
    """Values to try; where an author declares some, only lists of other lengths, made of theirs."""
    if declared is not None:
        return [other for value in declared for other in lists_of_other_length(value)]
    if param.type is int:
        return [-1, -3, _MANY]
    numbers = (1, -1, 0, _MANY)
    return [(), (1,), (1,) * 5, *[(number,) * length for number in numbers for length in (2, 3)]]


def lists_of_other_length(value: Any) -> list[Any]:
    """The list with one element fewer, and with one more."""
    return [value[:-1], (*value, value[-1])] if isinstance(value, tuple) and value else []


def outcome_of(trial: Trial, case: Case, what: str, *refusals: type[Exception]) -> list[Any] | None:
    """Outputs of a trial's operator on a changed case; None if that is refused, or too large to run.

    Args:
        what: What was changed, for the message.
        refusals: What a forward function refuses it by, beside an OperadError.

    Raises:
        Violation: It breaks, instead of being refused.
    """
    what = f"{trial.subject.name} with {what} and arguments of shapes {trial.in_shapes}"
    try:
        prop: OperatorProperty = trial.subject.cls(**case.params)
        if prop.list_arguments() != trial.arguments:
            return None  # it says how many arguments there are
        out_shapes: Sequence[Any] = prop.infer_shape(trial.in_shapes)[1]
        prop.infer_type(trial.in_types)
        made = Trial(trial.subject, replace(case, out_grads=()))
    except OperadError:
        return None
    except Exception as error:
        cause = error.error if isinstance(error, OperatorRaised) else error
        if isinstance(cause, OperadError):
            return None
        raise Violation(f"{what}: inference raised {type(cause).__name__}: {cause}") from error
    if any(is_known(shape) and min(shape, default=0) < 0 for shape in out_shapes):
        raise Violation(f"{what}: inference gives outputs of shapes {list(out_shapes)}")
    if sum(prod(shape) if is_known(shape) else 0 for shape in out_shapes) > _MOST_ELEMENTS:
        return None
    try:
        return made.written(made.forward().outputs)
    except OperatorRaised as error:
        if isinstance(error.error, (OperadError, MemoryError, *refusals)):
            return None
        raise Violation(f"{what}: inference accepts them, and {error}") from error
