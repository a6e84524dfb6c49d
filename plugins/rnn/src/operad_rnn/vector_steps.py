"""All steps of a cell as kernels in vector code, which one loop calls without the interpreter.

A cell says what a step is: a product and a form, or backward a form and a product, which comes last. Here
rows of the batch are divided among threads, and what ends early keeps its state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import ScalarForm
from operad_rnn.arrays import Ends
from operad_sdk import Array
from operad_sdk.differentiate import elements_form
from operad_sdk.vector import KeptLoops, PackedMatrix, StepArray, StepCall, StepLoop, form_call

if TYPE_CHECKING:
    from operad_rnn.cell import Cell

Order = NDArray[np.int64]
"""The numbers of steps, in the order in which a pass goes through them."""

_LOOPS: Final = KeptLoops()
_MEMORY: Final = (
    "gates", "inner", "out", "runs", "_candidates", "_projected", "_work", "_other", "_product", "_h2h_bias",
)  # fmt: skip
"""Attributes of cells that are arrays, or None, of which none is a part of another one."""
_ROWS: Final = 8
"""Rows of the batch that a thread may have of its own."""


@final
class Back(NamedTuple):
    """Arrays of a pass from the last step: rows of one part.

    Attributes:
        h2h: The recurrent matrix, packed.
        sums: (steps, rows, gates), the gradient of the recurrent products.
        hidden: The state before the first step, and `state` the cell state.
        hidden_grad: The gradient of the state behind a step, which becomes that of the one before it.
            `state_grad` alike.
        out_grad, before: The gradient of every hidden state, and the hidden states as steps see them.
    """

    h2h: PackedMatrix
    sums: Array
    hidden: Array
    state: Array
    hidden_grad: Array
    state_grad: Array
    out_grad: Array
    before: Array


def go_forward(cell: Cell, order: Order, hidden: Array, state: Array | None) -> None:
    """All steps, after `begin`."""

    def calls(rows: slice) -> list[StepCall]:
        part = cell.with_rows(rows)
        found = part.calls(order, hidden[rows], _rows_of(state, rows))
        for arrays, first in ((part.out, hidden), (part.inner, state)):
            if part.runs is not None and first is not None:
                runs, new = StepArray.of(part.runs, order), StepArray.of(arrays, order)
                old = StepArray.before(first[rows], arrays, order)
                found.append(form_call(_forms_of_ends()[0], [runs, new, old], [new]))
        return found

    _run("forward", cell, [hidden, state], [cell.packed], calls)


def go_back(cell: Cell, order: Order, ends: Ends, sums: Array) -> None:
    """All steps from the last, after `begin_backward`."""
    out_grad, hidden, state, *grads = ends
    h2h = PackedMatrix.of(cell.weights.h2h)
    before: Array = cell.out if cell.runs is None else np.where(cell.runs, cell.out, hidden)
    carried = [None if grad is None else np.ascontiguousarray(grad) for grad in grads]

    def calls(rows: slice) -> list[StepCall]:
        part, own = cell.with_rows(rows), [_rows_of(each, rows) for each in carried]
        back = Back(
            h2h, sums[:, rows], hidden[rows], _rows_of(state, rows), own[0], own[1], out_grad[:, rows],
            before[:, rows],
        )  # fmt: skip
        *found, product = part.calls_back(order[::-1], back)
        if part.runs is None:
            return [*found, product]
        runs, gates = StepArray.of(part.runs, order[::-1]), StepArray.of(back.sums, order[::-1])
        keep, only, copy = _forms_of_ends()
        behind = [StepArray.same(grad, order) for grad in own if grad is not None]
        ended = [StepArray.same(np.empty_like(grad.sample), order) for grad in behind]
        return [
            *(form_call(copy, [grad], [old]) for grad, old in zip(behind, ended, strict=True)),
            *found,
            form_call(only, [runs, gates], [gates]),
            product,
            *(form_call(keep, [runs, grad, old], [grad]) for grad, old in zip(behind, ended, strict=True)),
        ]

    _run("backward", cell, [hidden, state, *carried, out_grad, sums], [h2h], calls)
    for grad, found in zip(grads, carried, strict=True):
        if grad is not None and grad is not found:
            grad[...] = found


def _run(
    part: str,
    cell: Cell,
    ends: Sequence[Array | None],
    matrices: Sequence[PackedMatrix],
    calls: Callable[[slice], list[StepCall]],
) -> None:
    """Make the calls of all rows of the batch, or side by side those of some rows each.

    A row has the same bits in any part.
    """
    batch, op_ctx = cell.out.shape[1], cell.op_ctx
    count = 1 if op_ctx is None else max(1, min(op_ctx.num_threads, batch // _ROWS))
    rows = [slice(batch * i // count, batch * (i + 1) // count) for i in range(count)]
    given = [*ends, *(getattr(cell, name, None) for name in _MEMORY)]
    arrays = [array for array in given if array is not None]
    arrays += [each.memory for each in (*matrices, getattr(cell, "_projection", None)) if each is not None]
    are_there = tuple([array is not None for array in given])
    key = (part, type(cell), cell.bounds, cell.is_reverse, cell.runs is None, count, are_there)
    _LOOPS.run(key, arrays, lambda: [StepLoop(calls(some)) for some in rows], op_ctx)


def _rows_of(array: Array | None, rows: slice) -> Array | None:
    return None if array is None else array[rows]


@cache
def _forms_of_ends() -> tuple[ScalarForm, ScalarForm, ScalarForm]:
    """Forms for rows that end early: what runs, else what was there; what runs, else 0; a copy."""

    def keep(runs: Any, new: Any, old: Any) -> tuple[Any]:
        return (np.where(runs, new, old),)

    def only(runs: Any, new: Any) -> tuple[Any]:
        return (np.where(runs, new, 0),)

    def copy(array: Any) -> tuple[Any]:
        return (array * 1,)

    return elements_form(keep, runs="bool"), elements_form(only, runs="bool"), elements_form(copy)
