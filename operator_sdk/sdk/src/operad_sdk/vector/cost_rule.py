"""Estimates by which vector code is taken or left: a form in one kernel, and in NumPy's calls one by one.

Both follow from the form and from shapes alone, by constants that were measured once, so the same call is
always computed in the same way. NumPy's part is a call for each instruction, over as many elements as its
operands have together, each read and written in memory. The kernel's is a walk over rows for each stage:
instructions for whole vectors, also where a row is shorter than one, loads that gather what lies apart, and
each array once for each stage that reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from math import prod, radians
from typing import Final, NamedTuple

from operad.dtypes import DType
from operad.operator import ARITHMETIC, Axes, Instruction, ScalarForm, Shape
from operad_sdk.declare.element_cost import function_cost
from operad_sdk.vector.compiled import CompiledForm, Walk, walk_of
from operad_sdk.vector.stages import REDUCTIONS
from operad_sdk.vector.writer import BITS

_CALL_US, _REDUCTION_US = 0.35, 1.5
"""Time of one of NumPy's calls on small arrays, and of one that reduces. All times here are those of one core
with AVX-512; `python -m tests.benchmarks.instructions` shows them beside measurements."""
_LOOP_NS: Final = 0.28
_CACHED_BYTES: Final = 1 << 20
_BYTE_NS: Final = (0.0047, 0.0085)
"""Time of a byte that is read or written, up to that size of a call's arrays and beyond."""
_OF_NUMPY: Final = {
    **dict.fromkeys(("max", "min"), 0.2),
    **dict.fromkeys(("logical_and", "logical_or", "logical_not", "logical_xor"), 0.0),
    "cast": 0.4, "copysign": 1.5, "select": 4.0, "sign": 1.0, "sum": 0.3,
}  # fmt: skip
"""Operations of loops for an element, where `function_cost` has none, or means arrays of numbers. Selecting
takes 1.8 where conditions are alike, and 12 where nothing foretells them."""
_WITH_NUMBERS: Final = {"maximum": 1.0, "minimum": 1.0, "power": 2.4}
"""The same where an operand is a number, for which NumPy has no vector loop."""
_POWER_OF_NUMBER: Final = 5.3
_RECIPROCAL: Final = 0.14
_OF_DEGREES: Final = 3.3
"""The same for a division of 1, and a product whose first factor is that of `numpy.radians`: forms have no
name for either."""
_CAST_OF_TRUTH: Final = 0.15
_MOVED: Final = 0.15
"""The same for what is repeated along the last axis, where nothing is computed."""
_SHORT_NS: Final = {"sum": 10.0, "max": 32.0, "min": 32.0}
"""Time that one of NumPy's reductions takes for a run of elements however short it is."""
_RUN_NS: Final = (2.2, 4.0)
"""Time that another of its loops takes for a run: with one loop around it, and with several. A run is what is
alike for all operands: a broadcast number ends it."""
_FREE: Final = frozenset(("input", "constant", "length", "position"))

_VECTOR_US: Final = 0.35
_INSTRUCTION_NS: Final = 0.06
"""Time of an instruction on a vector of 64 bytes; of elements that fill several, as often as their square."""
_DEAR: Final = {"divide": 8.0, "sqrt": 12.0, **dict.fromkeys(("maximum", "minimum", "max", "min"), 2.0)}
"""Instructions that take longer, as multiples of the others."""
_OF_C_NS: Final = {
    "atan2": 13.0, "power": 4.5, "erfc": 6.0, "gamma": 30.0,
    **dict.fromkeys(("sin", "cos", "tan"), 0.05),
}  # fmt: skip
"""Time of an element by functions of the C library, which are called for each lane, or are seldom called."""
_AXIS_NS, _STAGE_NS, _RUN_OF_ROW_NS = 0.8, 0.3, 1.1
"""Time of a row for each outer axis and for each walk, and of each of its runs for each walk."""
_REDUCED_NS: Final = {"sum": 1.5, "max": 3.5, "min": 3.5}
"""Time until the lanes of a row's vector are one number."""
_OF_ROW_NS: Final = 0.15
"""Time of an instruction on what a row has one of."""
_NEAR_NS, _FAR_NS = 0.15, 0.6
"""Time of an element that is gathered or scattered, from the same piece of 64 bytes and from another."""


Specs = tuple[tuple[Shape, DType], ...]

_MARGIN: Final = 0.92
"""Share of NumPy's time from which vector code is not worth its compilation."""


class Estimates(NamedTuple):
    """Microseconds of both ways on one thread."""

    numpy_us: float = 0.0
    vector_us: float = 0.0

    @property
    def favour_vectors(self) -> bool:
        """Return whether vector code is faster by more than estimates are worth."""
        return self.vector_us < _MARGIN * self.numpy_us

    @property
    def saved_us(self) -> float:
        """Time by which vector code is faster."""
        return self.numpy_us - self.vector_us

    def plus(self, other: Estimates) -> Estimates:
        """Of both together."""
        return Estimates(self.numpy_us + other.numpy_us, self.vector_us + other.vector_us)


def estimates(kernel: CompiledForm, specs: Sequence[tuple[Shape, DType]], copied: bool) -> Estimates:
    """Estimates for arrays of these shapes and types.

    Args:
        copied: Whether the author's function returns results, so that they are copied to where they belong.
    Raises:
        NoVectorCodeError: There is no kernel for them.
    """
    numpy_us, vector_us = _computing(kernel, tuple(specs))
    if copied and not _FREE.issuperset(step.op for step in kernel.form.instructions):
        size_bytes = sum(prod(shape) * dtype.itemsize for shape, dtype in specs[len(kernel.form.inputs) :])
        numpy_us += 1e-3 * _moving_ns(2 * size_bytes)
    return Estimates(numpy_us, vector_us)


@lru_cache(maxsize=4096)
def _computing(kernel: CompiledForm, specs: Specs) -> Estimates:
    """Estimates without copies."""
    walk = walk_of(kernel, specs)
    numpy_us = _numpy_us(kernel.form, tuple(walk.space), specs, kernel.dtype.itemsize)
    return Estimates(numpy_us, _vector_us(kernel, walk, specs))


def _numpy_us(form: ScalarForm, space: Shape, specs: Sequence[tuple[Shape, DType]], itemsize: int) -> float:
    us, rank, count = 0.0, len(space), len(form.inputs)
    lying = [step.axes for step in form.instructions[:count]] + [one.axes for one in form.results]
    long = [_long_axes(axes, shape, rank) for axes, (shape, _) in zip(lying, specs, strict=True)]
    calls, ends = _calls(form, rank, tuple(long[:count]))
    for call in calls:
        elements = prod([space[axis] for axis in call.read])
        moved_ns = _moving_ns((call.arrays * itemsize + call.other_bytes) * elements)
        us += call.us + 1e-3 * (_LOOP_NS * call.loops * elements + moved_ns)
        if call.run_ns:
            us += 1e-3 * call.run_ns * prod([space[axis] for axis in call.around])
    for one, end, own, (shape, dtype) in zip(form.results, ends, long[count:], specs[count:], strict=True):
        is_input = form.instructions[one.position].op == "input"
        if (is_input or end < own) and not any(lying):  # what lies otherwise is left to NumPy
            moved_ns = _moving_ns((prod([space[axis] for axis in end]) + prod(shape)) * dtype.itemsize)
            loops = _MOVED if rank - 1 in own - end else 0.0
            us += _CALL_US + 1e-3 * (_LOOP_NS * loops * prod(shape) + moved_ns)
    return us


def _long_axes(axes: Axes, shape: Shape, rank: int) -> frozenset[int]:
    """The axes of the space along which an array has more than one element."""
    own = range(rank - len(shape), rank) if axes is None else axes
    return frozenset(axis for axis, n in zip(own, shape, strict=True) if axis is not None and n > 1)


class _Call(NamedTuple):
    """One of NumPy's calls, whatever the lengths are.

    Attributes:
        us: Time of the call itself.
        loops: Time of an element, in units of `_LOOP_NS`.
        arrays: How many arrays of the form's type it reads and writes.
        other_bytes: Of an element of each of the others.
        read: The axes that it goes over.
        around: Those over which a loop stands around runs of elements.
        run_ns: Time of each run.
    """

    us: float
    loops: float
    arrays: int
    other_bytes: int
    read: Collection[int]
    around: Collection[int]
    run_ns: float


@lru_cache(maxsize=4096)
def _calls(
    form: ScalarForm, rank: int, inputs: tuple[frozenset[int], ...]
) -> tuple[list[_Call], list[frozenset[int]]]:
    """NumPy's calls, and for each result the axes along which they give several numbers.

    Args:
        rank: Of the space.
        inputs: For each input the axes along which it has more than one element.
    """
    axes, found, steps = [*inputs], dict[int, _Call](), form.instructions
    of_others = set[int]()  # of `numpy.fmax` and `fmin`
    for position in range(len(inputs), len(steps)):
        step = steps[position]
        read = frozenset[int]().union(*(axes[i] for i in step.args))
        is_reduction = step.op in REDUCTIONS
        over = (step.axes or (-1,)) if is_reduction else ()
        reduced = {axis % rank for axis in over if axis is not None}
        axes.append(read - reduced if step.op != "position" else frozenset({int(step.value or 0) % rank}))
        if step.op == "select" and steps[step.args[0]].op == "isnan" and axes[step.args[1]]:
            of_others |= {position, step.args[0]}
        if step.op in _FREE or not read:
            continue
        around, depth = _around(read, [*(axes[i] for i in step.args), frozenset(reduced)])
        run_ns = _RUN_NS[depth > 1] if around else 0.0
        run_ns = _SHORT_NS[step.op] if rank - 1 in reduced else run_ns
        moved = [steps[i].kind for i in {*step.args} if axes[i]] + [step.kind] * (not is_reduction)
        others = sum(BITS[kind] // 8 if kind != "bool" else 1 for kind in moved if kind != "real")
        us = _REDUCTION_US if is_reduction else _CALL_US
        loops = _loops(form, step, axes)
        found[position] = _Call(us, loops, moved.count("real"), others, read, around, run_ns)
    calls = [call for position, call in found.items() if position not in of_others]
    return calls, [axes[one.position] for one in form.results]


def _loops(form: ScalarForm, step: Instruction, axes: Sequence[Collection[int]]) -> float:
    """Operations of loops that a call of NumPy's takes for an element."""
    steps = form.instructions
    numbers = [steps[i].value for i in step.args if not axes[i]]
    if step.op == "select" and len(numbers) > 1:  # as NumPy has it, an array of truth that is cast
        return _CAST_OF_TRUTH
    if step.op == "power" and not axes[step.args[0]]:
        return _POWER_OF_NUMBER
    if step.op == "divide" and numbers == [1.0]:
        return _RECIPROCAL
    if step.op == "multiply" and numbers == [radians(1)] and not axes[step.args[0]]:
        return _OF_DEGREES
    if numbers and step.op in _WITH_NUMBERS:
        return _WITH_NUMBERS[step.op]
    return _OF_NUMPY.get(step.op, function_cost(step.op) - ARITHMETIC)


def _around(read: Collection[int], operands: Sequence[Collection[int]]) -> tuple[list[int], int]:
    """Axes of the loops around runs of elements that NumPy goes over, where an operand has some of the axes.

    Returns:
        They, and the number of loops.
    """
    around, loops, alike = list[int](), -1, None
    for axis in sorted(read, reverse=True):
        own = [axis in operand for operand in operands]
        if own != alike:
            loops, alike = loops + 1, own
        if loops:
            around.append(axis)
    return around, loops


def _moving_ns(size_bytes: float) -> float:
    beyond = max(0.0, size_bytes - _CACHED_BYTES)
    return _BYTE_NS[0] * (size_bytes - beyond) + _BYTE_NS[1] * beyond


def _vector_us(kernel: CompiledForm, walk: Walk, specs: Sequence[tuple[Shape, DType]]) -> float:
    stages = walk.text.stages
    steps = stages.form.instructions
    lanes, axes, pattern = 64 // kernel.dtype.itemsize, walk.axes, walk.pattern
    walks, columns = prod(axes.outer) * prod(axes.runs), axes.columns
    vectors = walks * -(-columns // lanes)
    if pattern.rows:  # vectors are of neighbouring rows
        walks = prod(axes.outer[:-1]) * -(-axes.outer[-1] // (pattern.rows * lanes)) * prod(axes.runs)
        vectors = walks * pattern.rows * columns
    runs = prod(axes.runs)
    ns = walks / runs * (_AXIS_NS * len(axes.outer) + _STAGE_NS * stages.count)
    for step, is_of_rows in zip(steps, stages.is_of_rows, strict=True):
        if step.op in REDUCTIONS:
            ns += _INSTRUCTION_NS * _DEAR.get(step.op, 1.0) * vectors
            ns += 0.0 if pattern.rows else _REDUCED_NS[step.op] * walks / runs
        elif is_of_rows and step.op not in _FREE:
            ns += _OF_ROW_NS * _DEAR.get(step.op, 1.0) * walks / runs
    if runs > 1:
        ns += _RUN_OF_ROW_NS * walks * stages.count
    moved = 0.0
    count, given = len(kernel.form.inputs), len(stages.form.inputs)
    for stage in range(stages.count):
        for position in stages.needed(stage):
            step = steps[position]
            if step.op == "input" and not stages.is_loaded(position, stage):
                if position < count:  # else a counted position, which stays in the cache
                    moved += prod(specs[position][0]) * specs[position][1].itemsize
                    ns += _apart_ns(walk, position) * vectors * lanes
            elif step.op in _OF_C_NS:
                ns += _OF_C_NS[step.op] * vectors * lanes
            elif step.op not in _FREE:
                filled = max(1.0, BITS.get(step.kind, 0) / 8 / kernel.dtype.itemsize)
                ns += _INSTRUCTION_NS * filled**2 * _DEAR.get(step.op, 1.0) * vectors
    for number, (shape, dtype) in enumerate(specs[count:]):
        moved += prod(shape) * dtype.itemsize
        ns += _apart_ns(walk, given + number) * prod(shape)
    return _VECTOR_US + 1e-3 * (ns + _moving_ns(moved))


def _apart_ns(walk: Walk, number: int) -> float:
    """Time that an element takes longer because it is gathered or scattered."""
    strides = walk.axes.strides[number]
    if walk.pattern.lanes(number) != "apart":
        return 0.0
    step = strides[len(walk.axes.outer) - 1 if walk.pattern.rows else -1]
    return _NEAR_NS if abs(step) < 64 else _FAR_NS
