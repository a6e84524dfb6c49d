"""Executors that are bound for one set of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from operad import Executor, NDArray, TrainingProgram
from operad_module.inputs import Described

Trained = tuple[int, str, list[NDArray], list[NDArray]]
"""A parameter's number, name, arrays and gradients, the latter one per context."""


@final
@dataclass(slots=True)
class BoundExecutors:
    """Executors for one set of shapes.

    Attributes:
        data_shapes: Descriptions of a whole batch's data.
        label_shapes: Descriptions of its labels.
        slices: The part of the batch that each executor has.
        execs: The executors, one per context.
        trained: The parameters whose gradients are computed.
        program: What trains the only executor, once it has.
    """

    data_shapes: Sequence[Described]
    label_shapes: Sequence[Described]
    slices: Sequence[slice]
    execs: Sequence[Executor]
    trained: Sequence[Trained]
    program: TrainingProgram | None = None

    def train(self, updater: Any) -> None:
        """Make a step of training of the only executor."""
        if self.program is None or self.program.updater is not updater:
            indices = {name: number for number, name, _, _ in self.trained}
            self.program = TrainingProgram(self.execs[0], updater, indices)
        self.program.step()
