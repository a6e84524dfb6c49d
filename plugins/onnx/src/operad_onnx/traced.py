"""Writing an operator without a rule by the steps of its function.

An author's function in plain NumPy is traced as for programs (operad_sdk.differentiate): nodes with the
function, its arguments, and the shape and type of the result. Each becomes ONNX nodes: functions of elements
that other operators' rules know (`log1p`, `arctan2`) by these, the rest by tables here and beside.
Where lengths differ from run to run the function is traced for two sets of lengths, and both traces are
walked side by side: steps have to be the same, a length that differs is computed in the model as rules do it,
and whatever else depends on such a length is refused. Refused as well: steps without a counterpart, by the
author's line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn, final

import numpy as np

import operad
from operad.errors import OperadError
from operad.operator import FORWARD, ScalarForm
from operad_onnx.export_node import ExportNode
from operad_onnx.rules import applied, rules
from operad_onnx.sink import Spec, Value
from operad_onnx.step_calls import CALLS
from operad_onnx.step_forms import FORMS, MOVES, moved
from operad_sdk.declare.recorded import check_traceable, no_form, recorded
from operad_sdk.differentiate import PROGRAM, Node, behind
from operad_sdk.differentiate.errors import line_text

_SAME: Final[Mapping[str, str]] = {
    "absolute": "Abs", "fabs": "Abs", "negative": "Neg", "positive": "Identity", "conjugate": "Identity",
    "sqrt": "Sqrt", "reciprocal": "Reciprocal", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "arcsin": "Asin", "arccos": "Acos",
    "arctan": "Atan", "arcsinh": "Asinh", "arccosh": "Acosh", "arctanh": "Atanh", "sign": "Sign",
    "floor": "Floor", "ceil": "Ceil", "rint": "Round", "add": "Add", "subtract": "Sub", "multiply": "Mul",
    "divide": "Div", "power": "Pow", "float_power": "Pow", "maximum": "Max", "minimum": "Min",
    "equal": "Equal", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater",
    "greater_equal": "GreaterOrEqual", "matmul": "MatMul",
}  # fmt: skip
"""ONNX operators by functions of NumPy."""

_OF_BOOL: Final = {"add": "Or", "multiply": "And", "maximum": "Or", "minimum": "And"}

_BY_LENGTH: Final = "it computes with a length that differs from run to run; export it with numbers"
_BY_RULE: Final[Mapping[str, str]] = {
    "hypot": "broadcast_hypot", "not_equal": "broadcast_not_equal", "logical_and": "broadcast_logical_and",
    "logical_or": "broadcast_logical_or", "logical_xor": "broadcast_logical_xor",
    "remainder": "broadcast_mod", "deg2rad": "radians", "rad2deg": "degrees", "invert": "bitwise_not",
}  # fmt: skip
"""Operators whose rule writes a function of NumPy, where its name is another."""

_FORM_NAMES: Final = {
    "abs": "absolute", "atan2": "arctan2", "lgamma": "gammaln", "larger": "maximum", "smaller": "minimum",
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}  # fmt: skip
"""Functions of mappers that NumPy calls otherwise."""


def is_traceable(prop: Any) -> bool:
    """Return whether an operator's function is one of operad_sdk's, whose steps can be noted."""
    return hasattr(prop, "binding")


def translated(node: ExportNode) -> list[str]:
    """Write the steps of an operator's function; names of the outputs.

    Raises:
        UnsupportedError: A step has no counterpart, or the function cannot be traced.
    """
    is_fixed = all(one == other for spec in node.ins for one, other in spec.lengths)
    first = _trace(node, 0)
    steps = Steps(node, first, first if is_fixed else _trace(node, 1))
    return [steps.result(name, spec) for name, spec in zip(node.op.list_outputs(), node.outs, strict=False)]


class _Trace(NamedTuple):
    """Nodes of a trace: inputs, all steps in order, and results by name."""

    inputs: list[Node]
    steps: list[Node]
    results: dict[str, Node]


def _trace(node: ExportNode, probe: int) -> _Trace:
    prop, shapes = node.op, [tuple(pair[probe] for pair in spec.lengths) for spec in node.ins]
    if prop.is_stateful or prop.is_shaped_by_values:
        node.refuse("it keeps a state, or its shapes depend on values")
    count = len(prop.list_arguments())
    shapes, types = shapes[:count], node.dtypes[:count]
    try:
        check_traceable(prop, [FORWARD], shapes)
        named, results = recorded(prop, [FORWARD], shapes, types, is_train=False, level=PROGRAM, numbers=None)
    except Exception as error:  # noqa: BLE001 - of the author's function, or of its trace
        what = str(error) if isinstance(error, OperadError) else f"{type(error).__name__}: {error}"
        line = no_form(what, error).line
        node.refuse(f"its function cannot be traced: {what}{line and f' ({line})'}")
    ends = {name: cell.node for name, cell in results}
    inputs = [cell.node for _, cell in named]
    steps = sorted({*behind(list(ends.values())), *inputs}, key=lambda one: one.number)
    return _Trace(inputs, steps, ends)


@final
class Steps:
    """Two traces, step by step, on their way into a model."""

    def __init__(self, node: ExportNode, one: _Trace, other: _Trace) -> None:
        self.node = node
        self._line: Any = None
        if [_kind(step) for step in one.steps] != [_kind(step) for step in other.steps]:
            self.refuse("the steps of its function depend on a length that differs from run to run")
        self._results = one.results
        self._pairs: dict[Node, Node] = dict(zip(one.steps, other.steps, strict=True))
        self._made: dict[Node, Value] = {}
        for given, name, spec in zip(one.inputs, node.inputs, node.ins, strict=True):
            self._made[given] = Value(name, spec)
        needed = behind([one.results[name] for name in node.op.list_outputs()[: node.op.num_visible_outputs]])
        for step in one.steps:
            if step in needed and step not in self._made:
                self._line = step.line
                self._made[step] = self._written(step)

    def result(self, name: str, spec: Spec) -> str:
        """The value of an output, in its type."""
        found = self._made[self._results[name]]
        value = found.name if found.spec.dtype == spec.dtype else self.node.cast(found.name, spec.dtype)
        if found.spec.lengths != spec.lengths:
            value = self._at([found], spec).reshape(value)
        return self.node.add("Identity", value) if value in self.node.inputs else value

    # Values.

    def refuse(self, reason: str) -> NoReturn:
        """Say why the present step cannot be written, with the author's line."""
        line = line_text(self._line)
        self.node.refuse(f"{reason}{line and f' ({line})'}")

    def _spec(self, step: Node) -> Spec:
        shapes = step.value.shape, self._pairs[step].value.shape
        return Spec(tuple(zip(*shapes, strict=True)), step.value.dtype)

    def _at(self, values: Sequence[Value], out: Spec, op: Any = None) -> ExportNode:
        """The node of a step, as rules see one."""
        names, specs = [value.name for value in values], [value.spec for value in values]
        return ExportNode(op or self.node.op, self.node.name, names, specs, [out], self.node.sink)

    def cast(self, value: Value, dtype: Any) -> Value:
        """A value in another type."""
        dtype = np.dtype(dtype)
        if value.spec.dtype == dtype:
            return value
        return Value(self.node.cast(value.name, dtype), Spec(value.spec.lengths, dtype))

    def _constant(self, one: Any, other: Any, dtype: Any = None) -> Value:
        """Values that depend on no argument, though perhaps on lengths."""
        array, second = np.asarray(one), np.asarray(other)
        spec = Spec(tuple(zip(array.shape, second.shape, strict=True)), np.dtype(dtype or array.dtype))
        is_uniform = array.size > 0 and not any(array.strides) and second.size > 0 and not any(second.strides)
        if is_uniform and array.ndim and array.flat[0] == second.flat[0]:
            number = self.node.const(array.flat[0], spec.dtype)
            return Value(self.node.add("Expand", number, self._at([], spec).out_shape()), spec)
        if array.shape != second.shape or not np.array_equal(
            array, second, equal_nan=array.dtype.kind == "f"
        ):
            self.refuse(_BY_LENGTH)
        return Value(self.node.const(array, spec.dtype), spec)

    def operand(self, pair: tuple[Any, Any], dtype: Any = None) -> Value:
        """An argument of a step as a value, in a type; as it is in one trace and in the other."""
        one, other = pair
        if isinstance(one, Node):
            return self.cast(self._made[one], dtype or one.value.dtype)
        return self._constant(one, other, dtype)

    def flat(self, value: Value) -> Value:
        """All elements in order."""
        name = self.node.add("Reshape", value.name, self.node.ints(-1))
        counts = [int(np.prod(shape)) for shape in zip(*value.spec.lengths, strict=True)] or [1, 1]
        return Value(name, Spec(((counts[0], counts[1]),), value.spec.dtype))

    def fixed(self, value: Value) -> tuple[int, ...]:
        """Whole shape of a value; refused where it differs from run to run."""
        return self._at([value], value.spec).fixed()

    def expanded(self, value: Value, spec: Spec) -> Value:
        """A value broadcast to a shape."""
        value = self.cast(value, spec.dtype)
        if value.spec.lengths == spec.lengths:
            return value
        return Value(self.node.add("Expand", value.name, self._at([], spec).out_shape()), spec)

    def reshaped(self, value: Value, spec: Spec) -> Value:
        """A value in another shape."""
        return Value(self._at([value], spec).reshape(value.name), spec)

    # Steps.

    def _written(self, step: Node) -> Value:
        out, other = self._spec(step), self._pairs[step]
        if step.step is None:
            return self._constant(step.value, other.value)
        primitive, args, options = step.step
        second: Any = other.step
        if isinstance(primitive.form, ScalarForm):
            return self._mapped(primitive.form, args, second.args, out)
        if (written := FORMS.get(primitive.form)) is not None:
            return Value(written(self, out, *zip(args, second.args, strict=True)), out)
        function = primitive.function
        if isinstance(function, np.ufunc):
            return self._elementwise(function, args, second.args, out)
        if _constants(step) != _constants(other):
            self.refuse(_BY_LENGTH)
        if function in MOVES:
            return Value(moved(self, out, args[0], lambda one: function(one, *args[1:], **options)), out)
        called = CALLS.get(function)
        if called is None:
            self.refuse(f"numpy.{getattr(function, '__name__', function)} has no counterpart in ONNX")
        return Value(called(self, out, *args, **options), out)

    def _function(self, name: str, values: Sequence[Value], dtype: Any, out: Spec) -> Value:
        """A function of elements of arguments in one type each."""
        result = Spec(out.lengths, np.dtype(dtype))
        kind = _SAME.get(name)
        if values[0].spec.dtype == bool and name in _OF_BOOL:
            kind = _OF_BOOL[name]
        if kind is not None:
            return Value(self.node.add(kind, *[value.name for value in values]), result)
        names = [value.name for value in values]
        if name == "floor_divide":
            rest = self._at(values, result).floor_mod(*names)
            made = self.node.add("Div", self.node.add("Sub", names[0], rest), names[1])
            if result.dtype.kind == "f":  # integers, and what a division by 0 gives
                is_zero = self.node.add("Equal", names[1], self.node.const(0, result.dtype))
                made = self.node.add(
                    "Where", is_zero, self.node.add("Div", *names), self.node.add("Round", made)
                )
            return Value(made, result)
        if name in ("fmax", "fmin"):  # which pass over NaN
            numbers = [self.node.add("Equal", value, value) for value in names]
            made = self.node.add("Max" if name == "fmax" else "Min", *names)
            made = self.node.add("Where", numbers[1], made, names[0])
            return Value(self.node.add("Where", numbers[0], made, names[1]), result)
        operator = _BY_RULE.get(name, name)
        rule = rules().exports.get(operator)
        if rule is None:
            self.refuse(f"numpy.{name} has no counterpart in ONNX")
        seen = self._at(values, result, operad.registry.get(operator)())
        return Value(applied(rule, seen)[0], result)

    def _elementwise(self, ufunc: np.ufunc, args: Sequence[Any], second: Sequence[Any], out: Spec) -> Value:
        types = [getattr(getattr(arg, "value", arg), "dtype", type(arg)) for arg in args]
        loop = ufunc.resolve_dtypes((*types, None))
        pairs = zip(args, second, strict=True)
        values = [self.operand(pair, dtype) for pair, dtype in zip(pairs, loop, strict=False)]
        return self.cast(self._function(ufunc.__name__, values, loop[-1], out), out.dtype)

    def _mapped(self, form: ScalarForm, args: Sequence[Any], second: Sequence[Any], out: Spec) -> Value:
        """A mapper's instructions."""
        real = next((arg.value.dtype for arg in args if isinstance(arg, Node)), np.dtype("f4"))
        values = [self.operand(pair, real) for pair in zip(args, second, strict=True)]
        for step in form.instructions[len(values) :]:
            kind = real if step.kind == "real" else np.dtype(step.kind)
            own = [values[i] for i in step.args]
            if step.op == "constant":
                values.append(Value(self.node.const(step.value, kind), Spec((), kind)))
            elif step.op == "cast":
                values.append(self.cast(own[0], kind))
            elif step.op == "select":
                made = self.node.add("Where", *[value.name for value in own])
                values.append(Value(made, Spec(out.lengths, kind)))
            else:
                values.append(self._function(_FORM_NAMES.get(step.op, step.op), own, kind, out))
        return self.expanded(values[form.result], out)


def _kind(step: Node) -> Any:
    """Facts that are the same for all lengths."""
    return None if step.step is None else (step.step.primitive.form, step.step.primitive.function)


def _constants(step: Any) -> str:
    """Arguments and options of a step that are no arrays of the trace."""
    _, args, options = step.step
    return repr(([arg for arg in args if not isinstance(arg, Node)], options))
