"""Imperative calls: look up, infer, allocate, push.

Everything about a call that depends only on the operator, its parameters, the specifications of its
inputs and the mode is worked out once and kept as a `Plan`. A repeated call then consists of two
dictionary look-ups, the allocation of its outputs, and one call of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Final, final

import numpy as np

from operad.config import settings
from operad.context import Context, current_context
from operad.errors import ArgumentError, BindError, ContextError
from operad.imperative.array import Array
from operad.imperative.plan import Plan
from operad.imperative.run import execute
from operad.imperative.state import RECORDING, TRAINING, is_recording, state
from operad.imperative.tape import record
from operad.operator import OperatorProperty

_MAX_CACHED: Final = 4096
"""Entries a cache may hold before it is emptied; bounds what varying shapes can pile up."""


_LISTED: Final = 20
"""How many arguments' names a message lists."""


@final
class Invoker:
    """An operator with given parameters, ready to be applied to arrays.

    Attributes:
        prop: The operator's property.
    """

    __slots__ = ("_input_names", "_is_stateful", "_like", "_places", "_plans", "prop")

    def __init__(self, prop: OperatorProperty, like: Invoker | None = None) -> None:
        """Make one.

        Args:
            prop: The operator with its parameters.
            like: One of a property that differs in run-time parameters alone, whose plans will do.
        """
        self.prop = prop
        self._like = like
        self._input_names = (*prop.list_arguments(), *prop.list_auxiliary_states())
        self._is_stateful = prop.is_stateful
        self._places = prop.input_places()
        self._plans: dict[Any, Plan] = {}

    def __call__(
        self,
        inputs: Sequence[Array],
        out: Array | list[Array] | tuple[Array, ...] | None = None,
        ctx: Context | None = None,
        cls: type[Array] = Array,
    ) -> Any:
        """Apply the operator.

        Args:
            inputs: The arguments and auxiliary states in the order of a call, all on one context.
            out: Array, or one array an output, to write into instead of new ones.
            ctx: Where to run an operator that has no inputs.
            cls: The class of the outputs of such an operator; else it is that of the first input.
        Returns:
            The visible output, or a list of them where there are several.
        """
        if self._places is not None and len(inputs) == len(self._places):
            inputs = [inputs[place] for place in self._places]
        mode = state.mode
        is_train = mode & TRAINING != 0
        # Inputs decide the context; without any, the thread's default may change between calls.
        key: Any
        if len(inputs) == 1:
            key = (is_train, inputs[0]._spec)
        else:
            key = (is_train, *[x._spec for x in inputs]) if inputs else (is_train, ctx or current_context())
        plan = self._plans.get(key)
        if plan is None:
            plan = self._planned(key, inputs, is_train)
        if out is not None:
            outputs = self._given(plan, out)
            if mode & RECORDING:
                refuse_lost(plan.name, inputs, outputs)
                inputs = _kept_apart(inputs, outputs)
            _run_into(plan, inputs, outputs)
        else:
            outputs = plan.run_new(inputs, inputs[0].__class__ if inputs else cls)
        if mode & RECORDING:
            record(plan, inputs, outputs)
        if plan.num_visible == 1:
            return outputs[0]
        return outputs[: plan.num_visible]

    def _planned(self, key: Any, inputs: Sequence[Array], is_train: bool) -> Plan:
        self._check_inputs(inputs)
        ctx = inputs[0]._spec.ctx if inputs else key[1]
        if self._like is None:
            plan = Plan(self.prop, [x._spec for x in inputs], ctx, is_train)
        else:
            found = self._like._plans.get(key) or self._like._planned(key, inputs, is_train)
            plan = found.rebound(self.prop)
        if not self._is_stateful:
            if len(self._plans) >= _MAX_CACHED:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _check_inputs(self, inputs: Sequence[Array]) -> None:
        names = self._input_names
        if len(inputs) != len(names):
            listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
            raise ArgumentError(
                f"{self.prop.name}: got {len(inputs)} arrays, expected {len(names)}: {listed or 'none'}"
            )
        for name, array in zip(names, inputs, strict=True):
            if array._spec.ctx is not inputs[0]._spec.ctx:
                raise ContextError(
                    f"{self.prop.name}: {name} is on {array.ctx}, but {names[0]} is on {inputs[0].ctx}; "
                    f"move it with {name}.as_in_context({inputs[0].ctx})"
                )

    def _given(self, plan: Plan, out: Array | list[Array] | tuple[Array, ...]) -> list[Array]:
        given = list(out) if isinstance(out, (list, tuple)) else [out]
        specs = plan.out_specs
        if len(given) == plan.num_visible < len(specs):
            given += [given[0]._new(spec) for spec in specs[plan.num_visible :]]
        if len(given) != len(specs):
            raise ArgumentError(f"{plan.name}: out has {len(given)} arrays, expected {plan.num_visible}")
        for array, spec, name in zip(given, specs, self.prop.list_outputs(), strict=True):
            if (found := getattr(array, "_spec", None)) is not spec:
                raise BindError(
                    f"{plan.name}: out ({name}) is {found or type(array).__name__}, expected {spec}"
                )
            if array._autograd is not None and is_recording():
                raise BindError(
                    f"{plan.name}: out ({name}) is part of what is being recorded; use a new array"
                )
        return given


def _run_into(plan: Plan, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Compute into arrays the caller gave, which may be, or overlap, inputs."""
    shared = {id(x._chunk) for x in inputs[: plan.num_args]}
    if not any(id(out._chunk) in shared for out in outputs) or plan.may_overwrite(inputs, outputs):
        plan.run(inputs, outputs, into_given=True)
        return
    fresh = [out._new(out._spec) for out in outputs]
    plan.run(inputs, fresh)
    for array, value in zip(outputs, fresh, strict=True):
        copy_into(array, value)


def refuse_lost(name: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Raise BindError if a recorded result would go into a part of an array.

    The part would be recorded, but not the array, whose gradient would then silently be wrong.
    """
    if any(out._is_part for out in outputs) and any(x._autograd is not None for x in inputs):
        raise BindError(
            f"{name}: the target is part of another array, which would not know of the gradient; "
            "use a new array, or do it under autograd.pause()"
        )


def _kept_apart(inputs: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
    """The inputs, those that outputs will overwrite as copies, for a gradient may read them later."""
    written = {id(out._chunk) for out in outputs}
    return [_copied(x) if id(x._chunk) in written else x for x in inputs]


def _copied(array: Array) -> Array:
    copy = array._new(array._spec)
    copy_into(copy, array)
    copy._autograd = array._autograd
    return copy


def copy_into(target: Array, source: Array) -> None:
    """Copy values from `source`, casting and moving between devices as needed; shapes broadcast."""
    if target._chunk is source._chunk:
        args = (target.ctx.xp, target._data, source._data)
        execute(_assign, args, target.ctx, (), (target._chunk.var,), "_copyto", reads_mutable=True)
        return
    on_gpu = target.ctx.is_gpu or source.ctx.is_gpu
    execute(
        _assign,
        (target.ctx.xp, target._data, source._data),
        source.ctx if source.ctx.is_gpu else target.ctx,
        (source._chunk.var,),
        (target._chunk.var,),
        "_copyto",
        inline=not on_gpu and target.size * 2 <= settings().inline_cost,
        reads_mutable=target._is_part,
    )


def _assign(xp: ModuleType, target: Any, source: Any) -> None:
    if isinstance(target, np.ndarray):
        target[...] = source if isinstance(source, np.ndarray) else source.get()
    else:
        target[...] = xp.asarray(source)


_invokers: dict[Any, Invoker] = {}


def _key(op: type[OperatorProperty], params: Mapping[str, Any]) -> tuple[Any, ...]:
    """What calls that share an `Invoker` have in common.

    Values are equal only with equal types: `1 == True == 1.0`, which are not all valid, nor the same
    parameter; and by their text where `0.0 == -0.0`. One flat tuple, for this is on every call's way.
    """
    key: list[Any] = [op]
    for name, value in params.items():
        kind = value.__class__
        if kind is tuple or kind is list:
            kinds = [item.__class__ for item in value]
            key += (name, tuple(value), *kinds)
            if float in kinds or tuple in kinds:
                key.append(repr(value))
        else:
            key += (name, kind, value or str(value))
    return tuple(key)


def invoker(op: type[OperatorProperty], params: Mapping[str, Any]) -> Invoker:
    """The cached `Invoker` of an operator with these parameters.

    Raises:
        ParamError: A parameter is unknown, missing or unusable.
    """
    try:
        key = _key(op, params)
        found = _invokers.get(key)
    except (TypeError, ValueError):  # an array or another unhashable value: validation names it
        return Invoker(op(**params))
    if found is None:
        if not op.params.run_time:
            _keep(_invokers, key, found := Invoker(op(**params)), _MAX_CACHED)
        elif (found := _recent.get(key)) is None:
            _keep(_recent, key, found := _rebound(op, params), _MAX_RECENT)
    return found


_MAX_RECENT: Final = 64
_recent: dict[Any, Invoker] = {}
"""Invokers for the last values of run-time parameters: few, for a schedule's values never come again."""

_bases: dict[Any, Invoker] = {}
"""The first invoker for each set of parameters that are not run-time; the others' plans are like its own."""


def _keep(cache: dict[Any, Invoker], key: Any, made: Invoker, most: int) -> None:
    if len(cache) >= most:
        cache.clear()
    cache[key] = made


def _rebound(op: type[OperatorProperty], params: Mapping[str, Any]) -> Invoker:
    """An invoker for values of run-time parameters that were not seen before."""
    given = {name: value for name, value in params.items() if name in op.params.run_time}
    fixed = {name: value for name, value in params.items() if name not in given}
    # Whether one is given, and whether it is None, may decide what is there; its value does not.
    key = (_key(op, fixed), *sorted((name, value is None) for name, value in given.items()))
    base = _bases.get(key)
    if base is not None:
        return Invoker(base.prop.rebound(given), like=base)
    _keep(_bases, key, made := Invoker(op(**params)), _MAX_CACHED)
    return made
