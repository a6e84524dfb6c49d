"""Generated kernels: parts of an operator by their scalar forms, in vector code."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad.context import Context
from operad.dtypes import DType
from operad.operator import (
    FORWARD,
    ArgumentSlot,
    BackwardEntry,
    CallTemplate,
    Cost,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    ScalarForm,
    Shape,
    assign,
    moved_bytes,
)
from operad_sdk.form_kernels import View
from operad_sdk.vector.addresses import data_address
from operad_sdk.vector.array_calls import ArrayCall, array_call
from operad_sdk.vector.compiled import CompiledForm, compiled
from operad_sdk.vector.layout import BoundKernel
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.team import has_team, team

_PART_ELEMENTS: Final = 1 << 15
"""Elements that are worth handing to another thread."""
_PARTS_OF_A_THREAD: Final = 2
"""Parts for each thread: where one is slow, another takes more of them."""
_LOCKED_US: Final = 10.0
"""Estimated time up to which a small call may hold the engine's lock."""
_LOOPS: Final = 0.04
"""Operations of a loop, which take half a nanosecond, in which an instruction on one lane is done."""

_CALL_US: Final = 8.0
"""Time of a call in parts, or with arrays that lie in an unusual way; a small one takes less than 1."""

SLOW: Final = frozenset(("atan2", "power", "log2", "log10"))
"""Functions that LLVM leaves to the C library, element by element, or for which NumPy has tables."""


Target = tuple[NDArray[Any] | None, OpReq]


def cost_of_arrays(form: CompiledForm, specs: Sequence[tuple[Shape, DType]]) -> Cost:
    """Instructions of the elements, and one pass over arrays of these shapes and types."""
    shapes = [shape for shape, _ in specs]
    loops = _LOOPS * form.num_instructions * max(map(prod, shapes))
    whole = Cost(loops, size_bytes=moved_bytes(shapes), beside_us=_CALL_US)
    return whole._replace(pooled_us=whole.work_us) if has_team() else whole


@final
class Signature:
    """The arrays of a part's form.

    Attributes:
        dtype: What `real` is.
        entries: For the gradient of an argument, what each input is; None for the outputs.
        specs: Shape and type of each input and then each result.
        outputs: For each result of the outputs' form the number of the output, or, behind all of them, of the
            state, that it is; none for a gradient.
        position: The argument whose gradient it is.
    """

    def __init__(
        self,
        prop: OperatorProperty,
        part: str,
        form: ScalarForm,
        in_shapes: Sequence[Shape],
        in_types: Sequence[DType],
    ) -> None:
        shapes, types = prop.infer_shape(list(in_shapes)), prop.infer_type(list(in_types))
        every: Any = [list(zip(*pair, strict=True)) for pair in zip(shapes, types, strict=True)]
        self.dtype = next(dtype for dtype in in_types if dtype.kind == "f")
        self.entries: list[BackwardEntry] | None = None
        if part == FORWARD:
            names = [*prop.list_outputs(), *prop.list_auxiliary_states()]
            self.outputs = [names.index(result.name) for result in form.results]
            given, made = [*every[0], *every[2]], [*every[1], *every[2]]
            self.specs = tuple(given + [made[number] for number in self.outputs])
            return
        self.outputs = []
        self.position = prop.list_arguments().index(part.removesuffix("_grad"))
        self.entries = prop.backward_dependency([i == self.position for i in range(len(in_shapes))])
        groups = {"in_data": every[0], "out_data": every[1], "out_grad": every[1]}
        read = [groups[kind][index] for kind, index in self.entries]
        self.specs = (*read, every[0][self.position])

    def shares(self, prop: OperatorProperty) -> set[tuple[int, int]]:
        """Pairs of an input and a result of the form that the operator allows to share memory."""
        arguments = range(len(prop.list_arguments()))
        if self.entries is None:
            pairs = prop.forward_inplace_option(list(arguments), list(range(len(prop.list_outputs()))))
            return {(i, self.outputs.index(j)) for i, j in pairs}
        outputs = range(len(prop.list_outputs()))
        found = prop.backward_inplace_option(
            [BackwardEntry("out_grad", i) for i in outputs],
            [BackwardEntry("in_data", i) for i in arguments],
            [BackwardEntry("out_data", i) for i in outputs],
            list(arguments),
        )
        return {
            (self.entries.index(entry), 0)
            for entry, target in found
            if target == self.position and entry in self.entries
        }


@final
class FormOperator(Operator):
    """Computes one part by its scalar form.

    Arrays that are not worth several threads go straight to the kernel, which is compiled when the operator
    is made: what runs under the engine's lock may not compile.

    Args:
        part: `forward`, or the gradient of an argument.
    """

    def __init__(
        self,
        part: str,
        prop: OperatorProperty,
        ctx: Context,
        in_shapes: Sequence[Shape],
        in_types: Sequence[DType],
    ) -> None:
        form = prop.scalar_form(part, in_shapes, in_types)
        assert isinstance(form, ScalarForm)
        self._signature = Signature(prop, part, form, in_shapes, in_types)
        self._compiled = compiled(form, self._signature.dtype)
        # Of a cluster, for each input the view that the form reads, or None.
        self._views: Sequence[View | None] = getattr(prop, "views", None) or (None,) * len(form.inputs)
        self._quick = self._quick_call(self._compiled, prop, self._signature.specs)
        self._quick_apart = self._quick or self._quick_call(self._compiled, None, self._signature.specs)
        if self._quick is not None and part == FORWARD and self._is_plain(prop):
            self.direct = self._quick
            self.lock_cost_limit_us = _LOCKED_US
            if prop.num_visible_outputs < len(form.results):
                self.direct_visible = self._visible_call(form, prop)

    @property
    def position(self) -> int:
        """Position of the argument whose gradient it computes."""
        return self._signature.position

    def alone(self, req: Sequence[OpReq]) -> list[OpReq]:
        """Requests of which only that for its own gradient is left."""
        return [one if i == self.position else OpReq.NULL for i, one in enumerate(req)]

    def _is_plain(self, prop: OperatorProperty) -> bool:
        """Return whether the form's inputs and results are the arguments and then all outputs."""
        outputs = list(range(len(prop.list_outputs())))
        return not prop.list_auxiliary_states() and self._signature.outputs == outputs

    def _quick_call(
        self, form: CompiledForm, prop: OperatorProperty | None, specs: Sequence[tuple[Shape, DType]]
    ) -> ArrayCall | None:
        """The call of a kernel with contiguous arrays, inputs first; None if there is none.

        It is for arrays that are not worth several threads, since nobody says how many there may be.

        Args:
            prop: Whose pairs of arrays may share memory; None: none do.
        """
        arrays = self._viewed([np.empty(*spec) for spec in specs])
        if cost_of_arrays(form, [(array.shape, array.dtype) for array in arrays]).is_parallel:
            return None
        layout, num_results = form.layout(arrays), len(form.form.results)
        shares = set() if prop is None else self._signature.shares(prop)
        if not {pair for pair in shares if pair[1] < num_results} <= layout.shares:
            return None
        is_small = max(array.size for array in arrays) <= _PART_ELEMENTS
        offsets = [0 if view is None else view.offset for view in self._views] + [0] * num_results
        return array_call(layout, len(self._views), offsets=offsets, keeps_lock=is_small)

    def _viewed(self, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Arrays of which the first are inputs, as the form reads them."""
        views = [*self._views, *[None] * (len(arrays) - len(self._views))]
        return [array if view is None else view.of(array) for array, view in zip(arrays, views, strict=True)]

    def _visible_call(self, form: ScalarForm, prop: OperatorProperty) -> ArrayCall | None:
        """The call of a kernel of the visible outputs alone."""
        visible = form.results[: prop.num_visible_outputs]
        shown = compiled(
            ScalarForm(form.name, form.inputs, form.instructions, visible), self._signature.dtype
        )
        num_arrays = len(form.inputs) + len(visible)
        return self._quick_call(shown, prop, self._signature.specs[:num_arrays])

    def backward_templates(
        self, op_ctx: OpContext, req: Sequence[OpReq], num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The kernel itself, for small arrays."""
        if self._signature.entries is None:
            return super().backward_templates(op_ctx, req, num_outputs, num_states)
        position = self._signature.position
        quick = {OpReq.WRITE: self._quick_apart, OpReq.INPLACE: self._quick}.get(req[position])
        if quick is None:
            return super().backward_templates(op_ctx, req, num_outputs, num_states)
        first = {"in_data": 0, "out_data": len(req), "out_grad": len(req) + num_outputs}
        slots = [ArgumentSlot(first[kind] + index) for kind, index in self._signature.entries]
        target = ArgumentSlot(len(req) + 2 * num_outputs + position)
        return [CallTemplate(quick, (*slots, target))]

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Any],
        req: Sequence[OpReq],
        out_data: Sequence[Any],
        aux_states: Sequence[Any],
    ) -> None:
        """The outputs, and states that change."""
        targets: list[Target] = [*zip(out_data, req, strict=True)]
        targets += [(state, OpReq.WRITE) for state in aux_states]
        self._compute(op_ctx, [*in_data, *aux_states], [targets[i] for i in self._signature.outputs])

    def backward(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Any],
        in_data: Sequence[Any],
        out_data: Sequence[Any],
        req: Sequence[OpReq],
        in_grad: Sequence[Any],
        aux_states: Sequence[Any],
    ) -> None:
        """The gradient of the argument."""
        position = self._signature.position
        if req[position] is OpReq.NULL:
            return
        groups = {"in_data": in_data, "out_data": out_data, "out_grad": out_grad}
        assert self._signature.entries is not None
        given = [groups[kind][index] for kind, index in self._signature.entries]
        self._compute(op_ctx, given, [(in_grad[position], req[position])])

    def _compute(self, op_ctx: OpContext, given: list[Any], targets: Sequence[Target]) -> None:
        specs = self._signature.specs[len(given) :]
        run_form(self._compiled, op_ctx, self._viewed(given), targets, specs)


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
    for number, out in enumerate(outs):
        near = [i for i, array in enumerate(given) if np.may_share_memory(array, out)]
        if not all((i, number) in layout.shares and _is_same(given[i], out) for i in near):
            outs[number] = np.empty(*specs[number])
            layout = form.layout([*given, *outs])
    bound = BoundKernel(layout, [*given, *outs])
    elements = max(array.size for array in (*given, *outs))
    # A row is computed alike in any part.
    threads = op_ctx.num_threads
    count = max(1, min(bound.units, elements // _PART_ELEMENTS, _PARTS_OF_A_THREAD * threads))
    if threads == 1:
        count = 1

    def part(number: int, _: int) -> None:
        bound.run(bound.units * number // count, bound.units * (number + 1) // count)

    if count == 1:
        bound.run()
    elif has_team():
        team.run(bound, count, threads)
    else:
        op_ctx.parallel(part, count, threads)
    for (target, request), out in zip(targets, outs, strict=True):
        if target is not None and out is not target:
            assign(target, request, out)


def _is_same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return (data_address(one), one.shape, one.strides, one.dtype) == (
        data_address(other),
        other.shape,
        other.strides,
        other.dtype,
    )
