"""Programs that show a failure, and the function they call."""

from __future__ import annotations

from base64 import b85encode
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, product
from typing import Any, Final
from zlib import compress

import numpy as np

from operad_check.cases.strategies import case_of
from operad_check.cases.values import Values
from operad_check.plan.profile import profile_of
from operad_check.register import Check, Evidence, find_check
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.cause import authors_line, is_own
from operad_check.trials.subject import Subject, subject_of
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation

_FEW: Final = 32
"""Numbers that a program lists one by one."""
_SEEDS: Final = 3
"""Seeds that are tried for a case on long arrays, so that a program need not list them."""
_ONE_LINE: Final = 1500
"""Characters of packed bytes that stand in one line; of more, each line has `_WIDTH`."""
_WIDTH: Final = 96
_LONG: Final = 300
"""Characters of an expression beyond which the bytes are packed."""


def verify(check_id: str, operator: Any, *cases: Case) -> Evidence:
    """Run one check on exactly these cases; reproductions printed in reports call this.

    Args:
        check_id: Such as `"B301"`.
        operator: A name, a property class, or what a decorator returned.
        cases: One, or those that a check compares; none for a check of the operator as it stands.

    Returns:
        The check's evidence where it passes.

    Raises:
        Violation: It fails; the message starts with the id.
    """
    subject = subject_of(operator)
    try:
        return run_on(find_check(check_id), subject, cases)
    except (Violation, OperatorRaised) as error:
        raise Violation(f"[{check_id}] {subject.name}: {error}") from error


def run_on(check: Check, subject: Subject, cases: Sequence[Case]) -> Evidence:
    """Run a check on cases.

    Raises:
        Violation: It fails.
        OperatorRaised: Code of the operator raises, wherever the check calls it.
        Exception: The check itself is broken.
    """
    if not check.kinds:
        return check.run(Session(subject, profile_of(None)) if check.of_session else subject)
    trials = [Trial(subject, case) for case in cases]
    return run_with(check, trials if check.pooled else trials[0])


def run_with(check: Check, trials: Trial | Sequence[Trial]) -> Evidence:
    """Run a check on a trial or several; raises as `run_on` does."""
    try:
        return check.run(trials)
    except (Violation, OperatorRaised):
        raise
    except (Exception, SystemExit) as error:
        line = authors_line(error)
        if line is None or is_own(error):
            raise
        raise OperatorRaised(f"code of the operator ({line})", error) from error


def script(check_id: str, subject: Subject, cases: Sequence[Case], message: str) -> str:
    """A program of about fifteen lines or less that fails as the check did."""
    if subject.writer is not None:
        return subject.writer(check_id, cases, message)
    module, expression = subject.reference()
    names = [f"case{i}" if len(cases) > 1 else "case" for i in range(len(cases))]
    drawn = [_drawn(subject, case) if _has_packed(case) else "" for case in cases]
    listed = [case for case, call in zip(cases, drawn, strict=True) if not call]
    uses_arrays = any(case.inputs or case.aux for case in listed)
    packed = any(map(_has_packed, listed))
    imported = ["Case"] * bool(listed) + ["drawn_case"] * any(drawn) + ["verify"]
    head = [
        "from base64 import b85decode" if packed else "",
        "from zlib import decompress" if packed else "",
        "import numpy as np" if uses_arrays else "",
        "from numpy import inf, nan" if any(map(_has_nonfinite, listed)) else "",
        f"from operad_check import {', '.join(imported)}",
        module,
    ]
    body = []
    for name, case, call in zip(names, cases, drawn, strict=True):
        body += [f"{name} = {call}"] if call else _case_lines(name, case, is_short=len(cases) > 1)
    call = f"verify({', '.join([repr(check_id), expression, *names])})"
    here = not module and not subject.is_registered
    note = ["# the operator is in no module that can be imported: run this where it is defined"] * here
    return "\n".join([*note, *filter(None, head), "", *body, call, *_comment(message)]) + "\n"


def drawn_case(
    operator: Any,
    *,
    shapes: Mapping[str, Sequence[int]],
    dtypes: Mapping[str, str],
    values: str,
    seed: int,
    params: Mapping[str, Any] | None = None,
    is_train: bool = True,
) -> Case:
    """A case whose elements a seed determines; reproductions on long arrays call this.

    Args:
        operator: A name, a property class, or what a decorator returned.
        shapes: By argument; `dtypes` by argument and auxiliary state.
        values: What the elements are like; a member of `Values`, by its name.

    Raises:
        ArgumentError: There is no such operator; or what a constructor raises for `params`.
    """
    subject = subject_of(operator)
    prop = subject.cls(**(params or {}))
    names, states = prop.list_arguments(), prop.list_auxiliary_states()
    types = [np.dtype(dtypes[name]) for name in names], [np.dtype(dtypes[name]) for name in states]
    sizes = [tuple(shapes[name]) for name in names]
    return case_of(subject, prop, params or {}, sizes, types, is_train, seed, Values[values])


def _drawn(subject: Subject, case: Case) -> str:
    """Call of `drawn_case` that gives this case; "" if none does, as where a case was shrunk."""
    _, expression = subject.reference()
    given = _given(case)
    for values in Values:
        try:
            made = drawn_case(subject, values=values.name, **given)
        except Exception:  # noqa: BLE001 - the operator takes no such values
            continue
        if not case.out_grads and _are_alike(made.inputs, case.inputs) and _are_alike(made.aux, case.aux):
            words = ", ".join(
                f"{name}={value!r}" for name, value in {**given, "values": values.name}.items() if value != {}
            )
            return f"drawn_case({expression}, {words})"
    return ""


def redrawn(subject: Subject, case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case of the same shapes that a seed determines and on which a check fails as well; else the case."""
    if not _has_packed(case):
        return case
    for values, seed in product((Values.DIGITS, Values.LATTICE, Values.TAILS), range(_SEEDS)):
        try:
            made = drawn_case(subject, values=values.name, **{**_given(case), "seed": seed})
        except Exception:  # noqa: BLE001 - the operator takes no such values
            continue
        if fails(made):
            return made
    return case


def _given(case: Case) -> dict[str, Any]:
    return {
        "shapes": {name: array.shape for name, array in case.inputs.items()},
        "dtypes": {name: array.dtype.name for name, array in {**case.inputs, **case.aux}.items()},
        "seed": case.seed,
        "params": dict(case.params),
        "is_train": case.is_train,
    }


def _are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


def _has_packed(case: Case) -> bool:
    return any("b85decode(" in literal(array) for array in [*case.inputs.values(), *case.aux.values()])


def _has_nonfinite(case: Case) -> bool:
    arrays = [*case.inputs.values(), *case.aux.values()]
    return not all(np.isfinite(array).all() for array in arrays)


def _case_lines(name: str, case: Case, *, is_short: bool) -> list[str]:
    fields = [
        f"params={dict(case.params)!r}" if case.params else "",
        f"inputs={_arrays(case.inputs)}" if case.inputs else "",
        f"aux={_arrays(case.aux)}" if case.aux else "",
        f"is_train={case.is_train}",
        f"seed={case.seed}",
    ]
    lines = [f"    {text}," for text in fields if text]
    if is_short:
        lines[-2:] = [f"{lines[-2]} {lines[-1].strip()}"]
    return [f"{name} = Case(", *lines, ")"]


def _arrays(arrays: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name!r}: {literal(array)}" for name, array in arrays.items()) + "}"


def literal(array: np.ndarray[Any, Any]) -> str:
    """Expression that gives exactly the array: its numbers, where they are few or repeat themselves."""
    dtype = array.dtype.name
    if array.size == 0:
        return f"np.zeros({array.shape}, {dtype!r})"
    if array.size > 1 and len(_runs(array)) == 1:
        return f"np.full({array.shape}, {array.flat[0].item()!r}, {dtype!r})"
    if array.size <= _FEW:
        return f"np.array({array.tolist()!r}, {dtype!r})"
    terms = " + ".join(f"[{value!r}]" + f" * {count}" * (count > 1) for value, count in _runs(array))
    if len(terms) <= _LONG:
        return f"np.array({terms}, {dtype!r}).reshape({array.shape})"
    packed = b85encode(compress(array.tobytes(), 9)).decode()
    text = repr(packed)
    if len(packed) > _ONE_LINE:
        parts = [packed[i : i + _WIDTH] for i in range(0, len(packed), _WIDTH)]
        text = "".join(f"\n        {part!r}" for part in parts) + "\n    "
    return f"np.frombuffer(decompress(b85decode({text})), {dtype!r}).reshape({array.shape}).copy()"


def _runs(array: np.ndarray[Any, Any]) -> list[tuple[Any, int]]:
    """Values, and how often each occurs in a row; 0.0 and -0.0 are different values."""
    runs = groupby(array.reshape(-1), key=lambda value: value.tobytes())
    return [(found[0].item(), len(found)) for found in (list(run) for _, run in runs)]


def _comment(message: str) -> list[str]:
    return ["# " + " ".join(message.split())[:300]]
