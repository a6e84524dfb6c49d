"""An example for a docstring: the operator called on a small case, with what it gives."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from textwrap import indent
from typing import Any, Final

import numpy as np

import operad as od
from operad.errors import ArgumentError
from operad.files import write_atomically
from operad_check.cases.kinds import ORDINARY
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.case import Case
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised

_ENOUGH: Final = 2
"""Elements of an example's result, at least; a single one shows little."""
_CASES: Final = Profile("examples", examples=60, seconds=1.0)


def example_of(subject: Subject) -> str:
    """The lines of a doctest.

    Raises:
        ArgumentError: No case was found that runs.
    """
    cases = sorted(Session(subject, _CASES).pool(ORDINARY), key=lambda case: (len(case.params), case.size))
    for case in cases:
        shown = _shown(subject, case)
        if shown is not None:
            return shown
    raise ArgumentError(
        f"{subject.name}: no case was found that runs; declare Contract(shapes=..., inputs=...)"
    )


def write_example(subject: Subject) -> str:
    """Put an example into the docstring of the operator's source; returns what was written, and where.

    Raises:
        ArgumentError: It has an example, or its docstring cannot be found in a file.
    """
    doc = subject.cls.__doc__ or ""
    if ">>>" in doc:
        raise ArgumentError(f"{subject.name}: its docstring has an example; remove it to have one written")
    module = sys.modules.get(subject.cls.__module__)
    path = Path(getattr(module, "__file__", None) or "")
    # Python 3.13 takes the indentation from `__doc__`; the file has it under every Python.
    said = inspect.cleandoc(doc)
    nodes = _docstrings(path) if path.is_file() else []
    found = [node for node in nodes if inspect.cleandoc(str(node.value)) == said]
    if len(found) != 1 or not doc:
        raise ArgumentError(
            f"{subject.name}: expected one docstring of its text in {str(path)!r}, found {len(found)}; write "
            "a docstring that says what it computes, or paste:\n" + example_of(subject)
        )
    lines = path.read_text().splitlines(keepends=True)
    last = (found[0].end_lineno or 1) - 1
    before, quotes, after = lines[last].rpartition('"""')
    margin = " " * (found[0].col_offset)
    text = "Example:\n" + indent(example_of(subject), "    ")
    lines[last] = f"{before.rstrip()}\n\n{indent(text, margin)}\n{margin}{quotes}{after}"
    write_atomically(path.absolute(), "".join(lines).encode())
    return f"{path}:{last + 2}\n{text}"


def _docstrings(path: Path) -> list[ast.Constant]:
    """The docstrings of functions and classes in a file."""
    return [
        node.body[0].value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    ]


def _shown(subject: Subject, case: Case) -> str | None:
    """The call and its result; None where they show little, or nothing."""
    try:
        trial = Trial(subject, case)
        outputs = trial.result.outputs[: trial.visible]
    except OperatorRaised:
        return None
    if any(array.dtype != np.float32 for array in trial.inputs) or outputs[0].size < _ENOUGH:
        return None
    arrays = [f"od.nd.array({array.tolist()!r})" for array in (*trial.inputs, *trial.aux)]
    params = [f"{name}={value!r}" for name, value in case.params.items()]
    call = f"od.nd.{subject.name}({', '.join([*arrays, *params])})"
    result: Any = getattr(od.nd, subject.name)(
        *[od.nd.array(array) for array in (*trial.inputs, *trial.aux)], **case.params
    )
    several = isinstance(result, list)
    shown = repr([each.asnumpy() for each in result]) if several else repr(result.asnumpy())
    ending = f"[each.asnumpy() for each in {call}]" if several else f"{call}.asnumpy()"
    return f">>> import operad as od\n>>> {ending}\n{shown}"
