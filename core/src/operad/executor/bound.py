"""A program bound to arrays: its memory, its prepared arrays and its segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from operad.engine import Var
from operad.executor.prepared import PreparedArrays
from operad.ndarray import NDArray, empty
from operad.op import Operator
from operad.program import Binding, Pool, Program, codes, segments


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
        forward: What is pushed to compute the outputs.
        backward: What is pushed to compute the gradients.
        started: Variables of planned blocks that forward has written.
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
        own = program.operators([*program.forward, *program.backward]) if operators is None else operators
        self.program = program
        self.binding = Binding(program, {**arrays, **prepared}, own, pool)
        self._prepared = PreparedArrays(self.binding) if prepared else None
        forward, backward = map(program.without_preparations, (program.forward, program.backward))
        self.forward = segments(self.binding, codes(program, forward))
        self.started: frozenset[Var] = self.forward[-1].started if self.forward else frozenset()
        self.backward = segments(self.binding, codes(program, backward), self.started)

    def begin(self) -> None:
        """Before a run is pushed: its values are in the memory from now on, and its prepared arrays right."""
        self.binding.take_ownership()
        if self._prepared is not None:
            self._prepared.refresh()


def empty_like(program: Program, entry: int) -> NDArray:
    """An array such as an entry needs."""
    spec = program.spec(entry)
    return empty(spec.shape, spec.ctx, spec.dtype)
