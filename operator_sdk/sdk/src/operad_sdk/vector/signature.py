"""Forms of an operator's parts, and the arrays and run-time numbers that they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import FORWARD, BackwardEntry, KernelCall, OperatorProperty, ScalarForm

if TYPE_CHECKING:
    from operad_sdk.declare.number_forms import NumberForms


def form_of(call: KernelCall, part: str) -> tuple[ScalarForm | str, tuple[Any, ...]]:
    """The form of a part, or why there is none, and the run-time numbers that are its last inputs."""
    forms = number_forms(call, part)
    with np.errstate(all="ignore"):
        if forms is None:
            return call.prop.scalar_form(part, call.in_shapes, call.in_types), ()
        return forms(call.prop)


def number_forms(call: KernelCall, part: str) -> NumberForms | None:
    """The forms for all values of run-time parameters; None where an operator has none of these."""
    find = getattr(call.prop, "number_forms", None)  # which declared operators have
    return None if find is None else find(part, call.in_shapes, call.in_types)


@final
class Signature:
    """The arrays of a part's form.

    Attributes:
        dtype: What `real` is.
        entries: For the gradient of an argument, what each input is; None for the outputs.
        num_given: How many inputs are arrays; run-time numbers follow them.
        numbers: Types of these numbers.
        specs: Shape and type of each input and then each result.
        outputs: For each result of the outputs' form the number of the output, or, behind all of them, of the
            state, that it is; none for a gradient.
        position: The argument whose gradient it is.
        num_arguments: How many of the inputs are arguments, or what a gradient reads; states follow them.
    """

    def __init__(self, call: KernelCall, part: str, form: ScalarForm) -> None:
        prop: OperatorProperty = call.prop
        in_shapes, in_types = call.in_shapes, call.in_types
        shapes, types = prop.infer_shape(list(in_shapes)), prop.infer_type(list(in_types))
        every: Any = [list(zip(*pair, strict=True)) for pair in zip(shapes, types, strict=True)]
        self._num_outputs = len(every[1]) if part == FORWARD else 1
        # A cluster may read integers alone, and says which type its members compute in.
        self.dtype = getattr(prop, "real", None) or next(dtype for dtype in in_types if dtype.kind == "f")
        self.entries: list[BackwardEntry] | None = None
        if part == FORWARD:
            names = [*prop.list_outputs(), *prop.list_auxiliary_states()]
            self.outputs = [names.index(result.name) for result in form.results]
            given, made = [*every[0], *every[2]], [*every[1], *every[2]]
            self.num_arguments = len(every[0])
            self._take(form, given, [made[number] for number in self.outputs])
            return
        self.outputs = []
        self.position = prop.list_arguments().index(part.removesuffix("_grad"))
        self.entries = prop.backward_dependency([i == self.position for i in range(len(in_shapes))])
        groups = {"in_data": every[0], "out_data": every[1], "out_grad": every[1]}
        read = [groups[kind][index] for kind, index in self.entries]
        self.num_arguments = len(read)
        self._take(form, read, [every[0][self.position]])

    def _take(self, form: ScalarForm, given: Sequence[Any], made: Sequence[Any]) -> None:
        self.num_given = len(given)
        kinds = [step.kind for step in form.instructions[len(given) : len(form.inputs)]]
        self.numbers = [self.dtype if kind == "real" else np.dtype(kind) for kind in kinds]
        self.specs = (*given, *(((), dtype) for dtype in self.numbers), *made)

    def arrays_of(self, numbers: Sequence[Any]) -> list[NDArray[Any]]:
        """Run-time numbers as arrays of one element."""
        return list(map(np.array, numbers, self.numbers))

    @property
    def is_plain(self) -> bool:
        """Return whether the form's first results are all outputs, in order."""
        return self.outputs[: self._num_outputs] == list(range(self._num_outputs))

    def sources(self, num_results: int) -> list[int]:
        """Numbers of a kernel's arrays in a call with arguments, results, states, and run-time numbers."""
        first_state = self.num_arguments + min(self._num_outputs, num_results)
        first_number = first_state + self.num_given - self.num_arguments
        return [
            *range(self.num_arguments),
            *range(first_state, first_number + len(self.numbers)),
            *(self.num_arguments + number for number in (self.outputs or [0])[:num_results]),
        ]

    def shares(self, prop: OperatorProperty) -> set[tuple[int, int]]:
        """Pairs of an input and a result that may share memory: as the operator says, and states."""
        arguments = range(len(prop.list_arguments()))
        if self.entries is None:
            pairs = prop.forward_inplace_option(list(arguments), list(range(len(prop.list_outputs()))))
            found = {(i, self.outputs.index(j)) for i, j in pairs}
            before = self.num_arguments - self._num_outputs
            return found | {
                (before + number, result)
                for result, number in enumerate(self.outputs)
                if number >= self._num_outputs
            }
        outputs = range(len(prop.list_outputs()))
        options = prop.backward_inplace_option(
            [BackwardEntry("out_grad", i) for i in outputs],
            [BackwardEntry("in_data", i) for i in arguments],
            [BackwardEntry("out_data", i) for i in outputs],
            list(arguments),
        )
        return {
            (self.entries.index(entry), 0)
            for entry, target in options
            if target == self.position and entry in self.entries
        }
