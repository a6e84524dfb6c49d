"""All steps of a layer as kernels in vector code, which loops call without the interpreter.

A cell says which products come before its steps, and what a step is: a product and a form, or backward a
form and a product, which comes last. Here rows of the batch are divided among threads, and what ends early
keeps its state. The loops are kept for the next call, which takes other arrays; so all that is computed, also
packed matrices and sums of biases, is computed by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad_rnn.arrays import Ends, Weights, flat
from operad_rnn.setup import Setup, forms
from operad_sdk import Array, OpContext
from operad_sdk.vector import (
    KeptLoops,
    LoopPhases,
    PackedMatrix,
    StepArray,
    StepCall,
    StepLoop,
    form_call,
)

if TYPE_CHECKING:
    from operad_rnn.cell import Cell

Order = NDArray[np.int64]
"""The numbers of steps, in the order in which a pass goes through them."""

_LOOPS: Final = KeptLoops()
ROWS: Final = 8
"""Rows of the batch that a thread may have of its own."""


@final
class Back(NamedTuple):
    """Arrays of a pass from the last step.

    Attributes:
        h2h: The recurrent matrix, packed.
        before: (steps, rows, units), the hidden states as the steps behind them see them.
        ends: The others.
    """

    h2h: PackedMatrix
    before: Array
    ends: Ends

    def with_rows(self, rows: slice) -> Back:
        """The same for some rows of the batch."""
        out_grad, *others = self.ends
        ends = Ends(out_grad[:, rows], *(_rows_of(each, rows) for each in others))
        return Back(self.h2h, self.before[:, rows], ends)


def go_forward(
    make_cells: Callable[[], Sequence[tuple[Cell, Array, Array | None]]],
    inputs: Array,
    key: tuple[Any, ...],
    arrays: Sequence[Array],
    op_ctx: OpContext,
) -> None:
    """All products and steps of a layer.

    Args:
        make_cells: Makes the cells of its directions, each with the states that it begins with.
        inputs: (steps, batch, features).
        key: Determines the cells, with how the arrays lie.
        arrays: All that the cells use, each whole.
    """
    threads = op_ctx.num_threads

    def make() -> LoopPhases:
        setup, loops = Setup(threads), list[StepLoop]()
        for cell, hidden, state in make_cells():
            hidden = setup.alike(hidden, cell.out)
            state = None if state is None else setup.alike(state, cell.inner)
            cell.prepare(inputs, setup)
            for rows in _parts(inputs.shape[1], threads):
                loops.append(StepLoop(_forward(cell.with_rows(rows), hidden[rows], _rows_of(state, rows))))
        return LoopPhases([setup.loops(), loops], setup.memory)

    _LOOPS.run(("forward", threads, key), arrays, make, op_ctx)


def _forward(part: Cell, hidden: Array, state: Array | None) -> list[StepCall]:
    """Calls of a step of some rows."""
    order = np.array(part.order)
    found = part.calls(order, hidden, state)
    for arrays, first in ((part.out, hidden), (part.inner, state)):
        if part.runs is not None and first is not None:
            runs, new = StepArray.of(part.runs, order), StepArray.of(arrays, order)
            old = StepArray.before(first, arrays, order)
            found.append(form_call(forms().keep, [runs, new, old], [new]))
    return found


@final
class Last(NamedTuple):
    """Arrays of the gradients that are computed behind a layer's pass from the last step.

    Attributes:
        inputs: (steps, batch, features).
        grads: Gradients of the weights, or None; and of the inputs.
    """

    inputs: Array
    grads: Weights | None
    inputs_grad: Array | None


def go_back(
    make_cells: Callable[[], Sequence[tuple[Cell, Ends, Last]]],
    key: tuple[Any, ...],
    arrays: Sequence[Array],
    op_ctx: OpContext,
) -> None:
    """All steps of a layer from the last, and the products behind; arguments as of `go_forward`.

    Args:
        make_cells: Makes the cells after `begin_backward`, each with its arrays.
    """
    threads = op_ctx.num_threads

    def make() -> LoopPhases:
        setup, loops, behind = Setup(threads), list[StepLoop](), Setup(threads)
        for cell, ends, last in make_cells():
            before = cell.out if cell.runs is None else setup.kept(cell.runs, cell.out, ends.hidden)
            ends = ends._replace(hidden=setup.alike(ends.hidden, before))
            if ends.state is not None:
                ends = ends._replace(state=setup.alike(ends.state, cell.inner))
            back = Back(setup.pack(cell.weights.h2h), before, ends)
            cell.prepare_back(setup)
            for rows in _parts(cell.out.shape[1], threads):
                loops.append(StepLoop(_backward(cell.with_rows(rows), back.with_rows(rows), setup)))
            _finish(cell, back, last, behind)
        phases = setup.loops(), loops, behind.loops()
        return LoopPhases([phase for phase in phases if phase], setup.memory)

    _LOOPS.run(("backward", threads, key), arrays, make, op_ctx)


def _finish(cell: Cell, back: Back, last: Last, setup: Setup) -> None:
    """Gradients of matrices, biases and inputs."""
    first, *others = cell.order
    later = slice(others[0], None) if not cell.is_reverse and others else slice(0, first)
    earlier = slice(0, -1) if not cell.is_reverse else slice(1, None)
    sums, rows = cell.input_sums(), 0
    if last.grads is not None:
        factors = [(cell.sums[first].T, back.ends.hidden)]
        if others:
            factors.append((flat(cell.sums[later]).T, flat(back.before[earlier])))
        setup.sum_of_products(factors, last.grads.h2h)
        alike = [] if len(sums) > 1 else [last.grads.i2h_bias]
        setup.totals(flat(cell.sums), last.grads.h2h_bias, *alike)
    factors = []
    for each in sums:
        some = slice(rows, rows := rows + each.shape[2])
        factors.append((flat(each), cell.weights.i2h[some]))
        if last.grads is not None:
            setup.sum_of_products([(flat(each).T, flat(last.inputs))], last.grads.i2h[some])
            if len(sums) > 1:
                setup.totals(flat(each), last.grads.i2h_bias[some])
    if last.inputs_grad is not None:
        setup.sum_of_products(factors, flat(last.inputs_grad))


def _backward(part: Cell, back: Back, setup: Setup) -> list[StepCall]:
    """Calls of a step back of some rows."""
    order = np.array(part.order)
    *found, product = part.calls_back(order[::-1], back)
    if part.runs is None:
        return [*found, product]
    runs = StepArray.of(part.runs, order[::-1])
    masked = [StepArray.of(array, order[::-1]) for array in part.of_runs()]
    grads = [grad for grad in (back.ends.hidden_grad, back.ends.state_grad) if grad is not None]
    behind = [StepArray.same(grad, order) for grad in grads]
    ended = [StepArray.same(setup.empty(grad.shape, grad.dtype), order) for grad in grads]
    return [
        *(form_call(forms().copy, [grad], [old]) for grad, old in zip(behind, ended, strict=True)),
        *found,
        *(form_call(forms().only, [runs, array], [array]) for array in masked),
        product,
        *(
            form_call(forms().keep, [runs, grad, old], [grad])
            for grad, old in zip(behind, ended, strict=True)
        ),
    ]


def _parts(batch: int, threads: int) -> list[slice]:
    """Rows of the batch for each loop. A row has the same bits in any part."""
    count = max(1, min(threads, batch // ROWS))
    return [slice(batch * i // count, batch * (i + 1) // count) for i in range(count)]


def _rows_of(array: Array | None, rows: slice) -> Array | None:
    return None if array is None else array[rows]
