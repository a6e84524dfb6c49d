"""Kernels that follow from an author's functions: whether they apply, what they cost, what computes them.

`operad_sdk.form_kernels` declares them and imports this with the first call that is large enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from math import prod
from typing import Any, Final, NamedTuple, TypeVar, final

import numpy as np

from operad.config import settings
from operad.errors import TraceError
from operad.first_use import import_module
from operad.operator import (
    FORWARD,
    ArgumentSlot,
    BackwardArrays,
    BackwardEntry,
    CallTemplate,
    Cost,
    KernelCall,
    KernelFactory,
    OpContext,
    Operator,
    OpReq,
    as_cost,
    assign,
    is_known,
    rates,
)
from operad_sdk.addresses import overlaps, span
from operad_sdk.declare.binding import functions_of
from operad_sdk.declare.kept_answers import kept_answer
from operad_sdk.declare.scalar_form import MODES
from operad_sdk.declare.size_classes import of_class
from operad_sdk.declare.surroundings import may_be_kernels
from operad_sdk.errors import NoForm
from operad_sdk.form_kernels import ELEMENTS_FROM_SIZE, EXACT, OF_GRAPH, SAVED_US
from operad_sdk.vector.array_calls import ArrayCall
from operad_sdk.vector.by_mode import ByMode
from operad_sdk.vector.call_forms import CallForms, forms_of, in_both
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.form_calls import divided_call, run_form
from operad_sdk.vector.form_kernels import FormOperator, cost_of_arrays, pooled
from operad_sdk.vector.joined import Specs
from operad_sdk.vector.machine import host, reason_against
from operad_sdk.vector.settings import MODE
from operad_sdk.vector.signature import form_of
from operad_sdk.vector.stages import REDUCTIONS

R = TypeVar("R")

_SINGLE: Final = np.dtype(np.float32)
_HALF: Final = np.dtype(np.float16)
_TYPES: Final = ((_SINGLE,), (np.dtype(np.float64),), (_HALF,), (_HALF, _SINGLE))
"""Floating types of arguments, in the order in which they come."""
_OF_PICKS: Final = frozenset(
    [
        "input", "constant", "length", "position", "cast", "add", "less", "greater_equal", "equal",
        "logical_and", "select", "sum",
    ]
)  # fmt: skip
"""Instructions of a row's element by its label, for which a kernel reads the row and NumPy the element."""
_NOTHING: Final = "there is nothing to compute"
_MOST_DECIDED: Final = 4096
"""Decisions of one operator that are kept."""
_LOOPS_OF_US: Final = 2000.0
"""Operations of a loop that take a microsecond."""
_OF_TWO_THREADS: Final = 1.4
"""Factor by which two threads compute what is divided among them sooner, where memory is the limit."""


def reason_for(
    parts: Sequence[str], call: KernelCall, is_large: bool | None = None, returned: bool = False
) -> str | None:
    """Reason why forms do not compute some parts of a call; None if they do.

    Args:
        is_large: Whether the largest array has enough elements for functions of elements; None: whether NumPy
            is faster is not asked.
        returned: Whether the author's function returns what it computes.
    """
    if "reason" not in call.memo:
        call.memo["reason"] = _reason_for_call(call)
    if (reason := call.memo["reason"]) is not None:
        return reason  # type: ignore[no-any-return]
    if not parts:
        return _NOTHING
    if is_large is None:
        return _decided(parts, call, is_large, returned)
    # Of the size no more than this, so that a class has one answer.
    return _of_class(_decided, parts, call, is_large, returned)


def _reason_for_call(call: KernelCall) -> str | None:
    """Reason why forms compute no part of a call."""
    types = dict.fromkeys(dtype for dtype in call.in_types if dtype.kind == "f")
    if tuple(types) not in _TYPES:
        return "vector code computes in float32 and float64, and float16 in float32"
    if (reason := reason_against()) is not None:
        return reason
    if not all(map(is_known, call.out_shapes)):
        return OF_GRAPH
    return None if all(map(prod, (*call.in_shapes, *call.out_shapes))) else _NOTHING


def _of_class(ask: Callable[..., R], parts: Sequence[str], call: KernelCall, *args: Any) -> R:
    """Answer about some parts for the class of a call's sizes, asked once while constants are the same."""
    prop, now = call.prop, (settings(), rates())
    if "class" not in call.memo:
        params = (*prop.get_params().items(), prop.traced_modes)
        shapes = of_class(prop, call.in_shapes)
        about = (*params, prop.epoch, call.ctx, call.is_train, call.threads, *shapes, *call.in_types)
        call.memo["class"] = params, shapes, about
    params, shapes, about = call.memo["class"]
    key = (ask, parts, *args, about)
    known: dict[Any, tuple[Any, R]] = prop._forms.setdefault("decided", {})
    before = known.get(key)
    if before is None or before[0] != now:
        if len(known) >= _MOST_DECIDED:
            known.clear()
        stands = KernelCall(prop, call.ctx, shapes, call.in_types, call.is_train, call.threads)
        own = (*map(str, (call.ctx, vars(now[0]), now[1], MODE.read(), host())), call.is_train, call.threads)
        question = (ask.__name__, *parts, *params, *own, *shapes, *call.in_types, *args)
        before = known[key] = now, kept_answer(prop, question, partial(ask, parts, stands, *args))
    return before[1]


def _decided(parts: Sequence[str], call: KernelCall, is_large: bool | None, returned: bool) -> str | None:
    """The same for shapes that stand for a class, of a call that has something to compute."""
    found = _forms_or_program(parts, call)
    if not isinstance(found, str):
        return _reason_against_forms(found, call, is_large, returned)
    if call.prop.params.run_time:  # with the line, as the form for one value may be another one
        return found.explained() if isinstance(found, NoForm) else found
    if is_large is False:
        functions = [bound.function for bound in functions_of(call.prop, parts)]
        if not all(map(may_be_kernels, functions)):
            return f"a program of more than kernels pays from {ELEMENTS_FROM_SIZE} elements; {found}"
    against: str | None = _programs().reason_against(parts, call, is_large)
    # Where a program is not worth it, the line that stops a form is what would help.
    return against if against is None or isinstance(against, NoForm) else found


def _forms_or_program(parts: Sequence[str], call: KernelCall) -> list[CallForms] | str:
    """The forms of some parts, or why a program computes them: they have none, or it reads arrays less often.

    Gradients that no kernel computes together read all they have in common once each.
    """
    found = forms_of(parts, call)
    is_small = max(map(prod, call.in_shapes)) < ELEMENTS_FROM_SIZE
    if isinstance(found, str) or len(parts) == 1 or is_small or call.prop.params.run_time:
        return found
    if any(one.whole is not None for one in found):
        return found
    time_us = _programs().time_us(parts, call)
    of_forms = max(one.estimates(False).vector_us for one in found)
    if time_us is None or time_us >= of_forms:
        return found
    return f"a form for each takes {of_forms:.3g} us, and a program {time_us:.3g}, estimated"


def _reason_against_forms(
    found: Sequence[CallForms], call: KernelCall, is_large: bool | None, returned: bool
) -> str | None:
    """Reason why the kernels of forms, which all parts have, are not worth it in any mode."""
    if is_large is None:
        return None
    walks_rows = not set().union(*(one.operations for one in found)).isdisjoint((*REDUCTIONS, "position"))
    if not (is_large or walks_rows):
        saved_us = max(one.estimates(returned).saved_us for one in found)
        if saved_us < SAVED_US:
            return f"vector code saves {saved_us:.3g} us, and pays from {SAVED_US} on few elements, estimated"
    reasons = [_reason_against_form(one, call, returned) for one in found]
    return reasons[0] if all(reasons) else None


def _reason_against_form(one: CallForms, call: KernelCall, returned: bool) -> str | None:
    """Reason why NumPy's own calls are left where they are in one mode."""
    both, ops = one.estimates(returned), one.operations
    picks, moves = "sum" in ops and "position" in ops and ops <= _OF_PICKS, ops <= {"input", "constant"}
    if not both.numpy_us or picks or (moves and not both.favour_vectors):
        return "it moves elements alone, which is one of NumPy's calls"
    if ops <= EXACT and call.threads > 1 and one.cost.is_parallel:
        # Bits are the same either way, so the number of threads may decide.
        both = both._replace(vector_us=both.vector_us / _OF_TWO_THREADS)
    if not both.favour_vectors:
        return f"NumPy's own calls are faster: {both.numpy_us:.3g} us and {both.vector_us:.3g} us, estimated"
    return None


def _programs() -> Any:
    return import_module("operad_sdk.programs.operator")


def cost_of(parts: Sequence[str], call: KernelCall) -> Cost:
    """Cost of some parts by their forms, in training, which takes longer; or by a program."""
    return _of_class(_cost, parts, call)


def _cost(parts: Sequence[str], call: KernelCall) -> Cost:
    found = _forms_or_program(parts, call)
    if not isinstance(found, str):
        return found[0].cost
    time_us = _programs().time_us(parts, call)
    if time_us is not None:
        return pooled(Cost(_LOOPS_OF_US * time_us))
    own = as_cost(call.prop.cost(call.in_shapes, call.out_shapes))
    return own if FORWARD in parts else own.plus(own)


def is_program(parts: Sequence[str], call: KernelCall) -> bool:
    """Return whether some parts have no form, so that a program computes them."""
    return not _of_class(_have_forms, parts, call)


def explained(parts: Sequence[str], call: KernelCall) -> str:
    """The steps of a program, in words; nothing where parts have forms."""
    if not is_program(parts, call):
        return ""
    found: str = _programs().explained(parts, call)
    return found


def scratch_bytes_of(parts: Sequence[str], call: KernelCall) -> int:
    """Memory of a program between its steps; none where parts have forms."""
    if not is_program(parts, call):
        return 0
    found: int = _programs().scratch_bytes_of(parts, call)
    return found


def _have_forms(parts: Sequence[str], call: KernelCall) -> bool:
    return not isinstance(_forms_or_program(parts, call), str)


def operator_of(parts: Sequence[str], *call: Any) -> Operator:
    """The operator that computes some parts by their forms, or by a program where one has none.

    Where there are no forms for these values of run-time parameters, or no program for these lengths, the
    functions do.
    """
    about = KernelCall(*call)
    own: KernelFactory = type(about.prop).kernels[0].factory
    if about.prop.params.run_time and reason_for(parts, about) is not None:
        return own(*call)
    if is_program(parts, about):
        try:
            made: Operator = _programs().ProgramOperator(parts, *call)
        except TraceError:
            if _of_class(_decided, parts, about, None, False) is not None:
                raise
            return own(*call)  # its class has a program, and these lengths have none
        return made
    modes = _of_modes(parts, about)
    if len(modes) > 1:
        return _by_mode(parts, about, modes)
    return FormOperator(parts[0], *call) if len(parts) == 1 else _SeveralForms(parts, *call)


def _by_mode(parts: Sequence[str], call: KernelCall, modes: Sequence[KernelCall]) -> ByMode:
    """An operator for each mode: a kernel, or the functions where only the other mode is worth one."""
    returned = any(bound.returned for bound in functions_of(call.prop, parts))
    reasons = _of_class(_reasons, parts, call, returned)
    given, own = (call.ctx, call.in_shapes, call.in_types), type(call.prop).kernels[0].factory
    training, prediction = [
        partial(operator_of, parts, one.prop, *given)
        if reason is None or all(reasons)
        else partial(own, call.prop, *given)
        for one, reason in zip(modes, reasons, strict=True)
    ]
    return ByMode(training, prediction)


def _reasons(parts: Sequence[str], call: KernelCall, returned: bool) -> list[str | None]:
    """For each mode the reason why the kernels of forms, which all parts have, are not worth it."""
    found = forms_of(parts, call)
    assert not isinstance(found, str)
    return [_reason_against_form(one, call, returned) for one in found]


def _of_modes(parts: Sequence[str], call: KernelCall) -> tuple[KernelCall, ...]:
    """The call; where some part depends on the mode, that of training and that of prediction."""
    for part in parts:
        form, _ = form_of(call, part)
        if isinstance(form, str) and form == MODES:
            return in_both(call)
    return (call,)


class _Together(NamedTuple):
    """Gradients by one form, and its inputs that are arrays, by name.

    Attributes:
        call: Of the kernel with contiguous arrays.
    """

    form: CompiledForm
    entries: dict[str, BackwardEntry]
    specs: Specs
    call: ArrayCall


def _together(parts: Sequence[str], call: KernelCall) -> _Together | None:
    found = forms_of(parts, call)
    assert not isinstance(found, str)
    forms, signatures = found[0]
    whole = found[0].whole
    if whole is None:
        return None
    entries: dict[str, BackwardEntry] = {}
    for form, signature in zip(forms, signatures, strict=True):
        assert signature.entries is not None
        entries |= zip(form.inputs, signature.entries, strict=False)  # numbers follow
    count, num_arrays = len(whole.kernel.form.inputs), len(whole.specs)
    layout = whole.kernel.layout([np.empty(*spec) for spec in whole.specs])
    elements, is_parallel = max(prod(shape) for shape, _ in whole.specs), cost_of_arrays(*whole).is_parallel
    quick = divided_call(layout, count, elements, is_parallel, range(num_arrays), (0,) * num_arrays)
    return _Together(whole.kernel, entries, whole.specs[count:], quick)


@final
class _SeveralForms(Operator):
    """The gradients that one function computes, by one form, or by a form each.

    Args:
        parts: The gradients.
    """

    def __init__(self, parts: Sequence[str], *call: Any) -> None:
        self._each = [FormOperator(part, *call) for part in parts]
        self._together = _together(parts, KernelCall(*call))

    def rebound(self, prop: Any) -> Operator | None:
        """The same kernels with the run-time numbers of `prop`, where the function goes the same way."""
        each = [one.rebound(prop) for one in self._each]
        made = copy(self)
        made._each = [one for one in each if one is not None]
        return made if len(made._each) == len(each) else None

    def forward(self, *_: Any) -> None:
        """Never called: other kernels compute the outputs."""
        raise AssertionError("a kernel of gradients computes no outputs")

    def backward_templates(
        self, op_ctx: OpContext, req: Sequence[OpReq], num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The call of all gradients, or each form's where no gradient lies in what another one reads."""
        wanted = [each for each in self._each if req[each.position] is not OpReq.NULL]
        whole = self._together if len(wanted) == len(self._each) else None
        is_written = all(req[each.position] is OpReq.WRITE for each in wanted)
        if whole is not None and is_written:
            first = {"in_data": 0, "out_data": len(req), "out_grad": len(req) + num_outputs}
            slots: dict[str, Any] = {
                name: ArgumentSlot(first[kind] + index) for name, (kind, index) in whole.entries.items()
            }
            for one in self._each:
                slots |= one.numbers_by_name()
            targets = [ArgumentSlot(len(req) + 2 * num_outputs + each.position) for each in self._each]
            return [CallTemplate(whole.call, (*(slots[name] for name in whole.form.form.inputs), *targets))]
        if whole is not None or OpReq.INPLACE in req:
            return super().backward_templates(op_ctx, req, num_outputs, num_states)
        return [
            template
            for each in wanted
            for template in each.backward_templates(op_ctx, each.alone(req), num_outputs, num_states)
        ]

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients, as if all were computed before any is written."""
        heads, ins, outs, req, grads, _ = arrays
        read = [span(array) for array in (*heads, *ins, *outs) if array is not None]
        wanted = [each for each in self._each if req[each.position] is not OpReq.NULL]
        if self._together is not None and len(wanted) == len(self._each):
            entries = self._together.entries.items()
            named: dict[str, Any] = {name: getattr(arrays, kind)[index] for name, (kind, index) in entries}
            for one in self._each:
                named |= one.numbers_by_name()
            given = [named[name] for name in self._together.form.form.inputs]
            targets = [(grads[each.position], req[each.position]) for each in wanted]
            run_form(self._together.form, op_ctx, given, targets, self._together.specs)
            return
        late = []
        for each in wanted:
            position, own, found = each.position, each.alone(req), list(grads)
            target: Any = grads[position]
            if each is not wanted[-1] and overlaps(target, read):
                found[position] = np.empty_like(target)
                late.append((target, req[position], found[position]))
                own[position] = OpReq.WRITE
            each.backward(op_ctx, arrays._replace(req=own, in_grad=found))
        for target, request, value in late:
            assign(target, request, value)
