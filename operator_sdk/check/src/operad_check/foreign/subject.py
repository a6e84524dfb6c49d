"""A function of another library as a subject of the checks: a property made from its line, an operator."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from io import StringIO
from itertools import islice
from typing import Any, ClassVar, Final, final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.errors import DTypeError, GradientError, OperadError, ShapeError
from operad.operator import (
    BackwardArrays,
    ForwardArrays,
    InferredTypes,
    OpContext,
    Operator,
    OpReq,
    Shape,
    assign,
)
from operad.operator import OperatorProperty as CoreProperty
from operad_check.foreign.backend import quiet
from operad_check.foreign.function import ForeignFunction
from operad_check.foreign.programs import Shown, programs
from operad_check.foreign.small import small_cases
from operad_check.trials.case import Case
from operad_check.trials.cause import is_own
from operad_check.trials.reference import call_reference, listed
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Declaration, OperatorRaised, Refusal, UndeclaredError
from operad_sdk.declare.gradient_operator import GradientOperator, TensorSpec
from operad_sdk.declare.shaped import ShapedProperty

_MOST_PROGRAMS: Final = 24
"""Programs that are tried for one finding."""


class ForeignProperty(ShapedProperty):
    """Property of a foreign function; `subject_of_function` makes one class for each.

    Attributes:
        function: The function.
    """

    accepts = "floating"
    function: ClassVar[ForeignFunction]

    def differentiable_inputs(self) -> list[bool]:
        """All arguments but those that were left out; none where the library has no gradient."""
        function = self.function
        has_gradient, without = function.backend.has_gradient, function.without_gradient
        return [has_gradient and name not in without for name in self.list_arguments()]

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Types by the line, where results of the arguments' type may have another by the contract."""
        args, outs, states = super().infer_type(in_types)
        meant = self.function.contract.dtypes
        for i, dtype in enumerate(args):
            if meant and i not in self.typed_arguments and dtype is not None and dtype.name not in meant:
                raise DTypeError(f"{self.name}: {dtype}, expected {', '.join(meant)} by the contract")
        tables = [table.types for table in self.function.contract.result_types if not table.params]
        named: dict[DType | None, DType] = {}
        for table in tables:
            named |= {np.dtype(one): np.dtype(other) for one, other in table.items()}
        free = {dtype for i, dtype in enumerate(args) if i not in self.typed_arguments}
        return args, [named.get(dtype, dtype) if dtype in free else dtype for dtype in outs], states

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """Everything but the outputs, which the library keeps for itself."""
        return [*out_grad, *in_data]

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> CoreProperty:
        """The library's gradient as a function, which has a gradient of its own.

        Raises:
            GradientError: The library has none.
        """
        places = [i for i, flag in enumerate(wanted) if flag]
        function = self.function
        made = function.backend.gradient(function.call, places, len(function.outputs))
        if made is None:
            raise GradientError(f"{function.name}: the library does not differentiate its gradients")
        outs, types = self.infer_shape(in_shapes)[1], self.infer_type(in_types)[1]
        described: Any = zip(function.outputs, outs, types, strict=True)
        heads = [TensorSpec(f"{name}_grad", shape, dtype) for name, shape, dtype in described]
        tensors = [
            TensorSpec(name, shape, dtype, name in function.without_gradient)
            for name, shape, dtype in zip(function.arguments, in_shapes, in_types, strict=True)
        ]
        computes = [tensors[i]._replace(name=f"gradient of {tensors[i].name}") for i in places]
        return _Gradient(function, [*heads, *tensors], computes, made)

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """Operator that calls the function."""
        outs, types = self.infer_shape(in_shapes)[1], self.infer_type(in_types)[1]
        return ForeignOperator(self.function, self.function.call, outs, types)


@final
class _Gradient(GradientOperator):
    """The gradients of a foreign function, for certain shapes and types.

    Args:
        function: The function.
        given: Of the base class.
    """

    def __init__(self, function: ForeignFunction, *given: Any) -> None:
        super().__init__(function.name, *given)
        self._of = function

    def create_operator(self, ctx: Context, in_shapes: Any, in_types: Any) -> Operator:
        """Operator that calls the library's gradient."""
        outs, types = self.infer_shape(())[1], self.infer_type(())[1]
        names = self.list_outputs(), self.list_arguments()
        return ForeignOperator(self._of, self._function, outs, types, *names)


@final
class ForeignOperator(Operator):
    """Calls a function of a library; its backward pass calls it again, with its gradient.

    Args:
        function: What it is, or comes from.
        call: What is called.
        out_shapes: Shapes of the results; `out_types` their element types.
        outputs: Names of the results; left out: the function's, and so are those of the `arguments`.
    """

    def __init__(
        self,
        function: ForeignFunction,
        call: Any,
        out_shapes: Sequence[Any],
        out_types: Sequence[Any],
        outputs: Sequence[str] = (),
        arguments: Sequence[str] = (),
    ) -> None:
        self._function, self._call = function, call
        self._may_have_no_gradient = bool(arguments)
        self._arguments = list(arguments or function.arguments)
        self._described = list(zip(outputs or function.outputs, out_shapes, out_types, strict=True))

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Call the function, and compare what it gives with the line.

        Raises:
            Refusal: The function refuses the arguments.
            ShapeError: The results are others than the line says.
        """
        backend: Any = self._function.backend
        given = [backend.array(array) for array in arrays.in_data]
        found = self._results(self._called(lambda: backend.call(self._call, given)))
        for (name, shape, dtype), array, target, request in zip(
            self._described, map(backend.numpy, found), arrays.out_data, arrays.req, strict=True
        ):
            if array.shape != shape or array.dtype != dtype:
                words = (
                    f"{name} is {array.dtype}{array.shape}, expected {dtype}{shape} by the line "
                    f"{self._function.line!r}"
                )
                raise _misfit(words, dtype, array.dtype if array.shape == shape else None)
            assign(target, request, array)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """Compute the gradients; what the library raises here, and not in the call, is a fault."""
        backend: Any = self._function.backend
        wanted = [i for i, request in enumerate(arrays.req) if request is not OpReq.NULL]
        given = [backend.array(array) for array in arrays.in_data]
        _, pull = self._called(lambda: backend.vjp(self._call, given, wanted))
        heads = [None if head is None else backend.array(head) for head in arrays.out_grad]
        try:
            with quiet():
                gradients = pull(heads)
        except NotImplementedError as error:
            if self._may_have_no_gradient and not is_own(error, outside=1):
                raise Refusal(f"{self._function.name}: {error}") from error
            raise
        for place, gradient in zip(wanted, gradients, strict=True):
            target: Any = arrays.in_grad[place]
            array = np.zeros_like(target) if gradient is None else backend.numpy(gradient)
            if array.shape != target.shape or array.dtype != target.dtype:
                raise ShapeError(
                    f"gradient of {self._arguments[place]} is {array.dtype}{array.shape}, expected "
                    f"{target.dtype}{target.shape}"
                )
            assign(target, arrays.req[place], array)

    def _called(self, call: Any) -> Any:
        try:
            with quiet():
                return call()
        except Exception as error:
            is_meant = is_own(error) or isinstance(error, OperadError)
            if self._function.backend.is_refusal(error) and not is_meant:
                raise Refusal(f"{self._function.name}: {type(error).__name__}: {error}") from error
            raise

    def _results(self, found: Any) -> Sequence[Any]:
        results = listed(found)
        if len(results) < len(self._described):
            raise ShapeError(
                f"{self._function.name} gives {len(results)} results, expected {len(self._described)} by the "
                f"line {self._function.line!r}"
            )
        return results[: len(self._described)]


def _misfit(words: str, expected: DType, found: DType | None) -> ShapeError:
    """The error where a result does not fit its line; more digits than the arguments have may be meant."""
    if found is not None and found.kind == expected.kind == "f" and found.itemsize > expected.itemsize:
        types = f'[ResultTypes({{"{expected}": "{found}"}})]'
        return UndeclaredError(words, Declaration("result_types", types))
    return ShapeError(words)


def subject_of_function(function: ForeignFunction) -> Subject:
    """The function as a subject.

    Raises:
        SpecError: The line cannot be read.
        ArgumentError: The expression leads to no function.
    """
    assert callable(function.call), "an expression is a call"
    backend = function.backend
    contract = function.contract
    if contract.dtypes and "float64" not in contract.dtypes and not contract.no_numeric_gradient:
        contract = replace(contract, no_numeric_gradient="derivatives need float64, which it is not for")
    declared = {"name": function.name, "spec": function.line, "contract": contract}
    cls = type("ForeignFunction", (ForeignProperty,), {**declared, "function": function, "__doc__": ""})

    def written(check_id: str, cases: Sequence[Case], message: str) -> str:
        """The first program that fails, of those that may; where all pass, the last, which prints, if any."""
        found = ""
        for case in [small for each in cases[:1] for small in small_cases(each, message)]:
            shown = _shown(subject, check_id, case, message)
            for program in islice(programs(shown), _MOST_PROGRAMS) if shown else ():
                if _fails(program, {**function.scope, **backend.scope}):
                    return program
                found = program if case is cases[0] else ""
        return found

    subject = Subject(
        function.name, cls, backend.name, backend.version, writer=written, forget=backend.forget
    )
    return subject


def _shown(subject: Subject, check_id: str, case: Case, message: str) -> Shown | None:
    """The finding for programs, which show the output that the message names first; None: it is no case."""
    cls: Any = subject.cls
    function: ForeignFunction = cls.function
    try:
        trial = Trial(subject, case)
    except OperatorRaised:
        return None
    k = next((k for k, name in enumerate(trial.outputs) if re.search(rf"\b{name}\b", message)), 0)
    reference = function.contract.reference
    expected, is_several = None, False
    with suppress(Exception):  # what a reference, or the function, raises is in the message
        if reference is not None:
            found = call_reference(reference, trial)
            expected = np.asarray(found[k] if isinstance(found, tuple) else found)
    with suppress(Exception):
        arrays = [function.backend.array(array.copy()) for array in trial.inputs]
        is_several = isinstance(function.backend.call(function.call, arrays), (tuple, list))
    expression = f"({function.expression})[{k}]" if is_several else function.expression
    head = trial.out_grads[k] if trial.out_types[k].kind == "f" else None
    return Shown(function.backend.syntax, function.lines, expression, check_id, case, message, head, expected)


def _fails(program: str, scope: Mapping[str, Any]) -> bool:
    with quiet(), redirect_stdout(StringIO()):
        try:
            exec(compile(program, "<program>", "exec"), {**scope, "__name__": "__main__"})  # noqa: S102 - made here
        except NameError:
            return False  # it lacks something, and shows nothing
        except Exception:  # noqa: BLE001 - that is what it is to show
            return True
    return False
