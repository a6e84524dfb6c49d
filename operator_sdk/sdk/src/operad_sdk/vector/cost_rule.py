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
from math import prod
from typing import Final, NamedTuple

from operad.dtypes import DType
from operad.operator import ARITHMETIC, ScalarForm, Shape
from operad_sdk.declare.element_cost import function_cost
from operad_sdk.vector.compiled import CompiledForm, Walk, walk_of
from operad_sdk.vector.stages import REDUCTIONS
from operad_sdk.vector.writer import BITS

_CALL_US, _REDUCTION_US = 0.8, 1.6
"""Time of one of NumPy's calls on small arrays, and of one that reduces."""
_LOOP_NS: Final = 0.5
_CACHED_BYTES: Final = 1 << 20
_NUMPY_NS, _VECTOR_NS = (0.0095, 0.0125), (0.0115, 0.0145)
"""Time of a byte that is read or written, up to that size of a call's arrays and beyond. NumPy's loops of one
instruction are a little faster than a kernel's."""
_OF_NUMPY: Final = {
    **dict.fromkeys(("select", "sum"), 0.3),
    **dict.fromkeys(("cast", "logical_and", "logical_or", "logical_not", "logical_xor"), 0.15),
    **dict.fromkeys(("max", "min"), 0.0),
}
"""Operations of loops for an element, where `function_cost` has none, or means arrays of numbers."""
_SLOW_WITH_NUMBERS: Final = {"maximum": 0.5, "minimum": 0.5}
"""The same where an operand is a number, with which NumPy has no vector loop."""
_POWER_OF_NUMBER: Final = 3.3
"""The same for powers of one number, with which NumPy is slower than with one exponent."""
_SHORT_NS: Final = {"sum": 15.0, "max": 38.0, "min": 38.0}
"""Time that one of NumPy's reductions takes for a run of elements however short it is."""
_RUN_NS: Final = (4.0, 9.0)
"""Time that another of its loops takes for a run: with one loop around it, and with several. A run is what is
alike for all operands: a broadcast number ends it."""
_FREE: Final = frozenset(("input", "constant", "length"))

_VECTOR_US: Final = 1.0
_INSTRUCTION_NS: Final = 0.15
"""Time of an instruction on a vector of 64 bytes; one of wider elements than arrays have fills several."""
_DEAR: Final = {"divide": 4.0, "sqrt": 6.0, **dict.fromkeys(("maximum", "minimum", "max", "min"), 4.0)}
"""Instructions that take longer, as multiples of the others."""
_OF_C_NS: Final = {
    "atan2": 8.0, "power": 4.5, "erfc": 6.0, "gamma": 30.0,
    **dict.fromkeys(("sin", "cos", "tan"), 0.35),
}  # fmt: skip
"""Time of an element by functions of the C library, which are called for each lane, or are seldom called."""
_AXIS_NS, _STAGE_NS, _RUN_OF_ROW_NS = 1.5, 0.5, 2.0
"""Time of a row for each outer axis and for each walk, and of each of its runs for each walk."""
_REDUCED_NS: Final = {"sum": 2.0, "max": 6.0, "min": 6.0}
"""Time until the lanes of a row's vector are one number."""
_OF_ROW_NS: Final = 0.3
"""Time of an instruction on what a row has one of."""
_NEAR_NS, _FAR_NS = 0.3, 1.0
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
    if numpy_us and copied:
        size_bytes = sum(prod(shape) * dtype.itemsize for shape, dtype in specs[len(kernel.form.inputs) :])
        numpy_us += 1e-3 * _moving_ns(2 * size_bytes, _NUMPY_NS)
    return Estimates(numpy_us, vector_us)


@lru_cache(maxsize=4096)
def _computing(kernel: CompiledForm, specs: Specs) -> Estimates:
    """Estimates without copies."""
    walk = walk_of(kernel, specs)
    numpy_us = _numpy_us(kernel.form, tuple(walk.space), specs, kernel.dtype.itemsize)
    return Estimates(numpy_us, _vector_us(kernel, walk, specs))


def _numpy_us(form: ScalarForm, space: Shape, specs: Sequence[tuple[Shape, DType]], itemsize: int) -> float:
    us, rank = 0.0, len(space)
    inputs = zip(form.instructions[: len(form.inputs)], specs, strict=False)
    own = [
        (range(rank - len(shape), rank) if one.axes is None else one.axes, shape)
        for one, (shape, _) in inputs
    ]
    long = [[a for a, n in zip(*each, strict=True) if a is not None and n > 1] for each in own]
    for call in _calls(form, rank, tuple(map(frozenset, long))):
        elements = prod([space[axis] for axis in call.read])
        moved_ns = _moving_ns(call.arrays * elements * itemsize, _NUMPY_NS)
        us += call.us + 1e-3 * (_LOOP_NS * call.loops * elements + moved_ns)
        if call.run_ns:
            us += 1e-3 * call.run_ns * prod([space[axis] for axis in call.around])
    return us


class _Call(NamedTuple):
    """One of NumPy's calls, whatever the lengths are.

    Attributes:
        us: Time of the call itself.
        loops: Time of an element, in units of `_LOOP_NS`.
        arrays: How many arrays it reads and writes.
        read: The axes that it goes over.
        around: Those over which a loop stands around runs of elements.
        run_ns: Time of each run.
    """

    us: float
    loops: float
    arrays: int
    read: Collection[int]
    around: Collection[int]
    run_ns: float


@lru_cache(maxsize=4096)
def _calls(form: ScalarForm, rank: int, inputs: tuple[frozenset[int], ...]) -> list[_Call]:
    """NumPy's calls.

    Args:
        rank: Of the space.
        inputs: For each input the axes along which it has more than one element.
    """
    axes, calls = [*inputs], list[_Call]()
    for step in form.instructions[len(inputs) :]:
        read = frozenset[int]().union(*(axes[i] for i in step.args))
        is_reduction = step.op in REDUCTIONS
        over = (step.axes or (-1,)) if is_reduction else ()
        reduced = {axis % rank for axis in over if axis is not None}
        axes.append(read - reduced)
        if step.op in _FREE or not read:
            continue
        loops = _OF_NUMPY.get(step.op, function_cost(step.op) - ARITHMETIC)
        if step.op in _SLOW_WITH_NUMBERS and not all(axes[i] for i in step.args):
            loops = _SLOW_WITH_NUMBERS[step.op]
        if step.op == "power" and not axes[step.args[0]]:
            loops = _POWER_OF_NUMBER
        around, depth = _around(read, [*(axes[i] for i in step.args), frozenset(reduced)])
        run_ns = _RUN_NS[depth > 1] if around else 0.0
        run_ns = _SHORT_NS[step.op] if rank - 1 in reduced else run_ns
        arrays = (not is_reduction) + sum(bool(axes[i]) for i in set(step.args))
        calls.append(_Call(_REDUCTION_US if is_reduction else _CALL_US, loops, arrays, read, around, run_ns))
    return calls


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


def _moving_ns(size_bytes: float, rates: tuple[float, float]) -> float:
    beyond = max(0.0, size_bytes - _CACHED_BYTES)
    return rates[0] * (size_bytes - beyond) + rates[1] * beyond


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
                ns += _INSTRUCTION_NS * filled * _DEAR.get(step.op, 1.0) * vectors
    for number, (shape, dtype) in enumerate(specs[count:]):
        moved += prod(shape) * dtype.itemsize
        ns += _apart_ns(walk, given + number) * prod(shape)
    return _VECTOR_US + 1e-3 * (ns + _moving_ns(moved, _VECTOR_NS))


def _apart_ns(walk: Walk, number: int) -> float:
    """Time that an element takes longer because it is gathered or scattered."""
    strides = walk.axes.strides[number]
    if walk.pattern.lanes(number) != "apart":
        return 0.0
    step = strides[len(walk.axes.outer) - 1 if walk.pattern.rows else -1]
    return _NEAR_NS if abs(step) < 64 else _FAR_NS
