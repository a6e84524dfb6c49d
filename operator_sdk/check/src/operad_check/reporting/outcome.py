"""Outcomes of checks, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from html import escape
from textwrap import indent
from typing import Any, Final, final

from operad_check.register import rule
from operad_check.reporting.html import page
from operad_check.trials.violation import Declaration


class Status(StrEnum):
    """Verdict of a check on one operator."""

    PASSED = "passed"
    INAPPLICABLE = "does not apply"
    EXPECTED = "expected failure"
    WRONG = "wrong"
    UNDECLARED = "undeclared"
    HARD = "hard"
    NO_EVIDENCE = "no evidence"
    UNEXPECTED_PASS = "unexpected pass"
    BLOCKED = "blocked"
    BROKEN = "broken"

    @property
    def is_red(self) -> bool:
        """True if the status is an error of the operator.

        A check that another one blocks is red in that one only, and a broken check is no operator's fault.
        What is undeclared, or hard, is no error.
        """
        return self in (Status.WRONG, Status.NO_EVIDENCE, Status.UNEXPECTED_PASS)

    @property
    def is_found(self) -> bool:
        """True if there is something to tell an author: an error, a missing declaration, a figure."""
        return self.is_red or self in (Status.UNDECLARED, Status.HARD)


ENDED: Final = "R506"
"""Id under which an operator is red if the process of its run ended."""
UNCOMPARED: Final = "X801"
"""Id under which a check without evidence is red."""
UNEXPECTED: Final = "X803"
"""Id under which a check is red that passes though a failure is expected."""
BROKEN: Final = "X806"
"""Id that explains a broken check, and stands for the harness where that breaks outside of any check."""
OWN_FAULT: Final = "operad's own fault"


_RANKS: Final = "SFBMRDALX"
"""Groups by how near they are to a cause: a wrong name, a wrong value, a wrong way to run."""


def rank(id: str) -> tuple[int, str]:
    """Order in which findings are shown, the nearest to a cause first."""
    return _RANKS.index(id[0]), id


def first_words(red: str, undeclared: Sequence[str], hard: Sequence[str], broken: Sequence[str]) -> str:
    """First words of a report: ids of what is wrong, then those of each weaker verdict, in these words."""
    weaker = {"undeclared": undeclared, "hard": hard, f"broken, {OWN_FAULT}": broken}
    parts = [f"{' '.join(ids)} {words}" for words, ids in weaker.items() if ids]
    return ", ".join([red or "passed", *parts]) if red or not broken else ", ".join(parts)


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """A broken contract.

    Attributes:
        message: One line: found, expected.
        fix: One suggestion.
        case: The smallest case found, in one line.
        script: A program that fails in the same way; empty where no program of a few lines does.
        alone: Whether the program was seen to fail by itself; null: it was not tried.
        declares: Declaration that would settle it, where `operad check --fix` can write one.
    """

    message: str
    fix: str
    case: str
    script: str
    alone: bool | None = None
    declares: Declaration | None = None


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """One check of one operator.

    Attributes:
        check_id: What ran.
        status: How it ended.
        examples: Cases it was shown.
        evidence: Things it compared, by name.
        reason: Why a failure is expected, a check does not apply or is blocked, what it did not find, or what
            broke it.
        failure: What is broken.
        seconds: Time it took.
        echo_of: The id of the red check that explains this one; empty: none does.
        traceback: Where a check broke; empty: it did not, or nothing was raised.
    """

    check_id: str
    status: Status
    examples: int = 0
    evidence: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    failure: Failure | None = None
    seconds: float = 0.0
    echo_of: str = ""
    traceback: str = ""

    @property
    def red_id(self) -> str | None:
        """Id under which the outcome is red: the check's own, or that of the rule on evidence it breaks."""
        if lacks_evidence(self):
            return UNCOMPARED
        if passes_unexpectedly(self):
            return UNEXPECTED
        return self.check_id if self.status.is_red else None

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {**asdict(self), "red_id": self.red_id}


@rule(ENDED)
def ended(reason: str) -> Outcome:
    """The process survives: no crash, no exit, no hang.

    Operators run inside somebody else's program. One that ends it, or never returns, takes along all that
    the program knew.

    Broken by:
        def forward(data):
            if not native.load():
                os._exit(0)
    Not run:
        It ends the process.
    Fix:
        Look at the stack that is printed; raise an exception instead of leaving.
    How:
        The last outcome of an operator whose process ended, for `reason`.
    """
    return Outcome(ENDED, Status.WRONG, reason=reason)


@rule(UNCOMPARED)
def lacks_evidence(outcome: Outcome) -> bool:
    """Every check that applies compared something.

    A check whose examples are all empty, constant or refused passes whatever the operator does.

    Broken by:
        labels = np.zeros(n)    # every example in class 0, so every other class is untested
    Not run:
        Labels of another module.
    Fix:
        Declare domains, parameter values or shapes that exercise the operator: Contract(inputs=...,
        params=..., shapes=...).
    """
    return outcome.status is Status.NO_EVIDENCE


@rule(UNEXPECTED)
def passes_unexpectedly(outcome: Outcome) -> bool:
    """Every expected failure fails.

    An exemption that is no longer needed would hide the next mistake.

    Broken by:
        Contract(expected_failures={"B301": "the slope at 0"})    # and B301 passes
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        def forward(data): return data * data
        def data_grad(output_grad, data): return 2 * output_grad * data
        contract = HERE
    Fix:
        Remove the declaration.
    """
    return outcome.status is Status.UNEXPECTED_PASS


@rule(BROKEN)
def broken(reason: str, traceback: str) -> Outcome:
    """No check breaks.

    A check is broken where its own code raises, and not the operator's, or where it finds no case of a
    kind though the operator's shape line says which there are. That is operad's own fault: it says
    nothing for or against the operator, which was not checked in this respect.

    Broken by:
        assert allowed is not None    # a line of a check, for an argument that it did not expect
    Not run:
        A check that breaks.
    Fix:
        Report it, with the traceback and the declaration of the operator.
    How:
        The outcome that stands for the harness where that breaks outside of any check.
    """
    return Outcome(BROKEN, Status.BROKEN, reason=reason, traceback=traceback)


@final
@dataclass(frozen=True, slots=True)
class Coverage:
    """One goal of the case plan, and the cases made for it.

    Attributes:
        kind: The kind of cases.
        goal: What they are to show.
        reason: Why such cases are wanted.
        cases: How many were made.
        lack: Why there are none: refused (by the operator), too large (for the harness), no such size.
        words: The operator's, where it refused.
    """

    kind: str
    goal: str
    reason: str
    cases: int
    lack: str = ""
    words: str = ""

    @property
    def why_none(self) -> str:
        """Reason for a goal without cases: the operator, or the plan."""
        return "refused by the operator" if self.lack == "refused" else f"left out by the plan, {self.lack}"


@final
@dataclass(frozen=True, slots=True)
class Unproved:
    """Something that a report does not prove, because of a declaration of the author's.

    Attributes:
        kind: exemption, narrowing, types, own reference, digits, refused, untried or no evidence.
        name: The declaration, the parameter or the kind of cases.
        what: Property that is not proved.
        reason: Why, in the author's words, or empty.
        is_accepted: Whether --strict lets it stand.
    """

    kind: str
    name: str
    what: str
    reason: str
    is_accepted: bool

    def __str__(self) -> str:
        """A line for a person."""
        return f"{self.name}: {self.what}" + (f", because {self.reason}" if self.reason else "")


@final
@dataclass(frozen=True, slots=True, repr=False)
class OperatorReport:
    """All checks of one operator.

    Attributes:
        coverage: The case plan, as far as some check asked for cases.
        unproved: What the checks did not look at, because the author declared so.
    """

    operator: str
    distribution: str
    version: str
    profile: str
    seed: int
    outcomes: Sequence[Outcome]
    coverage: Sequence[Coverage] = ()
    unproved: Sequence[Unproved] = ()

    @property
    def red_ids(self) -> list[str]:
        """The ids under which something is red, sorted.

        What is blocked is no evidence either, and counts where no other check explains it.
        """
        red = {found for outcome in self.outcomes if (found := outcome.red_id)}
        if not red and any(outcome.status is Status.BLOCKED for outcome in self.outcomes):
            red.add(UNCOMPARED)
        return sorted(red)

    @property
    def broken_ids(self) -> list[str]:
        """The ids of checks that broke, which says nothing of the operator, sorted."""
        return self._ids(Status.BROKEN)

    @property
    def undeclared_ids(self) -> list[str]:
        """The ids of checks that ask for a declaration, sorted."""
        return self._ids(Status.UNDECLARED)

    @property
    def hard_ids(self) -> list[str]:
        """The ids of checks that show a figure and judge nothing, sorted."""
        return self._ids(Status.HARD)

    def _ids(self, status: Status) -> list[str]:
        return sorted(one.check_id for one in self.outcomes if one.status is status)

    @property
    def passed(self) -> bool:
        """True if nothing is red, and no check broke."""
        return not self.red_ids and not self.broken_ids

    @property
    def seconds(self) -> float:
        """Time that all checks took together."""
        return sum(outcome.seconds for outcome in self.outcomes)

    def __repr__(self) -> str:
        """The verdict in a line, and one for each cause."""
        passed = sum(outcome.status is Status.PASSED for outcome in self.outcomes)
        verdict = first_words(" ".join(self.red_ids), self.undeclared_ids, self.hard_ids, self.broken_ids)
        lines = [f"<report on {self.operator}: {verdict}; {passed} checks passed in {self.seconds:.1f} s>"]
        for outcome in sorted(self.outcomes, key=lambda one: (not one.status.is_red, rank(one.check_id))):
            if outcome.status.is_found and not outcome.echo_of:
                failure = outcome.failure
                weight = "" if outcome.status.is_red else f" {outcome.status}"
                lines.append(
                    f"  {outcome.check_id}{weight}: {failure.message if failure else outcome.reason}"
                )
                lines += [f"        fix: {failure.fix}"] if failure else []
            if outcome.status is Status.BROKEN:
                lines += [
                    f"  {outcome.check_id}: {outcome.reason}",
                    *indent(outcome.traceback, " " * 8).splitlines(),
                ]
        lines += [f"  not proved: {one}" for one in self.unproved]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The page of the report, for notebooks, in a frame so that its style stays its own."""
        text = page({"operators": [self.to_json()], "unusable": {}}, f"Contract of {self.operator}")
        return f'<iframe srcdoc="{escape(text, quote=True)}" width="100%" height="480"></iframe>'

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        red_ids = self.red_ids
        outcomes = [outcome.to_json() for outcome in self.outcomes]
        if red_ids == [UNCOMPARED]:  # what is blocked is red where nothing else is
            outcomes = [
                {**data, "red_id": UNCOMPARED} if data["status"] == Status.BLOCKED else data
                for data in outcomes
            ]
        names = ("undeclared_ids", "hard_ids", "broken_ids", "seconds")
        found = {"outcomes": outcomes, "red_ids": red_ids, **{name: getattr(self, name) for name in names}}
        return {**asdict(self), **found}


@final
@dataclass(frozen=True, slots=True)
class Report:
    """The reports of several operators.

    Attributes:
        operators: In the order asked for.
        unusable: Operators that could not be loaded: name and error.
    """

    operators: Sequence[OperatorReport]
    unusable: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """True if nothing is red, no check broke, and everything could be loaded."""
        return not self.unusable and all(report.passed for report in self.operators)

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        operators = [report.to_json() for report in self.operators]
        return {"passed": self.passed, "operators": operators, "unusable": dict(self.unusable)}
