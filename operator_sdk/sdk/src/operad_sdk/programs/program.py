"""A program and its run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from graphlib import CycleError
from math import prod
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad import storage
from operad.context import cpu
from operad.operator import OpContext, Shape
from operad.storage import ALIGNMENT_BYTES
from operad_sdk.addresses import data_address, span
from operad_sdk.differentiate import Node
from operad_sdk.differentiate.dispatch import each
from operad_sdk.differentiate.indexing import is_basic
from operad_sdk.differentiate.reductions import NUMPYS_PREFIXES
from operad_sdk.multiplication import multiply
from operad_sdk.programs.clusters import Clusters
from operad_sdk.programs.plan import CallStep, KernelStep, Plan, Slot, Step
from operad_sdk.sums import PREFIXES_IN_VECTORS, blocked_cumsum
from operad_sdk.vector.array_calls import ArrayCall, CallPart, chained_call
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.cost_rule import Estimates
from operad_sdk.vector.form_calls import PART_ELEMENTS, run_bound
from operad_sdk.vector.layout import BoundKernel
from operad_sdk.vector.primitives import NoVectorCodeError

_ALONE: Final = OpContext(cpu(), is_train=False)
_DOUBLE_BYTES: Final = 8
_COPY_US: Final = 2.5e-5
"""Time of a byte that is copied."""
_LOOK_UP_US: Final = 0.01
"""Time by which an element that is taken by its position takes longer: tracing has one way for what authors
write by `np.take` and others."""
_PREFIX_US: Final = (2.5e-3, 3e-4)
"""Time of a prefix sum by NumPy, and in vector code."""


@final
class Program:
    """A traced function, ready to run.

    Args:
        inputs: The nodes that were given.
        results: Those that are wanted.
        always: Whether kernels are taken where NumPy's calls are faster, too.

    Attributes:
        inputs: As given.
        results: As given.
        specs: Shape and type of each result.
        cost: Estimates of what kernels compute, by them and by NumPy's calls.
        num_kernels: How many kernels there are.

    Raises:
        TraceError: It is too long.
    """

    def __init__(self, inputs: Sequence[Node], results: Sequence[Node], *, always: bool = False) -> None:
        self.inputs, self.results = inputs, results
        self._clusters = Clusters(inputs, results, always=always)
        self._plans: dict[tuple[int, ...], Plan] = {}
        self.specs = [(node.value.shape, node.value.dtype) for node in results]
        prefixes = sum(map(_prefixes_in_vectors, self._clusters.steps))
        self.num_kernels = len(self._clusters.every) + bool(prefixes)
        self.cost = Estimates(*(prefixes * each_us for each_us in _PREFIX_US))
        for cluster in self._clusters.every:
            self.cost = self.cost.plus(cluster.cost)
        copied = self.whole.copied_bytes if self.num_kernels else 0
        beside_us = copied * _COPY_US + sum(
            node.value.size * _LOOK_UP_US for node in self._clusters.steps if _looks_up(node)
        )
        self.cost = self.cost._replace(vector_us=self.cost.vector_us + beside_us)
        for node in {*inputs, *self._clusters.steps}:  # of which the shape is enough
            node.value = np.broadcast_to(np.zeros((), node.value.dtype), node.value.shape)

    def plan(self, wanted: tuple[int, ...]) -> Plan:
        """The steps that some results need. Kernels are the same whatever is wanted, and so are bits."""
        found = self._plans.get(wanted)
        if found is None:
            given = self.inputs, [self.results[number] for number in wanted], self._clusters
            try:
                found = Plan(*given)
            except CycleError:  # of readers of arrays that are written
                found = Plan(*given, copies_all=True)
            self._plans[wanted] = found
        return found

    @property
    def whole(self) -> Plan:
        """The steps of all results."""
        return self.plan(tuple(range(len(self.results))))

    @property
    def size_bytes(self) -> int:
        """Memory between the steps."""
        return self.whole.size_bytes

    @property
    def is_of_kernels(self) -> bool:
        """Return whether kernels compute all results, where they are wanted."""
        steps = [step for step in self.whole.steps if not (isinstance(step, CallStep) and step.is_view)]
        return all(isinstance(step, KernelStep) for step in steps) and not self.whole.copied

    def explained(self) -> str:
        """The steps in words."""
        return ", ".join(filter(None, map(_word, self.whole.steps)))

    def run(
        self,
        op_ctx: OpContext,
        arrays: Sequence[NDArray[Any]],
        wanted: tuple[int, ...],
        targets: Sequence[NDArray[Any]],
    ) -> None:
        """Compute some results.

        Args:
            arrays: The inputs.
            wanted: The numbers of the results.
            targets: Where each goes; they share no memory with `arrays`, and lie in one piece each.
        """
        plan = self.plan(wanted)
        handle = storage.get().alloc(plan.size_bytes, cpu()) if plan.size_bytes else None
        try:
            slots = _slots(plan, arrays, targets, None if handle is None else handle.buffer)
            for step in plan.steps:
                _run(step, op_ctx, slots)
            for number, slot in plan.copied:
                targets[number][...] = slots[slot]
        finally:
            slots = []  # views of what is given back
            if handle is not None:
                storage.get().free(handle)

    def call(self) -> ArrayCall | None:
        """All results by one call of machine code, with contiguous inputs and then targets.

        They share no memory; targets are written before all inputs are read. None where other steps than
        kernels and views compute, or there can be no such call. Compiles the kernels.
        """
        plan, parts = self.whole, list[CallPart]()
        inputs, targets = [[np.empty(*_spec(one)) for one in nodes] for nodes in (self.inputs, self.results)]
        constants, memory = [value for _, value in plan.constants], np.empty(plan.size_bytes, np.uint8)
        given = [*inputs, *targets, *constants, memory]
        if not self.is_of_kernels or not all(isinstance(array, np.ndarray) for array in given):
            return None
        slots = _slots(plan, inputs, targets, memory)
        for step in plan.steps:
            if not isinstance(step, KernelStep):
                _run(step, _ALONE, slots)
                continue
            own = [slots[number] for number in step.slots]
            found = [_found(array, given) for array in own]
            try:
                layout = step.cluster.kernel.layout(own)
            except NoVectorCodeError:  # of strides that were not foreseen
                return None
            if None in found:  # of a view that is a copy
                return None
            parts.append(CallPart(layout, *zip(*filter(None, found), strict=True)))
        num_inputs, count = len(inputs), len(inputs) + len(targets)
        return chained_call(parts, count, num_inputs, constants=constants, memory_bytes=plan.size_bytes)


def _spec(node: Node) -> tuple[Shape, np.dtype[Any]]:
    return node.value.shape, node.value.dtype


def _found(array: NDArray[Any], given: Sequence[NDArray[Any]]) -> tuple[int, int] | None:
    """The number of the array in which one lies, and where it begins there, in bytes."""
    address = data_address(array)
    for number, (whole, (begin, end)) in enumerate(zip(given, map(span, given), strict=True)):
        if begin <= address < end:
            return number, address - data_address(whole)
    return None


def _slots(
    plan: Plan, arrays: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]], memory: NDArray[Any] | None
) -> list[Any]:
    """The arrays of a run before its steps, by slot."""
    slots: list[Any] = [*arrays, *[None] * (plan.num_slots - len(arrays))]
    for slot, value in plan.constants:
        slots[slot] = value
    for number, slot, shape in plan.direct:
        slots[slot] = targets[number].reshape(shape)
    if memory is not None:
        for slot, begin, shape, dtype in plan.places:
            size = prod(shape) * dtype.itemsize
            slots[slot] = memory[begin : begin + size].view(dtype).reshape(shape)
    for slot, whole, index in plan.parts:
        slots[slot] = slots[whole][index]
    return slots


@contextmanager
def pooled(specs: Sequence[tuple[Shape, np.dtype[Any]]]) -> Iterator[list[NDArray[Any]]]:
    """Arrays of these shapes and types, until the end of the block, in memory from the pool.

    Large arrays of NumPy's get new pages from the system each time, whose first write takes as long as a
    product.
    """
    if not specs:
        yield []
        return
    ends = [0]
    for shape, dtype in specs:
        size_bytes = prod(shape) * dtype.itemsize
        ends.append(ends[-1] + -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES)
    handle = storage.get().alloc(ends[-1], cpu())
    try:
        yield [
            handle.buffer[begin : begin + prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
            for begin, (shape, dtype) in zip(ends, specs, strict=False)
        ]
    finally:
        storage.get().free(handle)


def _looks_up(node: Node) -> bool:
    step = node.step
    return step is not None and step.primitive.form == "take" and not is_basic(step.args[1])


def _prefixes_in_vectors(node: Node) -> int:
    """Number of prefix sums of a step that are in vector code, and were NumPy's."""
    step, size = node.step, node.value.size
    is_one = step is not None and step.primitive is NUMPYS_PREFIXES
    return size if is_one and node.value.dtype == np.float32 and size >= PREFIXES_IN_VECTORS else 0


def _word(step: Step) -> str:
    if isinstance(step, KernelStep):
        kernel = step.cluster.kernel
        kinds = {one.kind for one in kernel.form.instructions}
        is_wide = kernel.dtype.itemsize < _DOUBLE_BYTES and "float64" in kinds
        return f"kernel of {step.cluster.steps}{' that computes in float64, too' if is_wide else ''}"
    if isinstance(step, CallStep):
        if step.function is blocked_cumsum:
            return "prefix sums"
        return "" if step.is_view else f"numpy.{getattr(step.function, '__name__', step.function)}"
    return "writing a part"


def _run(step: Step, op_ctx: OpContext, slots: list[Any]) -> None:
    if isinstance(step, KernelStep):
        _compute(step.cluster.kernel, op_ctx, [slots[number] for number in step.slots])
        return

    def found(arg: Any) -> Any:
        return slots[arg.number] if arg.__class__ is Slot else arg

    if isinstance(step, CallStep):
        args = [each(arg, found) for arg in step.args]
        if step.function is blocked_cumsum:
            blocked_cumsum(*args, out=slots[step.slot], op_ctx=op_ctx, **step.options)
        elif not step.writes:
            slots[step.slot] = np.asarray(step.function(*args, **step.options))
        elif step.function is np.matmul:
            multiply(args[0], args[1], slots[step.slot], op_ctx=op_ctx)
        else:
            step.function(*args, out=slots[step.slot], **step.options)
        return
    slots[step.slot][each(step.index, found)] = each(step.value, found)


def _compute(kernel: CompiledForm, op_ctx: OpContext, arrays: list[NDArray[Any]]) -> None:
    elements = max(array.size for array in arrays)
    try:
        if elements <= PART_ELEMENTS:
            kernel.small_call(arrays)(*arrays)
        else:
            run_bound(op_ctx, BoundKernel(kernel.layout(arrays), arrays), elements)
    except NoVectorCodeError:  # of strides that were not foreseen
        copies = [np.ascontiguousarray(array).reshape(array.shape) for array in arrays]
        run_bound(op_ctx, BoundKernel(kernel.layout(copies), copies), elements)
        for array, copy in list(zip(arrays, copies, strict=True))[len(kernel.form.inputs) :]:
            if copy is not array:
                array[...] = copy
