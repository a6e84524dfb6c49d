"""Scalar forms of operators with run-time parameters, which serve all values of these.

Run-time parameters are passed at each call and are not part of a plan's key, so they are no constants of a
form: a function is traced with numbers that may be others in the next call
(`operad_sdk.differentiate.numbers`). Where such a number meets arrays, it is one more input of the form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, final

from operad.dtypes import DType
from operad.operator import Param, ScalarForm, Shape
from operad_sdk.declare.recorded import TracedNumbers, no_form
from operad_sdk.declare.scalar_form import kept
from operad_sdk.declare.traced_form import traced_form
from operad_sdk.differentiate import TraceError
from operad_sdk.differentiate.branches import Branches, number_input
from operad_sdk.differentiate.numbers import CallNumber, NumberTrace, text_of

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty


def number_forms(
    prop: OperatorProperty,
    part: str,
    in_shapes: Sequence[Shape],
    in_types: Sequence[DType],
    cache: dict[Any, Any],
) -> NumberForms:
    """Forms of a part for all values of its run-time parameters; arguments as for `scalar_form`."""
    fixed_params = [item for item in prop.get_params().items() if item[0] not in type(prop).params.run_time]
    functions = tuple(bound.what for bound in prop.binding.gradients)

    def find(fixed: frozenset[int]) -> NumberForms:
        return NumberForms(type(prop).params.run_time, part, in_shapes, in_types, fixed)

    return kept(prop, ("numbers", part, functions, *fixed_params), in_shapes, in_types, cache, find)


@final
class NumberForms:
    """Forms of a part of an operator with run-time parameters, one for each way through its function.

    Their values are inputs of one element each, behind the arrays; no value is in a form.

    Args:
        names: Of the run-time parameters.
        part: `forward`, or the gradient of an argument.
        in_shapes: Of the arguments; `in_types` likewise.
        fixed: Lengths of them that parameters say.
    """

    def __init__(
        self,
        names: Sequence[str],
        part: str,
        in_shapes: Sequence[Shape],
        in_types: Sequence[DType],
        fixed: frozenset[int],
    ) -> None:
        self._given = (part, in_shapes, in_types, fixed)
        # invariant: no form is ever dropped, so that others may know them by identity.
        self._branches = Branches(names)

    def __call__(
        self, prop: OperatorProperty, values: Sequence[Any] | None = None
    ) -> tuple[ScalarForm | str, tuple[Any, ...]]:
        """The form for some values, or why there is none, and the numbers that are its last inputs.

        Args:
            values: As functions get them; None: those of `prop`, which else may have any.
        """
        if values is None:
            params, in_types = type(prop).params, self._given[2]
            every = zip(params, prop.function_params(in_types), strict=True)
            values = [value for name, value in every if name in params.run_time]
        try:
            return self._branches.find(values, partial(self._trace, prop))
        except ArithmeticError as error:
            return no_form(f"of these numbers it raises {type(error).__name__}: {error}", error), ()

    def _trace(self, prop: OperatorProperty, values: Sequence[Any]) -> None:
        given = dict(zip(type(prop).params.run_time, values, strict=True))
        found, trace = traced_form(prop, *self._given, lambda: _numbers(prop, given, self._given[2]))
        trace = trace or NumberTrace(number_input)
        texts = [text for text, _ in trace.inputs] if isinstance(found, ScalarForm) else []
        self._branches.append(trace, found, texts)


def _numbers(prop: OperatorProperty, values: Mapping[str, Any], in_types: Sequence[DType]) -> TracedNumbers:
    trace, made = NumberTrace(number_input), copy(prop)
    for name, value in values.items():
        setattr(made, name, _number(trace, type(prop).params[name], name, value))
    others = zip(type(prop).params, prop.function_params(in_types), strict=True)
    params = tuple(getattr(made, name) if name in values else value for name, value in others)
    return TracedNumbers(trace, params, made)


def _number(trace: NumberTrace, declared: Param, name: str, value: Any) -> Any:
    """Value of a run-time parameter; that there is none, or so many, is asked of later calls."""
    text = text_of(name)
    if declared.optional:
        trace.questions.append((f"({text} is None)", value is None))
    if value is None:
        return None
    if declared.type in ("floats", "shape"):
        for count in range(len(value) + 1):
            trace.questions.append((f"(len({text}) > {count})", len(value) > count))
        return tuple(CallNumber(trace, f"{text}[{i}]", one) for i, one in enumerate(value))
    if declared.type not in (int, float):
        raise TraceError(f"its run-time parameter {name!r} is no number, but {declared.expects()}")
    return CallNumber(trace, text, value)
