"""A program bound to arrays: its memory, its prepared arrays and its segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import final

from operad.engine import Var
from operad.executor.prepared import PreparedArrays
from operad.first_use import cached_property
from operad.ndarray import NDArray, empty
from operad.op import Operator
from operad.program import Binding, Pool, Program, Segment, SegmentCode, codes, segments


@final
class BoundProgram:
    """Program that is bound to arrays.

    Args:
        program: The program.
        arrays: An array for every entry that the plan says is bound, prepared arrays left out.
        pool: Blocks of another one that may be used too.
        operators: By number, those that stand for the nodes' own.

    Attributes:
        program: The program.
        binding: Where everything lies.
    """

    def __init__(
        self,
        program: Program,
        arrays: Mapping[int, NDArray],
        pool: Pool | None = None,
        operators: Mapping[int, Operator] | None = None,
    ) -> None:
        prepared = {
            entry: empty_like(program, entry)
            for node_id in program.preparations
            for entry in program.entry_range(node_id)
        }
        # The others are made at their first run: what only predicts needs none of backward's.
        own = program.operators(program.made_at_bind) if operators is None else operators
        self.program = program
        self.binding = Binding(program, {**arrays, **prepared}, own, pool)
        self._prepared = PreparedArrays.of(self.binding) if prepared else None

    @cached_property
    def forward(self) -> list[Segment]:
        """Segments that are pushed to compute the outputs, made at the first run."""
        return segments(self.binding, self._codes(self.program.forward))

    @cached_property
    def backward(self) -> list[Segment]:
        """The same of the gradients."""
        return segments(self.binding, self._codes(self.program.backward), self.started)

    @property
    def started(self) -> frozenset[Var]:
        """Variables of planned blocks that forward writes."""
        return self.forward[-1].started if self.forward else frozenset()

    def _codes(self, node_ids: Iterable[int]) -> list[SegmentCode]:
        return codes(self.program, [i for i in node_ids if i not in self.program.preparations])

    def begin(self) -> None:
        """Before a run is pushed: its values are in the memory from now on, and its prepared arrays right."""
        self.binding.take_ownership()
        if self._prepared is not None:
            self._prepared.refresh()


def empty_like(program: Program, entry: int) -> NDArray:
    """An array such as an entry needs."""
    spec = program.spec(entry)
    return empty(spec.shape, spec.ctx, spec.dtype)
