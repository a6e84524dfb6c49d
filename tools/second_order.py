"""Write which operators have gradients of gradients: a line into every plugin's README, and a page for users.

The line stands between two markers, or at the end of a page that has none yet; the page has a table between
the same markers, with the words of each refusal. It is found by asking each operator on the cases that the
contract checks make for derivatives. `--check` changes nothing and fails where something is not what would be
written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, final

from operad import registry
from operad.context import cpu
from operad.errors import OperadError
from operad_check.cases.kinds import SMOOTH
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised
from tools.workspace import ROOT, distributions

BEGIN = "<!-- gradients of gradients: written by `python -m tools.second_order`, do not edit -->"
END = "<!-- gradients of gradients: end -->"
_GROUP = "operad.operators"
_PAGE = "docs/second-derivatives.md"
_FEW = Profile("few", examples=6, seconds=20.0)


@final
class Answers(NamedTuple):
    """Answers of an operator on cases of its derivatives.

    Attributes:
        having: How many gradients can be differentiated.
        refusals: The words of those that cannot, once each.
    """

    having: int
    refusals: tuple[str, ...]


@cache
def second_gradients(name: str) -> Answers | None:
    """Answers of an operator; None: it has no gradient, or its graphs decide."""
    if registry.get(name).num_subgraphs:
        return None
    having, refusals = 0, dict[str, None]()
    for case in Session(subject_of(name), _FEW).pool(SMOOTH):
        try:
            trial = Trial(subject_of(name), case)
        except OperatorRaised:
            continue
        wanted = trial.differentiable()
        if not any(wanted):
            continue
        try:
            trial.prop.gradient_operator(cpu(), trial.in_shapes, trial.in_types, wanted)
            having += 1
        except OperadError as error:
            refusals[str(error)] = None
    return Answers(having, tuple(refusals)) if having or refusals else None


def line(names: Iterable[str]) -> str:
    """Line of a page about its operators; empty where none has a gradient."""
    having, lacking = _parted(names)
    if not having and not lacking:
        return ""
    if not lacking:
        return "Gradients of gradients: every operator here that has a gradient."
    if not having:
        return "Gradients of gradients: none."
    if len(lacking) < len(having):
        return f"Gradients of gradients: every operator here that has a gradient, but not {_listed(lacking)}."
    return f"Gradients of gradients: {_listed(having)}; not {_listed(lacking)}."


def _parted(names: Iterable[str]) -> tuple[list[str], list[str]]:
    found = {name: answers for name in names if (answers := second_gradients(name)) is not None}
    return [n for n, a in found.items() if a.having], [n for n, a in found.items() if not a.having]


def table(operators: Mapping[str, Sequence[str]]) -> str:
    """The rows of the page: operators by distribution, and then the words of those that refuse.

    Args:
        operators: Names by the distribution's name.
    """
    rows = ["| operators of | with second derivatives | without |", "|---|---|---|"]
    refused = ["| operator | cases | why not |", "|---|---|---|"]
    for distribution, names in operators.items():
        having, lacking = _parted(names)
        if having or lacking:
            page = distribution.removeprefix("operad-")
            rows.append(f"| [{page}](operators/{page}.md) | {_listed(having)} | {_listed(lacking)} |")
        for name in sorted([*having, *lacking], key=str.lower):
            answers = second_gradients(name)
            if answers is not None and answers.refusals:
                refused.append(
                    f"| `{name}` | {'some' if answers.having else 'all'} | {answers.refusals[0]} |"
                )
    return "\n".join([*rows, "", *refused])


def _listed(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in sorted(names, key=str.lower))


def with_line(page: str, text: str) -> str:
    """The page with a text between its markers."""
    before, begin, rest = page.partition(BEGIN)
    after = rest.partition(END)[2] if begin else "\n"
    if not text:
        return page
    return f"{before.rstrip()}\n\n{BEGIN}\n{text}\n{END}{after}"


def found_line(page: str) -> str:
    """The line that stands on the page; empty if there is none."""
    return page.partition(BEGIN)[2].partition(END)[0].strip()


def main() -> int:
    """Write the lines, or with `--check` say whether they are current."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a line is stale")
    parser.add_argument("names", nargs="*", help="distributions; left out: all")
    arguments = parser.parse_args()
    stale: list[Path] = []

    def keep(page: Path, text: str) -> None:
        wanted = with_line(page.read_text(), text)
        if wanted != page.read_text():
            stale.append(page)
            if not arguments.check:
                page.write_text(wanted)

    operators = {}
    for distribution in distributions(ROOT):
        if not distribution.is_plugin or (arguments.names and distribution.name not in arguments.names):
            continue
        own = [name for name in distribution.entry_points(_GROUP) if not _is_alias(name)]
        operators[distribution.name] = own
        keep(distribution.folder / "README.md", line(own))
    if not arguments.names:
        keep(ROOT / _PAGE, f"\n{table(operators)}\n")
    if arguments.check and stale:
        print("stale:", *stale, "; run `python -m tools.second_order`", file=sys.stderr)
        return 1
    return 0


def _is_alias(name: str) -> bool:
    record = registry.find(name)
    return record is None or record.is_alias


if __name__ == "__main__":
    sys.exit(main())
