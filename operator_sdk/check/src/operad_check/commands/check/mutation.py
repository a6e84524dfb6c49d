"""`operad check --mutate`: do the checks notice small changes of an operator's own source?

Each mutant is judged in a process of its own, which imports the operator's package with one module replaced
and runs the checks up to the first that is red. One that survives the operator it was drawn for is judged
again through other operators of the package that reach the same place: a function of a family is not used in
all its ways by each member.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from operad import registry
from operad.cli import Mark
from operad.files import read_text
from operad_check.commands.check.workers import Found, Told, shown
from operad_check.mutants import changes_in, judged, reached
from operad_check.trials.subject import subject_of

if TYPE_CHECKING:
    from operad.cli import Page

CPU_LIMIT_S: Final = 60.0
"""Processor time that one mutant may take."""
OTHERS: Final = 6
"""Other operators of a package that a mutant is tried on which survives the first."""
_UNCHANGED: Final = "as it is"
_OPEN: Final = ("survived", "broken")
"""Verdicts on mutants that no check has killed."""


@final
@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of an operator's source, and what came of it.

    Attributes:
        operator: The operator's name.
        module: The changed module; `file` and `line` are where.
        change: The change in words.
        verdict: killed, survived, equivalent, or broken: no check is red, and one broke, which is operad's
            own fault and tells nothing of the mutant.
        by: Id of the check that is red, or broke, `import`, `strict`, or how the process ended; of an
            equivalent one the reason.
        through: The operator whose check that is, where it is another of the package.
        message: What the check says.
        cpu_s: Processor time.
    """

    operator: str
    module: str
    file: str
    line: int
    change: str
    verdict: str
    by: str
    message: str
    cpu_s: float
    through: str = ""


@final
@dataclass(frozen=True, slots=True)
class MutationRun:
    """Result of `operad check --mutate`.

    Attributes:
        seed: By which mutants were drawn.
        mutants: All that were judged, and those that are equivalent by what their lines say.
        possible: Changes that each operator's source allows.
        unusable: Operators that were not mutated: name and reason.
        passed: Whether no mutant survived, none broke a check, and all operators could be mutated.
    """

    seed: int
    mutants: list[Mutant]
    possible: dict[str, int]
    unusable: dict[str, str] = field(default_factory=dict)
    passed: bool = True

    @property
    def exit_code(self) -> int:
        """1 if a mutant survived, or an operator could not be mutated; 3 if no more than a check broke."""
        is_red = bool(self.unusable) or any(one.verdict == "survived" for one in self.mutants)
        return int(not self.passed) if is_red else 3 * (not self.passed)

    def show(self, page: Page) -> None:
        """Write one row per operator, and each survivor with its place."""
        rows = []
        for name, possible in self.possible.items():
            counts = Counter(one.verdict for one in self.mutants if one.operator == name)
            ids = Counter(one.by for one in self.mutants if one.operator == name and one.verdict == "killed")
            survived, broken = counts["survived"], counts["broken"]
            rows.append(
                (
                    Mark(name, "name"),
                    str(possible),
                    str(counts["killed"] + survived),
                    Mark(str(survived), "bad" if survived else "good"),
                    Mark(str(broken), "bad" if broken else "good"),
                    str(counts["equivalent"]),
                    " ".join(f"{id}:{count}" for id, count in ids.most_common()),
                )
            )
        page.table(("operator", "changes", "tried", "survived", "broken", "equivalent", "killed by"), rows)
        for one in self.mutants:
            if one.verdict == "survived":
                page.heading(f"{one.operator}: a mutant survives at {one.file}:{one.line}")
                page.text(one.change)
            if one.verdict == "broken":
                page.heading(f"{one.operator}: {one.by} broke on a mutant at {one.file}:{one.line}")
                page.text(f"{one.change}: {one.message}")
        for name, reason in self.unusable.items():
            page.heading(f"{name} could not be mutated")
            page.text(reason)
        tried = [one for one in self.mutants if one.verdict in ("killed", "survived")]
        broken = sum(one.verdict == "broken" for one in self.mutants)
        killed = sum(one.verdict == "killed" for one in tried)
        page.heading("Summary")
        page.text(
            f"{killed} of {len(tried)} mutants are killed, seed {self.seed}. One that survives wants a case, "
            "a check, or at its line `# mutant: equivalent, because ...`."
            + f" On {broken} more a check broke, which is operad's own fault."
            * bool(broken)
        )


def mutation_run(
    names: Sequence[str], count: int, seed: int, jobs: int, profile: str | None, *, is_strict: bool = False
) -> MutationRun:
    """Draw so many changes of each operator's source, and judge them.

    Args:
        count: Changes of each operator.
        jobs: Processes at once.
        is_strict: Whether a mutant is killed too by what `operad check --strict` fails on.
    """
    possible: dict[str, list[dict[str, Any]]] = {}
    unusable: dict[str, str] = {}
    for found in shown("reading", names, profile, jobs, changes_of):
        if isinstance(found.report, list) and found.report:
            possible[found.name] = found.report
        else:
            unusable[found.name] = found.end or (found.report or "its source has nothing to change")
    tasks = _drawn(names, possible, count, seed)
    mutants: list[Mutant] = []
    work = partial(judge, tasks=tasks, is_strict=is_strict)
    judged = [key for key, task in tasks.items() if not task["equivalent"]]
    with suppress(KeyboardInterrupt):
        for found in shown("mutating", judged, profile, jobs, work, CPU_LIMIT_S * 4):
            task = tasks[found.name]
            if task["change"] == _UNCHANGED:
                if found.report is None or found.report["killed_by"] or found.report["broken"]:
                    unusable[task["operator"]] = (
                        f"it is red, or a check breaks, as it is: {found.report or found.end}"
                    )
            else:
                mutants.append(_judged(task, found))
    mutants = _through_others(mutants, tasks, possible, jobs, profile, is_strict=is_strict)
    mutants += [
        Mutant(**_place(task), verdict="equivalent", by=task["equivalent"], message="", cpu_s=0.0)
        for task in tasks.values()
        if task["equivalent"]
    ]
    mutants = [one for one in mutants if one.operator not in unusable]
    counts = {name: len(possible[name]) for name in names if name in possible and name not in unusable}
    passed = not unusable and all(one.verdict not in _OPEN for one in mutants)
    order = {name: place for place, name in enumerate(names)}
    mutants.sort(key=lambda one: (order[one.operator], one.file, one.line))
    return MutationRun(seed, mutants, counts, unusable, passed)


def _drawn(
    names: Sequence[str], possible: Mapping[str, list[dict[str, Any]]], count: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Tasks by a key: of each operator some changes, and first its source as it is."""
    tasks: dict[str, dict[str, Any]] = {}
    for name in names:
        changes = possible.get(name, [])
        rng = random.Random(f"{seed} {name}")
        chosen = changes if len(changes) <= count else rng.sample(changes, count)
        if chosen:
            tasks[f"{name} {_UNCHANGED}"] = {
                "operator": name, "module": "", "change": _UNCHANGED, "equivalent": "",
            }  # fmt: skip
        for place, change in enumerate(chosen):
            tasks[f"{name} {place}"] = {**change, "operator": name}
    return tasks


def _through_others(
    mutants: Sequence[Mutant],
    tasks: Mapping[str, dict[str, Any]],
    possible: Mapping[str, list[dict[str, Any]]],
    jobs: int,
    profile: str | None,
    *,
    is_strict: bool,
) -> list[Mutant]:
    """Judge those that none has killed through other operators of their packages, until one does."""
    by_place = {_key(task): task for task in tasks.values() if task["change"] != _UNCHANGED}
    survivors = {_key_of(one): one for one in mutants if one.verdict in _OPEN}
    packages = {one.module.partition(".")[0] for one in survivors.values()}
    known = dict(possible)
    lacking = [name for name in _operators_of(packages) if name not in known]
    for found in shown("reading others", lacking, profile, jobs, changes_of) if lacking else ():
        known[found.name] = found.report if isinstance(found.report, list) else []
    reaching: dict[tuple[Any, ...], list[str]] = {}
    for name, changes in known.items():
        for change in changes:
            reaching.setdefault(_key({**change, "operator": ""}), []).append(name)
    others = {}
    for key, one in survivors.items():
        names = [name for name in reaching[_key({**by_place[key], "operator": ""})] if name != one.operator]
        random.Random(f"{one.operator} {key}").shuffle(names)
        others[key] = names[:OTHERS]
    killed: dict[Any, Mutant] = {}
    for turn in range(OTHERS):
        left = {
            f"{names[turn]} for {key}": {**by_place[key], "operator": names[turn], "drawn for": key}
            for key, names in others.items()
            if key not in killed and len(names) > turn
        }
        work = partial(judge, tasks=left, is_strict=is_strict)
        for found in shown("through others", list(left), profile, jobs, work, CPU_LIMIT_S * 4):
            task = left[found.name]
            again, key = _judged(task, found), task["drawn for"]
            if again.verdict == "killed":
                killed[key] = replace(again, operator=survivors[key].operator, through=again.operator)
    return [killed.get(_key_of(one), one) for one in mutants]


def _operators_of(packages: Collection[str]) -> list[str]:
    """Names of registered operators whose modules are in these packages, each operator once."""
    found: dict[str, str] = {}
    for name in registry.list_operators():
        record = registry.find(name)
        if record is not None and record.value.partition(":")[0].partition(".")[0] in packages:
            found.setdefault(record.value, name)
    return list(found.values())


_KEY: Final = ("operator", "module", "line", "change")
_key: Final = itemgetter(*_KEY)
_key_of: Final = attrgetter(*_KEY)
"""Key of a task, and of a mutant."""


def changes_of(name: str, profile: str | None, told: Told) -> Any:
    """The changes of an operator's source as plain data, or why there are none."""
    return [
        {
            "module": one.module,
            "file": str(one.path),
            "line": change.line,
            "begin": change.begin,
            "end": change.end,
            "replacement": change.replacement,
            "change": change.words,
            "equivalent": change.equivalent,
        }
        for one in reached(subject_of(name))
        for change in changes_in(read_text(one.path, one.module), one.spans)
    ]


def judge(
    key: str, profile: str | None, told: Told, tasks: Mapping[str, dict[str, Any]], *, is_strict: bool = False
) -> Any:
    """The verdict on one mutant as plain data."""
    task = tasks[key]
    source = None
    if task["module"]:
        text = read_text(Path(task["file"]), task["module"])
        source = text[: task["begin"]] + task["replacement"] + text[task["end"] :]
    verdict = judged(task["operator"], task["module"], source, CPU_LIMIT_S, profile, is_strict=is_strict)
    return asdict(verdict)


def _judged(task: Mapping[str, Any], found: Found) -> Mutant:
    verdict = "killed"
    if isinstance(found.report, dict):
        by, message, cpu_s, broken = (
            found.report[key] for key in ("killed_by", "message", "cpu_s", "broken")
        )
        if not by:
            verdict, by = ("broken", broken) if broken else ("survived", "")
    else:  # its process ended, or took too long
        by, message, cpu_s = "end", (found.end or str(found.report)).splitlines()[0], CPU_LIMIT_S
    return Mutant(**_place(task), verdict=verdict, by=by, message=message, cpu_s=cpu_s)


def _place(task: Mapping[str, Any]) -> dict[str, Any]:
    return {name: task[name] for name in ("operator", "module", "file", "line", "change")}
