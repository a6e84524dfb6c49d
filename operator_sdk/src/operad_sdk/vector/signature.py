"""Forms of an operator's parts, and the arrays and run-time numbers that they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from operad.dtypes import DType
from operad.operator import FORWARD, BackwardEntry, OperatorProperty, ScalarForm, Shape

if TYPE_CHECKING:
    from operad_sdk.declare.number_forms import NumberForms


def form_of_part(
    prop: Any, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> tuple[ScalarForm | str, tuple[Any, ...]]:
    """The form of a part, or why there is none, and the run-time numbers that are its last inputs."""
    forms = number_forms(prop, part, in_shapes, in_types)
    with np.errstate(all="ignore"):
        return (prop.scalar_form(part, in_shapes, in_types), ()) if forms is None else forms(prop)


def number_forms(
    prop: Any, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> NumberForms | None:
    """The forms for all values of run-time parameters; None where an operator has none of these."""
    find = getattr(prop, "number_forms", None)  # which declared operators have
    return None if find is None else find(part, in_shapes, in_types)


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
    """

    def __init__(
        self,
        prop: OperatorProperty,
        part: str,
        form: ScalarForm,
        in_shapes: Sequence[Shape],
        in_types: Sequence[DType],
    ) -> None:
        shapes, types = prop.infer_shape(list(in_shapes)), prop.infer_type(list(in_types))
        every: Any = [list(zip(*pair, strict=True)) for pair in zip(shapes, types, strict=True)]
        self.dtype = next(dtype for dtype in in_types if dtype.kind == "f")
        self.entries: list[BackwardEntry] | None = None
        if part == FORWARD:
            names = [*prop.list_outputs(), *prop.list_auxiliary_states()]
            self.outputs = [names.index(result.name) for result in form.results]
            given, made = [*every[0], *every[2]], [*every[1], *every[2]]
            self._take(form, given, [made[number] for number in self.outputs])
            return
        self.outputs = []
        self.position = prop.list_arguments().index(part.removesuffix("_grad"))
        self.entries = prop.backward_dependency([i == self.position for i in range(len(in_shapes))])
        groups = {"in_data": every[0], "out_data": every[1], "out_grad": every[1]}
        read = [groups[kind][index] for kind, index in self.entries]
        self._take(form, read, [every[0][self.position]])

    def _take(self, form: ScalarForm, given: Sequence[Any], made: Sequence[Any]) -> None:
        self.num_given = len(given)
        kinds = [step.kind for step in form.instructions[len(given) : len(form.inputs)]]
        self.numbers = [self.dtype if kind == "real" else np.dtype(kind) for kind in kinds]
        self.specs = (*given, *(((), dtype) for dtype in self.numbers), *made)

    def arrays_of(self, numbers: Sequence[Any]) -> list[NDArray[Any]]:
        """Run-time numbers as arrays of one element."""
        return list(map(np.array, numbers, self.numbers))

    def shares(self, prop: OperatorProperty) -> set[tuple[int, int]]:
        """Pairs of an input and a result of the form that the operator allows to share memory."""
        arguments = range(len(prop.list_arguments()))
        if self.entries is None:
            pairs = prop.forward_inplace_option(list(arguments), list(range(len(prop.list_outputs()))))
            return {(i, self.outputs.index(j)) for i, j in pairs}
        outputs = range(len(prop.list_outputs()))
        found = prop.backward_inplace_option(
            [BackwardEntry("out_grad", i) for i in outputs],
            [BackwardEntry("in_data", i) for i in arguments],
            [BackwardEntry("out_data", i) for i in outputs],
            list(arguments),
        )
        return {
            (self.entries.index(entry), 0)
            for entry, target in found
            if target == self.position and entry in self.entries
        }
