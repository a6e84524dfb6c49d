"""The operator that computes parts of a declared one by programs, and whether it is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple, final

from operad.first_use import cached_property
from operad.operator import (
    FORWARD,
    ArgumentSlot,
    BackwardArrays,
    BackwardEntry,
    CallTemplate,
    ForwardArrays,
    KernelCall,
    OpContext,
    Operator,
    OpReq,
    assign,
)
from operad_sdk.addresses import overlaps, span
from operad_sdk.declare.binding import functions_of
from operad_sdk.declare.recorded import OF_MODE, traced_program
from operad_sdk.differentiate import TraceError
from operad_sdk.form_kernels import ELEMENTS_FROM_SIZE, SAVED_US
from operad_sdk.programs.program import Program, pooled
from operad_sdk.programs.tiles import AnyProgram, in_tiles
from operad_sdk.vector.array_calls import MOST_STACK_BYTES, ArrayCall
from operad_sdk.vector.cost_rule import Estimates

_MOST: Final = 64
"""Programs that are kept of an operator."""
_STEP_US: Final = 8.0
"""Time of a program's kernel beside what it computes."""
_LOCKED_US: Final = 10.0
"""Estimated time up to which a small program may hold the engine's lock."""
_CALL_US: Final = 2.0
"""Time by which a step that is NumPy's takes longer than the author's call."""


class PartsProgram(NamedTuple):
    """A program of some parts, with what it reads and makes.

    Attributes:
        program: The steps.
        names: Of the results.
        cost: Estimates of both ways, with the calls of the steps.
        small: The program, if it is one call of kernels on few elements.
    """

    program: AnyProgram
    names: Sequence[str]
    cost: Estimates
    small: Program | None


def program_of(
    call: KernelCall, parts: Sequence[str], is_train: bool, always: bool = False
) -> PartsProgram | str:
    """The program of some parts for these shapes, or why there is none; made once.

    Args:
        always: Whether kernels are taken where NumPy's calls are faster, too.
    """
    prop = call.prop
    cache: dict[Any, Any] = prop._forms.setdefault("programs", {})
    params = tuple(prop.get_params().items())
    key = (tuple(parts), params, tuple(call.in_shapes), tuple(call.in_types), is_train, always, prop.epoch)
    found = cache.get(key)
    if found is None:
        if len(cache) >= _MOST:
            cache.clear()
        found = cache[key] = _made(call, parts, is_train, always)
    return found


def _made(call: KernelCall, parts: Sequence[str], is_train: bool, always: bool) -> PartsProgram | str:
    found = traced_program(call, parts, is_train)
    if isinstance(found, str):
        return found
    inputs, results = found
    try:
        program = Program([cell.node for cell in inputs], [cell.node for _, cell in results], always=always)
    except TraceError as error:
        return str(error)
    if not program.num_kernels:
        return "no step of it is faster in vector code than NumPy's own call"
    others, names = len(program.whole.steps) - program.num_kernels, [name for name, _ in results]
    is_small = max(map(prod, (*call.in_shapes, *call.out_shapes))) < ELEMENTS_FROM_SIZE
    if is_small and program.is_of_kernels and program.size_bytes <= MOST_STACK_BYTES:
        if not always and program.cost.saved_us < SAVED_US:
            return f"kernels save {program.cost.saved_us:.3g} us, and pay from {SAVED_US}, estimated"
        return PartsProgram(program, names, program.cost, small=program)
    cost = program.cost.plus(Estimates(0.0, _STEP_US * program.num_kernels + _CALL_US * others))
    if not always and not cost.favour_vectors:
        return f"NumPy's own calls are faster: {cost.numpy_us:.3g} us and {cost.vector_us:.3g} us, estimated"
    return PartsProgram(in_tiles(program, always=always) or program, names, cost, small=None)


def reason_against(parts: Sequence[str], call: KernelCall, is_large: bool | None) -> str | None:
    """Reason why programs do not compute some parts of a call.

    Args:
        is_large: Whether an array has `ELEMENTS_FROM_SIZE` elements; None: NumPy may be faster.
    """
    for is_train in _modes(call.prop, parts):
        found = program_of(call, parts, is_train, is_large is None)
        if isinstance(found, str):
            return found
        if is_large is False and found.small is None:
            return f"a program of more than kernels pays from {ELEMENTS_FROM_SIZE} elements"
    return None


def time_us(parts: Sequence[str], call: KernelCall) -> float | None:
    """Estimated time of the program of some parts, in the slower mode; None where one has none."""
    found = [program_of(call, parts, is_train) for is_train in _modes(call.prop, parts)]
    times = [one.cost.vector_us for one in found if isinstance(one, PartsProgram)]
    return max(times) if len(times) == len(found) else None


def explained(parts: Sequence[str], call: KernelCall) -> str:
    """The steps of a call's program in words."""
    found = program_of(call, parts, is_train=True)
    return found if isinstance(found, str) else f"a program: {found.program.explained()}"


def scratch_bytes_of(parts: Sequence[str], call: KernelCall) -> int:
    """Memory between the steps of a call's program."""
    found = program_of(call, parts, is_train=True)
    return 0 if isinstance(found, str) else found.program.size_bytes


def _modes(prop: Any, parts: Sequence[str]) -> Sequence[bool]:
    """The modes in which the functions of some parts may do different things."""
    slots = {slot for bound in functions_of(prop, parts) for slot in bound.slots}
    return (True, False) if slots & OF_MODE else (True,)


@final
class ProgramOperator(Operator):
    """Computes some parts by programs.

    Args:
        parts: `forward`, or the gradients that one function computes.
        call: Property, context, shapes and types, with which kernels are made.

    Raises:
        TraceError: There is no program for these shapes.
    """

    def __init__(self, parts: Sequence[str], *call: Any) -> None:
        self._call = KernelCall(*call)
        self._prop = self._call.prop
        self._parts = parts
        self._names = self._prop.list_arguments()
        # What runs may not compile.
        modes = _modes(self._prop, parts)
        self._programs = {is_train: self._program(is_train) for is_train in modes}
        self._programs.setdefault(False, self._programs[True])
        self._quick = self._quick_call() if len(modes) == 1 else None
        if self._quick is not None and FORWARD in parts:
            self.direct, self.lock_cost_limit_us = self._quick, _LOCKED_US

    def _quick_call(self) -> ArrayCall | None:
        """The call of a small program, inputs first, whose targets lie apart; None: there is none."""
        made, prop = self._programs[True], self._prop
        if made.small is None or prop.list_auxiliary_states():
            return None
        if FORWARD in self._parts:
            names = prop.list_outputs()
            pairs = prop.forward_inplace_option(range(len(self._names)), range(len(names)))
            return None if pairs or [*made.names] != [*names] else made.small.call()
        return made.small.call()

    def _program(self, is_train: bool) -> PartsProgram:
        for always in (False, True):
            found = program_of(self._call, self._parts, is_train, always)
            if not isinstance(found, str):
                return found
        raise TraceError(found)

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs, and states that change."""
        made = self._programs[op_ctx.is_train]
        names = [*self._prop.list_outputs(), *self._prop.list_auxiliary_states()]
        ins, req, outs, states = arrays
        requests = [*req, *[OpReq.WRITE] * len(states)]
        every = dict(zip(names, zip([*outs, *states], requests, strict=True), strict=True))
        targets = [every[name] for name in made.names]
        _run(made, op_ctx, [*ins, *states], targets)

    @cached_property
    def _entries(self) -> Sequence[BackwardEntry]:
        wanted = [f"{name}_grad" in self._parts for name in self._names]
        found: Sequence[BackwardEntry] = self._prop.backward_dependency(wanted)
        return found

    def _positions(self, made: PartsProgram) -> list[int]:
        """Positions of the arguments whose gradients a program computes, in its order."""
        return [self._names.index(name.removesuffix("_grad")) for name in made.names]

    def backward_templates(
        self, op_ctx: OpContext, req: Sequence[OpReq], num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The call itself, of a small program whose gradients are all written."""
        positions = self._positions(self._programs[True])
        if self._quick is None or any(req[i] is not OpReq.WRITE for i in positions):
            return super().backward_templates(op_ctx, req, num_outputs, num_states)
        first = {"in_data": 0, "out_data": len(req), "out_grad": len(req) + num_outputs}
        slots = [ArgumentSlot(first[kind] + index) for kind, index in self._entries]
        targets = [ArgumentSlot(len(req) + 2 * num_outputs + i) for i in positions]
        return [CallTemplate(self._quick, (*slots, *targets))]

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients that are wanted."""
        made = self._programs[op_ctx.is_train]
        targets = [(arrays.in_grad[i], arrays.req[i]) for i in self._positions(made)]
        read = [getattr(arrays, kind)[index] for kind, index in self._entries]
        _run(made, op_ctx, [*read, *arrays.aux_states], targets)


def _run(
    made: PartsProgram, op_ctx: OpContext, arrays: Sequence[Any], targets: Sequence[tuple[Any, OpReq]]
) -> None:
    wanted = tuple([i for i, (_, request) in enumerate(targets) if request is not OpReq.NULL])
    spans, asked = list(map(span, arrays)), [targets[number] for number in wanted]
    is_free = [
        request is not OpReq.ADD and target.flags.c_contiguous and not overlaps(target, spans)
        for target, request in asked
    ]
    specs = [made.program.specs[number] for number, free in zip(wanted, is_free, strict=True) if not free]
    with pooled(specs) as others:
        left = iter(others)
        outs = [target if free else next(left) for (target, _), free in zip(asked, is_free, strict=True)]
        made.program.run(op_ctx, arrays, wanted, outs)
        for (target, request), out in zip(asked, outs, strict=True):
            if out is not target:
                assign(target, request, out)
