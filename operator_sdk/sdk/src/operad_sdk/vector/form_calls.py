"""Calls of forms with arrays: where results go, what is copied, and in how many parts rows are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from operad.context import cpu
from operad.dtypes import DType
from operad.operator import OpContext, OpReq, Shape, assign
from operad_sdk.addresses import data_address, overlaps, span
from operad_sdk.vector.array_calls import ArrayCall, array_call, bound_to
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.layout import BoundKernel, TableLayout
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.team import has_team, team

PART_ELEMENTS: Final = 1 << 15
"""Elements that are worth handing to another thread."""
_PARTS_OF_A_THREAD: Final = 2
"""Parts for each thread: where one is slow, another takes more of them."""
HERE: Final = OpContext(cpu(), is_train=True)
"""The running operation: how many threads it may use."""

Target = tuple[NDArray[Any] | None, OpReq]


def run_form(
    form: CompiledForm,
    op_ctx: OpContext,
    given: list[Any],
    targets: Sequence[Target],
    specs: Sequence[tuple[Shape, DType]],
) -> None:
    """Compute a form on the threads of an operation.

    Args:
        given: Its inputs.
        targets: For each result where it goes, and the request.
        specs: Shape and type of each result.
    """
    # What is not wanted, or is added, is written beside.
    outs = [
        np.empty(*spec) if target is None or request in (OpReq.NULL, OpReq.ADD) else target
        for (target, request), spec in zip(targets, specs, strict=True)
    ]
    try:
        layout = form.layout([*given, *outs])
    except NoVectorCodeError:  # of strides that nothing asked for has
        given = [np.ascontiguousarray(array) for array in given]
        outs = [np.empty(*spec) for spec in specs]
        layout = form.layout([*given, *outs])
    spans = list(map(span, given))
    for number, out in enumerate(outs):
        near = overlaps(out, spans)
        if not all((i, number) in layout.shares and _is_same(given[i], out) for i in near):
            outs[number] = np.empty(*specs[number])
            layout = form.layout([*given, *outs])
    arrays = [*given, *outs]
    run_bound(op_ctx, BoundKernel(layout, arrays), max(array.size for array in arrays))
    for (target, request), out in zip(targets, outs, strict=True):
        if target is not None and out is not target:
            assign(target, request, out)


def divided_call(
    layout: TableLayout,
    num_inputs: int,
    elements: int,
    is_parallel: bool,
    sources: Sequence[int],
    offsets: Sequence[int],
) -> ArrayCall:
    """The call of a kernel that `array_call` gives, on the threads of the running operation.

    Args:
        elements: Of the largest array.
        is_parallel: Whether the kernel is worth several threads.
    """
    keeps_lock = elements <= PART_ELEMENTS
    call = array_call(layout, num_inputs, sources=sources, offsets=offsets, keeps_lock=keeps_lock)
    if not is_parallel:
        return call

    def in_parts(*arrays: Any) -> None:
        if HERE.num_threads == 1 or not all(array.flags.c_contiguous for array in arrays):
            call(*arrays)
        else:
            run_bound(HERE, bound_to(layout, arrays, sources, offsets), elements)

    return in_parts


def run_bound(op_ctx: OpContext, bound: BoundKernel, elements: int) -> None:
    """Compute all rows of a kernel on the threads of an operation.

    Args:
        elements: Of the largest array.
    """
    # A row is computed alike in any part.
    threads = op_ctx.num_threads
    count = max(1, min(bound.units, elements // PART_ELEMENTS, _PARTS_OF_A_THREAD * threads))
    if threads == 1 or count == 1:
        bound.run()
    elif has_team():
        team.run(bound, count, threads)
    else:

        def part(number: int, _: int) -> None:
            bound.run(bound.units * number // count, bound.units * (number + 1) // count)

        op_ctx.parallel(part, count, threads)


def _is_same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return (data_address(one), one.shape, one.strides, one.dtype) == (
        data_address(other),
        other.shape,
        other.strides,
        other.dtype,
    )
