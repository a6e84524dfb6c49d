"""One form of the forms of several nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple, final

from operad.graph import Entry
from operad.operator import Instruction, Result, ScalarForm
from operad_fusion.parts import Part
from operad_sdk.form_kernels import View


class Step(NamedTuple):
    """A node of a cluster: what it computes, of which entries, into which."""

    parts: Sequence[Part]
    inputs: Sequence[Entry]
    outputs: Sequence[Entry]


class Merged(NamedTuple):
    """A common form: what its inputs and its results are.

    Attributes:
        read: What the steps read; an input is that, or the array of which it is a view.
    """

    form: ScalarForm
    read: list[Entry]
    inputs: list[Entry]
    views: list[View | None]
    outputs: list[Entry]


Resolve = Callable[[Entry], tuple[Entry, View | None]]
"""Gives the entry whose array another one is a view of, and which; or the entry itself."""


def itself(entry: Entry) -> tuple[Entry, View | None]:
    """The entry, and no view."""
    return entry, None


Known = dict[Hashable, tuple[ScalarForm, list[int]]]
"""Common forms and the numbers of the entries that are their inputs, by which parts read what of which."""


def merged(
    steps: Sequence[Step], wanted: Sequence[Entry], resolve: Resolve, known: Known | None = None
) -> Merged:
    """The form of all steps, which stand in order.

    What one step makes and another reads is a value between them; equal instructions are one.

    Args:
        wanted: What is to be results.
        known: Forms that were found, as steps that repeat have one; all their parts are kept by the caller.
    """
    numbers: dict[Entry, int] = {}
    key: list[Hashable] = []
    for step in steps:
        groups = [[numbers.setdefault(one, len(numbers)) for one in each] for each in step[1:]]
        key.append((id(step.parts), *map(tuple, groups)))
    pattern = (*key, *[numbers[entry] for entry in wanted])
    found = None if known is None else known.get(pattern)
    if found is None:
        form, inputs = _Merging(steps, wanted).merged()
        found = form, [numbers[entry] for entry in inputs]
        if known is not None:
            known[pattern] = found
    entries = list(numbers)
    return resolved(Merged(found[0], [entries[number] for number in found[1]], [], [], list(wanted)), resolve)


def resolved(found: Merged, resolve: Resolve) -> Merged:
    """The same form, whose inputs are looked up."""
    bases = [resolve(entry) for entry in found.read]
    return found._replace(inputs=[entry for entry, _ in bases], views=[view for _, view in bases])


@final
class _Merging:
    def __init__(self, steps: Sequence[Step], wanted: Sequence[Entry]) -> None:
        self._steps = steps
        self._wanted = wanted
        self._made: Final = {entry for step in steps for entry in step.outputs}
        self._inputs: dict[tuple[Entry, Instruction], int] = {}
        self._instructions: list[Instruction] = []
        self._known: dict[Instruction, int] = {}
        self._values: dict[Entry, tuple[int, Result]] = {}

    def merged(self) -> tuple[ScalarForm, list[Entry]]:
        """The form, and the entry that each of its inputs is."""
        reads = [
            (step.inputs[number], instruction)
            for step in self._steps
            for part in step.parts
            for number, instruction in zip(part.inputs, part.form.instructions, strict=False)
            if step.inputs[number] not in self._made and self._is_read(part, instruction)
        ]
        for entry, instruction in reads:
            key = entry, instruction._replace(value=None)
            if key not in self._inputs:
                self._inputs[key] = len(self._inputs)
        for (_, instruction), number in self._inputs.items():
            self._instructions.append(instruction._replace(value=f"x{number}"))
        for step in self._steps:
            for part in step.parts:
                self._add(step, part)
        names = tuple([f"x{number}" for number in range(len(self._inputs))])
        results = []
        for number, entry in enumerate(self._wanted):
            position, result = self._values[entry]
            results.append(Result(position, f"y{number}", result.axes))
        form = ScalarForm("fused", names, tuple(self._instructions), tuple(results))
        return form, [entry for entry, _ in self._inputs]

    def _is_read(self, part: Part, instruction: Instruction) -> bool:
        return instruction.value in part.form.inputs_read

    def _add(self, step: Step, part: Part) -> None:
        positions: list[int] = []
        count = len(part.form.inputs)
        for place, instruction in enumerate(part.form.instructions):
            if place >= count:
                own = instruction._replace(args=tuple([positions[i] for i in instruction.args]))
                found = self._known.get(own)
                if found is None:
                    found = self._known[own] = len(self._instructions)
                    self._instructions.append(own)
                positions.append(found)
                continue
            entry = step.inputs[part.inputs[place]]
            if not self._is_read(part, instruction):
                positions.append(-1)  # of which only shape and type count
            elif entry in self._made:
                positions.append(self._values[entry][0])
            else:
                positions.append(self._inputs[entry, instruction._replace(value=None)])
        for number, result in zip(part.outputs, part.form.results, strict=True):
            self._values[step.outputs[number]] = positions[result.position], result
