"""Generated kernels: parts of an operator by their scalar forms, in vector code."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad.dtypes import DType
from operad.operator import (
    FORWARD,
    ArgumentSlot,
    BackwardArrays,
    CallTemplate,
    Cost,
    ForwardArrays,
    KernelCall,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    ScalarForm,
    Shape,
    moved_bytes,
)
from operad_sdk.form_kernels import View
from operad_sdk.vector.array_calls import ArrayCall
from operad_sdk.vector.compiled import CompiledForm, compiled, walk_of
from operad_sdk.vector.form_calls import HERE, Target, divided_call, run_form
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.signature import Signature, form_of, number_forms
from operad_sdk.vector.team import has_team

if TYPE_CHECKING:
    from operad_sdk.declare.number_forms import NumberForms

_LOCKED_US: Final = 10.0
"""Estimated time up to which a small call may hold the engine's lock."""
_LOOPS: Final = 0.04
"""Operations of a loop, which take half a nanosecond, in which an instruction on one lane is done."""

_CALL_US: Final = 8.0
"""Time of a call in parts, or with arrays that lie in an unusual way; a small one takes less than 1."""

SLOW: Final = frozenset(("atan2", "power", "log2", "log10", "erfc", "gamma"))
"""Functions that LLVM leaves to the C library, element by element, or for which NumPy has tables."""


def cost_of_arrays(form: CompiledForm, specs: Sequence[tuple[Shape, DType]]) -> Cost:
    """Instructions of the elements, and one pass over arrays of these shapes and types."""
    shapes = [shape for shape, _ in specs]
    stages = walk_of(form, tuple(specs)).text.stages
    loops = _LOOPS * stages.num_computed * max(map(prod, shapes))
    return pooled(Cost(loops, size_bytes=moved_bytes(shapes), beside_us=_CALL_US))


def pooled(cost: Cost) -> Cost:
    """The cost of what kernels compute, which divide it where there are helpers."""
    return cost._replace(pooled_us=cost.work_us) if has_team() else cost


@final
class FormOperator(Operator):
    """Computes one part by its scalar form.

    Contiguous arrays go straight to the kernel, which is compiled when the operator is made: what runs
    under the engine's lock may not compile.

    Args:
        part: `forward`, or the gradient of an argument.
        call: Property, context, shapes and types, with which kernels are made.
    """

    def __init__(self, part: str, *call: Any) -> None:
        about = KernelCall(*call)
        prop = about.prop
        self._made_of: Any = (part, *call)
        self._forms = number_forms(about, part)
        form, numbers = form_of(about, part)
        assert isinstance(form, ScalarForm)
        self.form: Final = form  # to be found again, as an equal one may be what was compiled
        self._signature = Signature(about, part, form)
        self._compiled = compiled(form, self._signature.dtype)
        # Of a cluster, for each input the view that the form reads, or None.
        views_of = getattr(prop, "views_of", lambda _: (None,) * len(form.inputs))
        self._views: Sequence[View | None] = views_of(about.in_shapes)
        self._quick = self._quick_call(self._compiled, prop, self._signature.specs)
        self._quick_apart = self._quick or self._quick_call(self._compiled, None, self._signature.specs)
        self._is_direct = self._quick is not None and part == FORWARD and self._signature.is_plain
        self._set_numbers(numbers)
        if self._forms is not None and part == FORWARD:
            self._of_values = _CallsOfValues(self, self._forms, self._made_of)
            if self._of_values.own is not None:
                self.direct_with_values = _call_last
        elif self._is_direct:  # else the author's function may be called for some values
            self.lock_cost_limit_us = _LOCKED_US
        if self._is_direct and prop.num_visible_outputs < len(form.results) == len(prop.list_outputs()):
            self.direct_visible = self._visible_call(form, prop)

    def _set_numbers(self, numbers: Sequence[Any]) -> None:
        with np.errstate(all="ignore"):
            self.numbers: list[NDArray[Any]] = self._signature.arrays_of(numbers)
        if self._is_direct:
            assert self._quick is not None
            self.direct = _with_last(self._quick, self.numbers)

    def run_time_values(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Numbers of the form for these values, and the call that takes them behind the arrays."""
        return self._of_values(values)

    def rebound(self, prop: Any) -> FormOperator | None:
        """The same kernel with the numbers of `prop`, where its function goes the same way."""
        forms = self._forms
        if forms is None or prop.binding is not self._made_of[1].binding:
            return None
        with np.errstate(all="ignore"):
            form, numbers = forms(prop)
        if form is not self.form:
            return None
        made = object.__new__(FormOperator)
        made.__dict__.update(self.__dict__)
        made._set_numbers(numbers)
        return made

    def numbers_by_name(self) -> dict[str, NDArray[Any]]:
        """The run-time numbers by the names of the inputs that they are."""
        return dict(zip(self.form.inputs[self._signature.num_given :], self.numbers, strict=True))

    @property
    def position(self) -> int:
        """Position of the argument whose gradient it computes."""
        return self._signature.position

    def alone(self, req: Sequence[OpReq]) -> list[OpReq]:
        """Requests of which only that for its own gradient is left."""
        return [one if i == self.position else OpReq.NULL for i, one in enumerate(req)]

    def _quick_call(
        self, form: CompiledForm, prop: OperatorProperty | None, specs: Sequence[tuple[Shape, DType]]
    ) -> ArrayCall | None:
        """The call of a kernel with contiguous arrays, inputs first; None if there is none.

        Args:
            prop: Whose pairs of arrays may share memory; None: none do.
        """
        arrays = self._viewed([np.empty(*spec) for spec in specs])
        is_parallel = cost_of_arrays(form, [(array.shape, array.dtype) for array in arrays]).is_parallel
        layout, num_results = form.layout(arrays), len(form.form.results)
        shares = set() if prop is None else self._signature.shares(prop)
        read = [name in form.form.inputs_read for name in form.form.inputs]
        if not {(i, result) for i, result in shares if result < num_results and read[i]} <= layout.shares:
            return None
        elements = max(array.size for array in arrays)
        offsets = [0 if view is None else view.offset for view in self._views] + [0] * num_results
        sources, num_read = self._signature.sources(num_results), self._signature.num_arguments
        return divided_call(layout, num_read, elements, is_parallel, sources, offsets)

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
        return [CallTemplate(quick, (*slots, target, *self.numbers))]

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs, and states that change."""
        targets: list[Target] = [*zip(arrays.out_data, arrays.req, strict=True)]
        targets += [(state, OpReq.WRITE) for state in arrays.aux_states]
        given = [*arrays.in_data, *arrays.aux_states, *self.numbers]
        self._compute(op_ctx, given, [targets[i] for i in self._signature.outputs])

    @property
    def with_numbers(self) -> ArrayCall:
        """A function of arguments, outputs, states and run-time numbers."""
        if self._is_direct and self._quick is not None:
            return self._quick
        _, prop, _, in_shapes, _ = self._made_of
        num_args = len(in_shapes)
        end = num_args + len(prop.list_outputs())
        last = end + len(prop.list_auxiliary_states())

        def compute(*arrays: Any) -> None:
            targets: list[Target] = [(array, OpReq.WRITE) for array in arrays[num_args:last]]
            given = [*arrays[:num_args], *arrays[end:]]
            self._compute(HERE, given, [targets[i] for i in self._signature.outputs])

        return compute

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradient of the argument."""
        position = self._signature.position
        if arrays.req[position] is OpReq.NULL:
            return
        assert self._signature.entries is not None
        given = [getattr(arrays, kind)[index] for kind, index in self._signature.entries]
        self._compute(op_ctx, [*given, *self.numbers], [(arrays.in_grad[position], arrays.req[position])])

    def _compute(self, op_ctx: OpContext, given: list[Any], targets: Sequence[Target]) -> None:
        run_form(self._compiled, op_ctx, self._viewed(given), targets, self._signature.specs[len(given) :])


@final
class _CallsOfValues:
    """The calls of an operator's forms that take values of its run-time parameters.

    Where the function goes another way than before, the kernel for that is made when its values come. Where
    it has no form there, the operator's own function is called.

    Attributes:
        own: That function with values; None: it cannot be called so.
    """

    def __init__(self, operator: FormOperator, forms: NumberForms, made_of: Any) -> None:
        self._made_of = made_of
        _, prop, ctx, in_shapes, in_types = made_of
        self._forms = forms
        self._own: Operator = type(prop).kernels[0].factory(prop, ctx, in_shapes, in_types)
        self.own = self._own.direct_with_values
        # By identity: the forms of all ways are kept.
        self._known: dict[int, _Known] = {id(operator.form): _Known(operator)}
        dtype = prop.promote(in_types[0])
        is_plain = prop.params.run_time == ("scalar",) and not prop.params["scalar"].optional
        self._scalar_type = dtype.type if is_plain and dtype.kind == "f" else None

    def __call__(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Numbers and the call that takes them; under NumPy's error state of operators."""
        _, prop, _, _, in_types = self._made_of
        if self._scalar_type is not None:
            typed: tuple[Any, ...] = (self._scalar_type(values[0]).item(),)
        else:
            typed = prop.typed_run_time(values, in_types)
        form, numbers = self._forms(prop, typed)
        known = None
        if isinstance(form, ScalarForm):
            known = self._known.get(id(form)) or self._other(form, values)
        if known is None or known.call is None:
            return (*self._own.run_time_values(values), self.own)
        return (*map(np.array, numbers, known.types), known.call)

    def _other(self, form: ScalarForm, values: tuple[Any, ...]) -> _Known:
        part, prop, *rest = self._made_of
        other = prop.rebound(dict(zip(prop.params.run_time, values, strict=True)))
        try:
            found = _Known(FormOperator(part, other, *rest))
        except NoVectorCodeError:
            found = _Known(None)
        self._known[id(form)] = found
        return found


@final
class _Known:
    """The call of one way through a function, and the types of its numbers; None: there is none."""

    def __init__(self, operator: FormOperator | None) -> None:
        self.call = None if operator is None else operator.with_numbers
        self.types = [] if operator is None else [array.dtype for array in operator.numbers]


def _with_last(function: ArrayCall, last: Sequence[Any]) -> ArrayCall:
    return (lambda *arrays: function(*arrays, *last)) if last else function


def _call_last(*args: Any) -> None:
    """Call the last argument with all others."""
    args[-1](*args[:-1])
