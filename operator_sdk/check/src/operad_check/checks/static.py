"""Group S: names, documentation and declarations, which need no run."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any, Final, final

from operad import registry
from operad.errors import OperadError
from operad_check.cases.params import candidates, required_params
from operad_check.checks.relations import RELATIONS
from operad_check.register import Evidence, check, operator_entries
from operad_check.trials.subject import Subject
from operad_check.trials.violation import Verdict, Violation
from operad_sdk.contract import Contract
from operad_sdk.shapes import parse

_EXEMPTIONS: Final = (
    *("ignores_head_gradient", "no_numeric_gradient", "assumes_shapes", "nan_policy", "nondeterministic"),
    *("undefined", "ties"),
)


@check("S101")
def entry_point(subject: Subject) -> Evidence:
    """The entry point's name is the operator's own, or that of an alias beside it.

    Graphs are saved under the operator's own name. If no entry point has it, a saved file cannot be
    loaded.

    Broken by:
        ReLU6 = "acme_ops.relu:relu6"    # and in the code: @unary("relu_6")
    Not run:
        An entry point.
    Fix:
        Give the entry point and the decorator one name; an alias is a second entry point.
    How:
        Check that the operator's own name leads back to the operator.
    """
    if not subject.is_registered:
        return None
    own = subject.cls.name
    try:
        found = registry.get(own)
    except OperadError as error:
        raise Violation(
            f"the operator found as {subject.name!r} calls itself {own!r}, which nothing provides: {error}"
        ) from error
    if found is not subject.cls:
        raise Violation(
            f"the operator found as {subject.name!r} calls itself {own!r}, which is another operator"
        )
    return 1


@check("S107")
def documented(subject: Subject) -> Evidence:
    """The operator and each of its parameters are documented.

    Generated documentation, `operad describe` and editors show these texts.

    Broken by:
        alpha = param(float, 1.0)    # no doc=
    Within:
        spec = "data:(*S) -> output:(*S)"
        def forward(data): return data * 1
        HERE
    Fix:
        Give the class or function a docstring whose first line says what it computes, and
        param(doc=...).
    How:
        Check that there is a summary line, and a text for each parameter.
    """
    doc = docstring(subject)
    summary = doc.strip().split("\n\n", maxsplit=1)[0]
    if not summary or not summary.rstrip().endswith((".", ":")):
        found = f"the docstring begins {summary[:60]!r}" if summary else "there is no docstring"
        raise Violation(
            f"{found}; expected a sentence that says what the operator computes", verdict=Verdict.UNDECLARED
        )
    for name, param in subject.cls.params.items():
        if not param.doc.strip():
            raise Violation(f"parameter {name!r} has no doc", verdict=Verdict.UNDECLARED)
    return 1 + len(subject.cls.params)


@check("S108")
def example(subject: Subject) -> Evidence:
    '''The docstring has an example, and the example gives what it says.

    An example is what most readers look at first; one that is wrong misleads all of them.

    Broken by:
        """>>> od.nd.twice(od.nd.array([1])).asnumpy()
        array([3.], dtype=float32)"""
    Not run:
        A docstring of an operator that is installed.
    Fix:
        Add a doctest (lines that start with >>>), or correct its output.
    How:
        Run the doctest of the docstring.
    '''
    text = docstring(subject)
    module = sys.modules.get(subject.cls.__module__)
    names = dict(vars(module)) if module is not None else {}
    test = doctest.DocTestParser().get_doctest(text, names, subject.name, None, 0)
    if not test.examples:
        raise Violation(
            "the docstring has no example (a line that starts with >>>)",
            fix="Write one, as `operad check --write-example` does.",
            verdict=Verdict.UNDECLARED,
        )
    said: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = _Runner(verbose=False, optionflags=flags).run(test, out=said.append)
    if result.failed:
        raise Violation("the example gives something else: " + " ".join(said[0].split())[:400])
    return len(test.examples)


@final
class _Runner(doctest.DocTestRunner):
    """Doctests whose failures are told in one line, the error before the line that raised it."""

    def report_failure(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        """Tell what a line gives."""
        out(f"{got.strip() or 'nothing'}, expected {example.want.strip() or 'nothing'}, by {example.source}")

    def report_unexpected_exception(
        self, out: Any, test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        """Tell what a line raises."""
        out(f"{exc_info[0].__name__}: {exc_info[1]}, by {example.source}")


def docstring(subject: Subject) -> str:
    """The operator's own docstring, not that of a base class."""
    return inspect.cleandoc(vars(subject.cls).get("__doc__") or "")


_SHAPE_LINE: Final = re.compile(r"^\s+(\w+): (\([^()]*\))")


@check("S111")
def documented_shapes(subject: Subject) -> Evidence:
    '''The docstring's shapes are those of the spec line.

    Readers believe the docstring, and the executor the line.

    Broken by:
        """...

        Shapes:
            data: (N, D).
        """    # and spec = "data:(D, N) -> output:(D)"
    Not run:
        A docstring.
    Fix:
        Correct the section Shapes: of the docstring, which names each tensor and its axes.
    How:
        Compare the section `Shapes:` with the spec line: names, and numbers of axes where both are plain.
    '''
    section = docstring(subject).partition("\nShapes:\n")[2].partition("\n\n")[0]
    spec = getattr(subject.cls, "spec", None)
    if not section or not isinstance(spec, str):
        return None
    line = parse(spec)
    items = {item.name: item for item in (*line.inputs, *line.outputs)}
    compared = 0
    for text in section.splitlines():
        found = _SHAPE_LINE.match(text)
        if found is None or found[1] not in items:
            continue
        said, written = found[2], items[found[1]].shape_text
        if any(mark in said + written for mark in ("...", "*", "if ", "[")):
            continue
        if _axes(said) != _axes(written):
            raise Violation(f"the docstring says {found[1]}: {said}, and the spec line {written}")
        compared += 1
    return compared or None


def _axes(text: str) -> int:
    return len([part for part in text.strip("() ").split(",") if part.strip()])


@check("S110")
def contract(subject: Subject) -> Evidence:
    """Names in the contract exist, and every exemption has a reason.

    A misspelt name in a contract declares nothing, silently.

    Broken by:
        Contract(inputs={"lable": Integers(0, 9)})
    Within:
        spec = "data:(*S) -> output:(*S)"
        def forward(data): return data * 1
        contract = HERE
    Fix:
        Use names of arguments, auxiliary states and parameters, ids of checks, and say why.
    How:
        Check the names and reasons in the contract.
    """
    declared = subject.contract
    unknown = [f"parameter {name!r}" for name in declared.params if name not in subject.cls.params]
    tensors = known_tensors(subject)
    if tensors is not None:
        unknown += [f"argument {name!r}" for name in declared.inputs if name not in tensors]
    distribution = declared.distribution
    drawn_with = {name for params in (distribution.params if distribution else ()) for name in params}
    unknown += [f"parameter {name!r}" for name in sorted(drawn_with - set(subject.cls.params))]
    unknown += [f"relation {name!r}" for name in declared.relations if name not in RELATIONS]
    unknown += [f"check {id!r}" for id in declared.expected_failures if id not in operator_entries()]
    if unknown:
        raise Violation(f"the contract names {', '.join(unknown)}, which does not exist")
    _expect_reasons(declared)
    return 1


def _expect_reasons(declared: Contract) -> None:
    """Raise Violation if an exemption has no reason; another check looks at expected failures."""
    reasons = {f"tolerance for {name}": each.reason for name, each in declared.tolerances.items()}
    reasons |= {name: getattr(declared, name) for name in _EXEMPTIONS if getattr(declared, name)}
    for what, reason in reasons.items():
        if not str(reason).strip():
            raise Violation(f"the contract's {what} has no reason")


def known_tensors(subject: Subject) -> set[str] | None:
    """Names of arguments and states for some parameters, and their stems; None if they cannot be listed."""
    found: set[str] = set()
    for prop in _some_properties(subject):
        names = [*prop.list_arguments(), *prop.list_auxiliary_states()]
        found.update(names, (name.rstrip("0123456789") for name in names))
    return found or None


def _some_properties(subject: Subject) -> Iterator[Any]:
    """Properties with different parameters."""
    required = required_params(subject)
    variations: list[dict[str, Any]] = [{}]
    variations += [{n: value} for n, p in subject.cls.params.items() for value in candidates(subject, p, 2)]
    for varied in variations:
        try:
            yield subject.cls(**{**required, **varied})
        except OperadError:
            continue


@check("X802")
def reasons(subject: Subject) -> Evidence:
    """Every expected failure has a reason.

    A failure that nobody explains is a bug that nobody fixes.

    Broken by:
        Contract(expected_failures={"F212": ""})
    Within:
        spec = "data:(*S) -> output:(*S)"
        def forward(data): return data * 1
        contract = HERE
    Fix:
        Say why it is expected, and where that is tracked.
    How:
        Check that every expected failure has a reason.
    """
    expected = subject.contract.expected_failures
    for id, reason in expected.items():
        if not reason.strip():
            raise Violation(f"the failure of {id} is expected for no reason")
    return len(expected) or None
