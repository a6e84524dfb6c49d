"""Write into every plugin's README which of its operators have gradients of gradients.

The line stands between two markers, or at the end of a page that has none yet. It is found by asking each
operator on the cases that the contract checks make for derivatives. `--check` changes nothing and fails where
a line is not what would be written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

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
_FEW = Profile("few", examples=6, seconds=20.0)


def has_second_gradient(name: str) -> bool | None:
    """Return whether an operator's gradients can be differentiated for some parameters; None: it has none."""
    if registry.get(name).num_subgraphs:  # that depends on the graphs
        return None
    answers = []
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
            answers.append(True)
        except OperadError:
            answers.append(False)
    return any(answers) if answers else None


def line(names: Iterable[str]) -> str:
    """Line of a page about its operators; empty where none has a gradient."""
    found = {name: has_second_gradient(name) for name in names}
    having, lacking = ([name for name, answer in found.items() if answer is kind] for kind in (True, False))
    if not having and not lacking:
        return ""
    if not lacking:
        return "Gradients of gradients: every operator here that has a gradient."
    if not having:
        return "Gradients of gradients: none."
    if len(lacking) < len(having):
        return f"Gradients of gradients: every operator here that has a gradient, but not {_listed(lacking)}."
    return f"Gradients of gradients: {_listed(having)}; not {_listed(lacking)}."


def _listed(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in sorted(names, key=str.lower))


def with_line(page: str, text: str) -> str:
    """The page with the line between its markers."""
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
    for distribution in distributions(ROOT):
        if not distribution.is_plugin or (arguments.names and distribution.name not in arguments.names):
            continue
        page = distribution.folder / "README.md"
        own = [name for name in distribution.entry_points(_GROUP) if not _is_alias(name)]
        wanted = with_line(page.read_text(), line(own))
        if wanted != page.read_text():
            stale.append(page)
            if not arguments.check:
                page.write_text(wanted)
    if arguments.check and stale:
        print("stale:", *stale, "; run `python -m tools.second_order`", file=sys.stderr)
        return 1
    return 0


def _is_alias(name: str) -> bool:
    record = registry.find(name)
    return record is None or record.is_alias


if __name__ == "__main__":
    sys.exit(main())
