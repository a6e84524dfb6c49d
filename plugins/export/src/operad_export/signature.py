"""Signature of an operator for all values of its parameters, as frameworks declare functions once.

Which tensors an operator has may depend on parameters, and an operator says so for given parameters only. So
values of the parameters are tried, one at a time and all together: a tensor that is missing for some value
may be absent, and outputs that are more or fewer for some value are a list. A call looks at its own
parameters again, so what the tries do not show is an error or a draw from the framework's generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, final

import operad
from operad.errors import ArgumentError
from operad.interrupts import raise_of_handler
from operad.operator import OperatorProperty, Param, ResourceRequest
from operad_export.bounded import insert_bounded
from operad_export.plain import PlainOperator, check_exportable

_LEAST: Final[Mapping[Any, Any]] = {
    int: 1, float: 1.0, bool: False, str: "", "shape": (1,), "indices": (1,), "floats": (1.0,),
    "dtype": "float32",
}  # fmt: skip
_OTHER: Final[Mapping[Any, Sequence[Any]]] = {
    int: (1, 2), bool: (False, True), "shape": ((1,), (1, 1)), "indices": ((1,), (1, 1)), "floats": ((1.0,),),
    float: (0.5,),
}  # fmt: skip
_LISTED: Final = 20
"""Number of tensors' names that a message lists."""


@final
class Tensor(NamedTuple):
    """An argument or auxiliary state.

    Attributes:
        name: What the operator calls it.
        is_state: Whether a call may change it.
        is_optional: Whether it is absent for some parameters.
    """

    name: str
    is_state: bool
    is_optional: bool


@final
class _Places(NamedTuple):
    """Places of a call's tensors among those that it may give.

    Attributes:
        arguments: For each argument; `states` likewise.
        is_there: One flag for each tensor that a call may give.
    """

    arguments: list[int]
    states: list[int]
    is_there: list[bool]


@final
class OperatorSignature:
    """Arrays that an operator takes and gives, whatever its parameters are.

    Attributes:
        op: The operator.
        tensors: Arguments and states in the order of a call; None where their number varies.
        params: The parameters of a call, by name.
        num_outputs: How many outputs there are; None where that varies.
        num_visible: How many of them callers see; None where that varies.
        has_states: Whether there are auxiliary states for some parameters; what follows likewise.
        has_gradient: Whether a gradient can flow to an argument.
        has_hidden: Whether there may be outputs that callers do not see.
        draws: Whether it draws random numbers.

    Raises:
        UnsupportedError: The operator cannot be exported; see `check_exportable`.
    """

    def __init__(self, op: type[OperatorProperty]) -> None:
        check_exportable(op)
        self.op = op
        ours = (op.key_var_num_args, "ctx")  # arrays say where a call runs
        self.params = {name: param for name, param in op.params.items() if name not in ours}
        found = list(_variants(op))
        self.tensors = _tensors(op, found)
        counts = {len(prop.list_outputs()) for prop in found}
        visible = {prop.num_visible_outputs for prop in found}
        self.num_outputs = counts.pop() if len(counts) == 1 else None
        self.num_visible = visible.pop() if len(visible) == 1 else None
        self.has_states = any(prop.list_auxiliary_states() for prop in found)
        self.has_gradient = any(any(prop.differentiable_inputs()) for prop in found)
        self.has_hidden = any(map(_may_hide, found))
        self.draws = any(map(_draws, found))
        self._operators: dict[Any, PlainOperator] = {}
        self._places: dict[PlainOperator, _Places] = {}

    def operator(self, values: Sequence[Any], num_tensors: int) -> PlainOperator:
        """The operator for values of `params`, in that order.

        Args:
            num_tensors: How many tensors a call gives, for operators that take any number.
        Raises:
            ParamError: A value does not fit.
        """
        counted = self.op.key_var_num_args
        key = (num_tensors if counted else 0, *[(value.__class__, value) for value in values])
        found = self._operators.get(key)
        if found is None:
            given = dict(zip(self.params, values, strict=True))
            if counted is not None:
                given[counted] = num_tensors
            found = PlainOperator(self.op(**given))
            insert_bounded(self._operators, key, found)
        return found

    def sorted(self, operator: PlainOperator, given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Arguments and states of a call, from what it gives in the order of `tensors`; None is absent.

        Args:
            operator: One that `operator` gave.
        Raises:
            ArgumentError: One is missing, or does not exist for these parameters.
        """
        found = self._places.get(operator)
        if found is None:
            names = operator.prop.list_inputs() if self.tensors is None else [t.name for t in self.tensors]
            arguments, states = [list(map(names.index, own)) for own in (operator.arguments, operator.states)]
            there = {*arguments, *states}
            found = _Places(arguments, states, [place in there for place in range(len(names))])
            insert_bounded(self._places, operator, found)
        if [value is not None for value in given] != found.is_there:
            raise self._misfit(operator, given)
        return [given[place] for place in found.arguments], [given[place] for place in found.states]

    def _misfit(self, operator: PlainOperator, given: Sequence[Any]) -> ArgumentError:
        names = operator.prop.list_inputs()
        takes = f"it takes {', '.join(names[:_LISTED]) or 'no tensors'}"
        if self.tensors is None:
            return ArgumentError(f"{self.op.name}: got {len(given)} tensors, expected {len(names)}; {takes}")
        by_name = {tensor.name: value for tensor, value in zip(self.tensors, given, strict=True)}
        extra = [name for name, value in by_name.items() if value is not None and name not in names]
        missing = [name for name in names if by_name[name] is None]
        what = f"{extra[0]} is given, and there is none" if extra else f"{missing[0]} is missing"
        return ArgumentError(f"{self.op.name}: {what} for these parameters; {takes}")

    def check_counts(self, operator: PlainOperator, arguments: Sequence[Any], states: Sequence[Any]) -> None:
        """Raise ArgumentError for a call of arguments and states, as a list of each, of other lengths."""
        if len(arguments) != len(operator.arguments) or len(states) != len(operator.states):
            raise ArgumentError(
                f"{self.op.name}: got {len(arguments)} arguments and {len(states)} states, expected "
                f"{len(operator.arguments)} ({', '.join(operator.arguments[:_LISTED])}) and "
                f"{len(operator.states)} ({', '.join(operator.states[:_LISTED])})"
            )


_signatures: Final[dict[str, OperatorSignature]] = operad.registry.follow({})


def signature_of(name: str) -> OperatorSignature:
    """The signature of the operator `name`.

    Raises:
        OperatorNotFoundError: Nothing installed provides it; and what else `registry.get` raises.
    """
    found = _signatures.get(name)
    if found is None:
        found = _signatures[name] = OperatorSignature(operad.registry.get(name))
    return found


def _tensors(op: type[OperatorProperty], found: Sequence[OperatorProperty]) -> tuple[Tensor, ...] | None:
    if op.key_var_num_args is not None:
        return None
    names = op.optional_inputs or _longest({tuple(prop.list_inputs()) for prop in found})
    if names is None:
        return None
    states = {name for prop in found for name in prop.list_auxiliary_states()}
    present = [set(prop.list_inputs()) for prop in found]
    return tuple(
        Tensor(name, name in states, any(name not in inputs for inputs in present)) for name in names
    )


def _longest(lists: set[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The longest list, if the others only lack some of its names; None where names are numbered."""
    longest = max(lists, key=len, default=None)
    if longest is None or len(lists) == 1:
        return longest
    is_numbered = len({name.rstrip("0123456789") for name in longest}) < len(longest)
    are_parts = all(tuple([n for n in longest if n in names]) == names for names in lists)
    return longest if are_parts and not is_numbered else None


def _variants(op: type[OperatorProperty]) -> Iterator[OperatorProperty]:
    """The operator at its defaults, and with other values of each parameter that it takes."""
    base = {name: _least(param) for name, param in op.params.items() if param.is_required}
    others = {name: _others(param) for name, param in op.params.items()}
    every = [base, {**base, **{name: values[-1] for name, values in others.items() if values}}]
    every += [{**base, name: value} for name, values in others.items() for value in values]
    for values in every:
        for make in (op, _unchecked(op)):
            try:
                prop = make(**values)
                prop.list_inputs(), prop.list_outputs()
            except Exception as error:  # noqa: BLE001 - an author's code, and values that may not go together
                raise_of_handler(error)
                continue
            yield prop
            break


def _unchecked(op: type[OperatorProperty]) -> Callable[..., OperatorProperty]:
    """Makes the operator of values that do not go together, such as a count without lists of that length.

    Which tensors there are then still shows.
    """

    def make(**values: Any) -> OperatorProperty:
        prop = object.__new__(op)
        for name, param in op.params.items():
            setattr(prop, name, values.get(name, param.default))
        return prop

    return make


def _least(param: Param) -> Any:
    if param.choices is not None:
        return param.choices[0]
    least = _LEAST[param.type]
    bound = param.bounds.get("ge", param.bounds.get("gt", 0) + 1 if "gt" in param.bounds else None)
    return type(least)(max(bound, least)) if bound is not None and param.type in (int, float) else least


def _others(param: Param) -> Sequence[Any]:
    found = tuple(param.choices) if param.choices is not None else tuple(_OTHER.get(param.type, ()))
    return (None, *found) if param.optional else found


def _may_hide(prop: OperatorProperty) -> bool:
    """Return whether an operator has hidden outputs, or a declared shape with some for other parameters."""
    spec = getattr(prop, "spec", "")
    text = spec() if callable(spec) else spec
    return "hidden " in (text or "") or len(prop.list_outputs()) > prop.num_visible_outputs


def _draws(prop: OperatorProperty) -> bool:
    """Return whether an operator asks for random numbers, whatever the shapes are."""
    try:
        kinds = prop.forward_resource([(1,)] * len(prop.list_arguments()))
    except Exception as error:  # noqa: BLE001 - an author's code, which may count on more axes
        raise_of_handler(error)
        return True
    return ResourceRequest.RANDOM in kinds or ResourceRequest.PARALLEL_RANDOM in kinds
