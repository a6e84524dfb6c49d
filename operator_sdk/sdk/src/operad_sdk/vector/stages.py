"""The order in which a kernel computes a form that reduces rows.

A row is walked once for each *stage*: what a reduction gives is there from the next stage on. A value that
two stages need is computed in both, or, where that costs more than writing and reading it, *kept* in a row
of scratch memory between them. Values that are one for each row are computed between the walks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, final

from operad.first_use import cached_property
from operad.operator import ScalarForm

REDUCTIONS: Final = ("sum", "max", "min")
_DEAR: Final = {"divide": 8, "sqrt": 8, "fma": 1, "power": 60, "fmod": 40}
_OF_C: Final = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "atan2"})
KEPT_FROM: Final = 8
"""Instructions from which a value is kept: about what a vector's store and load cost."""


@final
class Stages:
    """Stages of a kernel: the values that each walk over a row computes.

    Attributes:
        form: The form, of primitives that have vector code.
        is_of_rows: For each value whether it is one for each row.
        stage: For each value the first stage in which it can be computed.
        count: How many stages there are.
        reduced: For each stage the values that reduce others in it.
        stored: For each stage the numbers of the results that it writes.
        kept: The values that later stages read from scratch memory, each with its number there.
    """

    def __init__(self, form: ScalarForm, of_rows: Collection[int]) -> None:
        """Arrange a form; `of_rows` are the inputs that are one for each row."""
        self.form: Final = form
        self.is_of_rows: Final[list[bool]] = []
        self.stage: Final[list[int]] = []
        for position, step in enumerate(form.instructions):
            after = max((self.stage[i] for i in step.args), default=0)
            is_reduction = step.op in REDUCTIONS
            self.stage.append(after + is_reduction)
            self.is_of_rows.append(
                is_reduction
                or (step.op == "input" and position in of_rows)
                or (step.op != "input" and all(self.is_of_rows[i] for i in step.args))
            )
        steps = form.instructions
        self.count: Final = 1 + max(
            [self.stage[i] - (step.op in REDUCTIONS) for i, step in enumerate(steps)], default=0
        )
        self.reduced: Final[list[list[int]]] = [[] for _ in range(self.count)]
        self.stored: Final[list[list[int]]] = [[] for _ in range(self.count)]
        for position, step in enumerate(steps):
            if step.op in REDUCTIONS:
                self.reduced[self.stage[position] - 1].append(position)
        for number, result in enumerate(form.results):
            if not self.is_of_rows[result.position]:
                self.stored[self.stage[result.position]].append(number)
        self.kept: Final[dict[int, int]] = {}
        for stage in range(self.count):
            for position in self.needed(stage):
                self._keep(position, stage)
        # Of what a kept value is made of no later stage may be left to read it.
        while unread := [i for i in self.kept if not self.is_read_after(i, self.stage[i])]:
            for position in unread:
                del self.kept[position]

    def needed(self, stage: int) -> list[int]:
        """The values, other than those of rows, that a stage computes, reads or loads, in order."""
        roots = [self.form.instructions[i].args[0] for i in self.reduced[stage]]
        roots += [self.form.results[number].position for number in self.stored[stage]]
        roots += [i for i in self.kept if self.stage[i] == stage]
        return sorted(self._cone(roots, stage))

    @cached_property
    def num_computed(self) -> int:
        """Number of instructions that are computed for each element, those of all stages."""
        steps, found = self.form.instructions, sum(map(len, self.reduced))
        for stage in range(self.count):
            needed = [i for i in self.needed(stage) if steps[i].op != "input"]
            found += sum(not self.is_loaded(i, stage) for i in needed)
        return found

    def most_live(self, needed: Sequence[int]) -> int:
        """Largest number of values of a stage, of those that it needs, that later ones read at any time."""
        last = {i: position for position in needed for i in self.form.instructions[position].args}
        live, most = set[int](), 0
        for position in needed:
            live = {i for i in live if last[i] >= position} | ({position} & last.keys())
            most = max(most, len(live))
        return most

    def is_read_after(self, position: int, stage: int) -> bool:
        """Return whether an input is loaded in a stage after the given one."""
        return any(position in self.needed(later) for later in range(stage + 1, self.count))

    @property
    def is_one_walk(self) -> bool:
        """Return whether the first stage walks over all that a row needs."""
        later = range(1, self.count)
        return not any(self.reduced[stage] or self.needed(stage) or self.stored[stage] for stage in later)

    def hosts(self, may_host: Sequence[bool]) -> dict[int, int]:
        """Number of a result by kept value, which may lie in its memory until the result is written.

        Args:
            may_host: For each result whether its memory is such that a value of a row may.
        """
        found: dict[int, int] = {}
        steps = self.form.instructions
        for number, (result, may) in enumerate(zip(self.form.results, may_host, strict=True)):
            if not may or self.is_of_rows[result.position]:
                continue
            written = self.stage[result.position]
            for kept in self.kept:
                if (
                    kept not in found
                    and steps[kept].kind == steps[result.position].kind
                    and self.stage[kept] < written
                    and not self.is_read_after(kept, written)
                ):
                    found[kept] = number
                    break
        return found

    def _cone(self, roots: Iterable[int], stage: int) -> set[int]:
        found: set[int] = set()
        pending = [i for i in roots if not self.is_of_rows[i]]
        while pending:
            position = pending.pop()
            if position in found:
                continue
            found.add(position)
            if not self.is_loaded(position, stage):
                args = self.form.instructions[position].args
                pending += [i for i in args if not self.is_of_rows[i]]
        return found

    def is_loaded(self, position: int, stage: int) -> bool:
        """Return whether a stage reads a value from scratch memory."""
        return position in self.kept and self.stage[position] < stage

    def _keep(self, position: int, stage: int) -> None:
        """Keep a value of an earlier stage, if computing it again would cost more."""
        if self.stage[position] < stage and position not in self.kept:
            cone = self._cone([position], stage)
            if sum(_cost(self.form.instructions[i].op) for i in cone) >= KEPT_FROM:
                self.kept[position] = len(self.kept)


def _cost(op: str) -> int:
    if op in ("input", "constant", "length"):
        return 0
    return 60 if op in _OF_C else _DEAR.get(op, 1)
