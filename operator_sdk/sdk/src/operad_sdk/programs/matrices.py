"""Programs of stacks of matrices, whose matrices are computed one after another, each through all steps.

Between two products of a stack lies an array of all its matrices, which a core's own caches do not hold. What
lies between two products of *one* matrix they hold. So where nothing goes from matrix to matrix, the steps
are those of one, and the loop over matrices is machine code (`operad_sdk.vector.steps`): its arrays lie
somewhere else for each matrix, and what is between the steps lies in one place for all. Where the matrices
of a stack lie is free, so heads may be columns of a larger matrix.

invariant: each step has the bits of the whole program's, whose kernels compute matrices apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import OpContext
from operad_sdk.addresses import data_address, span
from operad_sdk.differentiate import Node
from operad_sdk.differentiate.dispatch import each
from operad_sdk.multiplication import are_of_kernels, reason_for_blas
from operad_sdk.programs.axes import ROW, Cut, Graph
from operad_sdk.programs.copies import GraphCopy
from operad_sdk.programs.plan import CallStep, KernelStep, Plan, Slot
from operad_sdk.programs.program import Program, pooled
from operad_sdk.programs.stores import step_of
from operad_sdk.vector import NoVectorCodeError
from operad_sdk.vector.kept_loops import KeptLoops
from operad_sdk.vector.steps import LoopPhases, StepArray, StepCall, StepLoop
from operad_sdk.vector.tiles import product_layout

_LEAST_BYTES: Final = 1 << 14
"""Memory between the steps of one matrix from which a loop over matrices is worth its calls."""
_PARTS_OF_A_THREAD: Final = 2
"""Parts for each thread: where one is slow, another takes more of them."""
_LINE_BYTES: Final = 64
_WIDE_BYTES: Final = 512
"""Rows of a multiple of this many bytes have one more line of the cache each: else what stands in one column
lies in few sets of the cache, and products that read columns lose it."""
_WIDENED, _OF = 9, 8
"""Memory of such rows, over that of the plan's."""


class _Lying(NamedTuple):
    """An array of a step: that of the first matrix, and by how many bytes each other one lies behind it."""

    sample: NDArray[Any]
    offsets: NDArray[np.int64]

    def of_steps(self) -> StepArray:
        """The arrays, a step each."""
        return StepArray(self.sample, data_address(self.sample) + self.offsets)

    def viewed(self, view: NDArray[Any]) -> _Lying:
        """The views of all, from that of the sample.

        Raises:
            NoVectorCodeError: It is a copy.
        """
        (begin, end), (first, last) = span(view), span(self.sample)
        if not first <= begin <= end <= last:
            raise NoVectorCodeError("a view is a copy")
        return _Lying(view, self.offsets)


class MatrixTile(NamedTuple):
    """A run of a program.

    Attributes:
        program: The program.
        arrays: Its inputs, of any strides.
        wanted: The numbers of the results that are computed.
        targets: Where each goes, of any strides.
        adds: The numbers of those that are added to what is there.
    """

    program: MatrixProgram
    arrays: Sequence[NDArray[Any]]
    wanted: tuple[int, ...]
    targets: Sequence[NDArray[Any]]
    adds: frozenset[int] = frozenset()


@final
class MatrixProgram:
    """A program that is computed matrix by matrix.

    Attributes:
        specs: Shape and type of each result.
        size_bytes: Memory between steps, at most.

    Args:
        whole: The program of all matrices, for arrays whose strides no kernel has.
        one: The program of one matrix.
        sources: What the latter reads, each a node of the former.
        cuts: The axes of the stack.
    """

    def __init__(self, whole: Program, one: Program, sources: Sequence[Node], cuts: Sequence[Cut]) -> None:
        self._whole, self._one, self._sources, self._cuts = whole, one, sources, cuts
        self.specs = whole.specs
        lengths = [cut.length for cut in cuts]
        self._places = np.indices(lengths).reshape(len(lengths), -1).T.astype(np.int64)
        self.size_bytes = self.num_matrices * (
            whole.size_bytes // self.num_matrices * _WIDENED // _OF + _LINE_BYTES
        )
        self._loops = KeptLoops()

    def explained(self) -> str:
        """The steps in words."""
        return f"matrix by matrix: {self._one.explained()}"

    def run(
        self, op_ctx: OpContext, arrays: Sequence[NDArray[Any]], wanted: tuple[int, ...],
        targets: Sequence[NDArray[Any]],
    ) -> None:  # fmt: skip
        """Compute some results; as `Program.run`."""
        tile = MatrixTile(self, arrays, wanted, targets)
        if not run_matrices(op_ctx, self._loops, [tile], [*arrays, *targets]):
            self._whole.run(op_ctx, arrays, wanted, targets)

    @property
    def num_matrices(self) -> int:
        """Number of matrices of the stack."""
        return len(self._places)

    def plan(self, wanted: tuple[int, ...]) -> Plan:
        """The plan of one matrix."""
        return self._one.plan(wanted)

    def calls(self, tile: MatrixTile, memory: NDArray[Any], some: slice) -> list[StepCall]:
        """The calls of some matrices.

        Raises:
            NoVectorCodeError: There is no kernel for a step.
        """
        plan = self._one.plan(tile.wanted)
        slots = self._slots(plan, tile, memory, some)
        return _calls(plan, slots, tile.wanted, tile.adds)

    def _slots(self, plan: Plan, tile: MatrixTile, memory: NDArray[Any], some: slice) -> list[_Lying]:
        """The arrays that a part's steps begin with."""
        found = dict(zip(self._whole.inputs, tile.arrays, strict=True))
        given = [found.get(node, node.value) for node in self._sources]
        here = np.zeros(some.stop - some.start, np.int64)
        slots: list[Any] = [None] * plan.num_slots
        for slot, (node, array) in enumerate(zip(self._sources, given, strict=True)):
            slots[slot] = self._lying(node, array, some)
        for slot, value in plan.constants:
            slots[slot] = _Lying(np.asarray(value), here)
        for number, slot, shape in plan.direct:
            whole = self._lying(self._whole.results[tile.wanted[number]], tile.targets[number], some)
            slots[slot] = whole.viewed(whole.sample.reshape(shape))
        for slot, array in _padded(plan, memory):
            slots[slot] = _Lying(array, here)
        for slot, whole_slot, index in plan.parts:
            slots[slot] = slots[whole_slot].viewed(slots[whole_slot].sample[index])
        return slots

    def _lying(self, node: Node, array: NDArray[Any], some: slice) -> _Lying:
        strides = [0] * len(self._cuts)
        sample = array
        for number, cut in enumerate(self._cuts):
            if (axis := cut.axes.get(node)) is not None:
                strides[number] = array.strides[axis]
                sample = sample[(*[slice(None)] * axis, slice(0, 1))]
        return _Lying(sample, self._places[some] @ np.array(strides, np.int64))


def run_matrices(
    op_ctx: OpContext, loops: KeptLoops, tiles: Sequence[MatrixTile], arrays: Sequence[NDArray[Any]]
) -> bool:
    """Run programs of one stack, for each matrix one after another.

    Args:
        loops: Of runs of the same programs.
        arrays: All that have the memory of the tiles' arrays.

    Returns:
        False where there are no kernels for these arrays: then nothing was written.
    """
    count, *others = {tile.program.num_matrices for tile in tiles}
    if others or count < op_ctx.num_threads:  # threads then compute parts of each step
        return False
    parts = 1 if op_ctx.num_threads == 1 else min(count, op_ctx.num_threads * _PARTS_OF_A_THREAD)
    plans = [tile.program.plan(tile.wanted) for tile in tiles]
    constants = [value for plan in plans for _, value in plan.constants if isinstance(value, np.ndarray)]
    every = {(data_address(one), one.shape, one.strides): one for one in (*arrays, *constants)}
    size_bytes = max(plan.size_bytes for plan in plans) * _WIDENED // _OF + _LINE_BYTES
    with pooled([((size_bytes,), np.dtype(np.uint8))] * parts) as memory:

        def make() -> LoopPhases:
            made = []
            for number in range(parts):
                some = slice(count * number // parts, count * (number + 1) // parts)
                calls = [call for tile in tiles for call in tile.program.calls(tile, memory[number], some)]
                made.append(StepLoop(calls))
            return LoopPhases([made])

        same = list(every)
        which = tuple([same.index((data_address(one), one.shape, one.strides)) for one in arrays])
        lies = tuple([(tile.program, tile.wanted, tile.adds) for tile in tiles])
        try:
            loops.run((lies, which, parts), [*every.values(), *memory], make, op_ctx)
        except NoVectorCodeError:
            return False
    return True


def _padded(plan: Plan, memory: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The arrays of the plan's memory, by slot.

    invariant: all begins grow alike, and no array by more, so what was apart is.
    """
    rows: dict[int, set[int]] = {}
    for _, begin, shape, dtype in plan.places:
        rows.setdefault(begin, set()).add(dtype.itemsize * prod(shape[-1:]))
    for slot, begin, shape, dtype in plan.places:
        row_bytes = dtype.itemsize * prod(shape[-1:])
        # What takes another array's place lies as that does.
        is_wide = row_bytes % _WIDE_BYTES == 0 and len(rows[begin]) == 1
        row_bytes += _LINE_BYTES * is_wide
        begin = -(-begin * _WIDENED // _OF // _LINE_BYTES) * _LINE_BYTES
        lines = memory[begin : begin + row_bytes * prod(shape[:-1])].view(dtype)
        lines = lines.reshape(*shape[:-1], row_bytes // dtype.itemsize)
        yield slot, lines[..., : prod(shape[-1:])].reshape(shape)


def _calls(plan: Plan, slots: list[_Lying], wanted: tuple[int, ...], adds: frozenset[int]) -> list[StepCall]:
    """The calls of a matrix.

    Raises:
        NoVectorCodeError: There is no kernel for a step.
    """
    summed = {slot for number, slot, _ in plan.direct if wanted[number] in adds}
    if plan.copied or len(summed) < len(adds):
        raise NoVectorCodeError("a result is no step's own")
    made = []
    for step in plan.steps:
        if isinstance(step, KernelStep):
            arrays = [slots[number] for number in step.slots]
            layout = step.cluster.kernel.layout([array.sample for array in arrays])
        elif isinstance(step, CallStep) and step.function is np.matmul:
            out = slots[step.slot]
            arrays = [_stacked(slots[arg.number], out) for arg in step.args]
            arrays.append(out)
            layout = product_layout(*[array.sample for array in arrays], adds=step.slot in summed)
            summed.discard(step.slot)
        elif isinstance(step, CallStep) and step.is_view and _reads_one(step):
            whole = slots[step.args[0].number]
            view = np.asarray(step.function(whole.sample, *step.args[1:], **step.options))
            slots[step.slot] = whole.viewed(view)
            continue
        else:
            raise NoVectorCodeError("a step is NumPy's")
        made.append(StepCall(layout, [one.of_steps() for one in arrays]))
    if summed or not made:
        raise NoVectorCodeError("a sum is no product")
    return made


def _reads_one(step: CallStep) -> bool:
    slots: list[Slot] = []
    each(step.args, lambda one: slots.append(one) if isinstance(one, Slot) else one)
    return len(slots) == 1 and step.args[0] is slots[0]


def _stacked(matrix: _Lying, out: _Lying) -> _Lying:
    shape = (*out.sample.shape[:-2], *matrix.sample.shape[-2:])
    return matrix._replace(sample=np.broadcast_to(matrix.sample, shape))


def by_matrices(program: Program, graph: Graph) -> MatrixProgram | None:
    """The same computed matrix by matrix; None where something goes from one to another."""
    cuts = [
        cut for cut in graph.cuts()
        if cut.is_batch and cut.length > 1 and not cut.hoisted(program.results)
        and all(cut.kinds.get(node) == ROW and node in cut.axes for node in program.results)
    ]  # fmt: skip
    if not cuts or not all(map(_is_of_kernels, graph.products())):
        return None
    copy = GraphCopy(set(program.inputs), [(cut.axes, 1) for cut in cuts])
    results = [copy.of(node) for node in program.results]
    one = Program(list(copy.sources.values()), results, always=True)
    plan = one.whole
    is_possible = all(
        isinstance(step, KernelStep)
        or (isinstance(step, CallStep) and (step.is_view or step.function is np.matmul))
        for step in plan.steps
    )
    if plan.copied or not is_possible or plan.size_bytes < _LEAST_BYTES:
        return None
    return MatrixProgram(program, one, list(copy.sources), cuts)


def _is_of_kernels(node: Node) -> bool:
    """Return whether a kernel multiplies the whole stack, so that each matrix has the same bits."""
    left, right = (arg.value for arg in step_of(node).args)
    if left.ndim < 2 or right.ndim < 2 or not are_of_kernels(left, right, node.value):
        return False
    shape = (*node.value.shape[:-2], *right.shape[-2:])
    return reason_for_blas(left.shape[-2], np.broadcast_to(right, shape)) is None
