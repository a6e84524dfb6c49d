"""Imperative calls: look up, infer, allocate, push.

Everything about a call that depends only on the operator, its parameters, the specifications of its
inputs and the mode is worked out once and kept as a `Plan`. A repeated call then consists of two
dictionary look-ups, the allocation of its outputs, and one call of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from operad import engine
from operad.device import Context, as_context
from operad.engine import FnProperty
from operad.engine.thread import local
from operad.errors import ArgumentError, BindError, ContextError, ParamError
from operad.imperative.aliases import note_written, refuse_aliases
from operad.imperative.array import Array
from operad.imperative.fast_path import MOST_ARRAYS
from operad.imperative.hot import copy_fast, fast_path
from operad.imperative.plan import Plan
from operad.imperative.run import execute
from operad.imperative.run_time import ABSENT
from operad.imperative.state import RECORDING, TRACING, TRAINING, is_recording, refuse_traced
from operad.imperative.tape import record
from operad.op import Cost, OperatorProperty, transfer

_MAX_CACHED: Final = 4096
"""Entries a cache may hold before it is emptied; bounds what varying shapes can pile up."""

_NONE: Final = (None,) * MOST_ARRAYS
_LISTED: Final = 20
"""Number of arguments' names that a message lists."""


@final
class Invoker:
    """An operator with given parameters, ready to be applied to arrays.

    Attributes:
        prop: The operator's property; its run-time parameters have the values of the first call.
    """

    __slots__ = ("_input_names", "_plans", "_run_time", "prop")

    def __init__(self, prop: OperatorProperty) -> None:
        self.prop = prop
        self._input_names = (*prop.list_arguments(), *prop.list_auxiliary_states())
        self._plans: dict[Any, Plan] = {}
        self._run_time = tuple(getattr(prop, name) for name in type(prop).params.run_time)

    def __call__(
        self,
        inputs: Sequence[Array],
        out: Array | list[Array] | tuple[Array, ...] | None = None,
        ctx: Context | None = None,
        cls: type[Array] = Array,
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """Apply the operator.

        Args:
            inputs: The arguments and auxiliary states in the order of a call, all on one context.
            out: Array, or one array per output, to write into instead of new ones.
            ctx: Where to run an operator that has no inputs.
            cls: The class of the outputs of such an operator; else it is that of the first input.
            values: Values of all run-time parameters, `ABSENT` where not given; None: those of `prop`.
        Returns:
            The visible output, or a list of them where there are several.
        """
        if self.prop.is_shaped_by_values:
            return self._for_values(inputs)(inputs, out, ctx, cls, values)
        plan = self.plan(inputs, ctx, values or ())
        given = self._run_time if values is None else values
        if plan.fast is not None and len(inputs) <= MOST_ARRAYS and local.state.mode < TRACING:
            arrays = (*(inputs or (cls,)), *_NONE)[:MOST_ARRAYS]
            made = plan.fast.call(plan.fast, local.state, *arrays, given, out)
            if made is not None:
                return made
        return apply(plan, inputs, out, given, local.state.mode, cls)

    def plan(self, inputs: Sequence[Array], ctx: Context | None = None, values: tuple[Any, ...] = ()) -> Plan:
        """Plan of the operator on `inputs`, in the order of a call, in the thread's mode.

        Args:
            inputs: As for a call.
            ctx: As for a call.
            values: Those of run-time parameters in this call. A new plan is made for them: those that
                `prop` has may be of another call, and what it computed with may hold them while this cannot.

        Raises:
            ArgumentError: It takes another number of arrays.
            ContextError: They are on several contexts.
        """
        is_train = local.state.mode & TRAINING != 0
        # Inputs decide the context; without any, the thread's default may change between calls.
        ctx = inputs[0]._spec.ctx if inputs else as_context(ctx, self.prop.name)
        key = (is_train, ctx, *[x._spec for x in inputs])
        plan = self._plans.get(key)
        if plan is None:
            positions = self.prop.input_positions()
            if positions is not None and len(inputs) == len(positions):
                inputs = [inputs[position] for position in positions]
            self._check_inputs(inputs)
            named = zip(type(self.prop).params.run_time, values, strict=False)
            given = {name: value for name, value in named if value is not ABSENT}
            prop = self.prop.rebound(given) if given else self.prop
            plan = Plan(prop, [x._spec for x in inputs], ctx, is_train)
            plan.fast = fast_path(plan)
            insert_bounded(self._plans, key, plan)
        return plan

    def _for_values(self, inputs: Sequence[Array]) -> Invoker:
        """The operator for arguments of these values, for which this waits.

        They are read by an operation of the engine: on their device, and after what still writes them.
        """
        self._check_inputs(inputs)
        refuse_traced(f"the shape of what {self.prop.name} gives follows from values", "call it outside")
        found: list[OperatorProperty] = []
        read = list(dict.fromkeys(x._chunk.var for x in inputs))
        done = engine.get().new_variable()

        def find(*in_data: Any) -> None:
            found.append(self.prop.for_values(in_data))

        execute(find, tuple(x._data for x in inputs), inputs[0].ctx, read, (done,), self.prop.name)
        engine.get().wait_for_var(done)
        return Invoker(found[0])

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


def apply(
    plan: Plan,
    inputs: Sequence[Array],
    out: Array | list[Array] | tuple[Array, ...] | None,
    values: tuple[Any, ...],
    mode: int,
    cls: type[Array],
) -> Any:
    """Apply a plan to arrays, whatever they are.

    Args:
        plan: What to do.
        inputs: The arguments and auxiliary states in the order of a call.
        out: As for `Invoker`.
        values: Values of all run-time parameters, `ABSENT` where not given.
        mode: The thread's mode.
        cls: The class of new arrays where there are no inputs.
    """
    if mode >= TRACING:
        trace = local.state.trace
        return trace.call(plan, inputs, out if out is None else _given(plan, trace.written(out)), values)
    if plan.signature.order is not None:
        inputs = [inputs[position] for position in plan.signature.order]
    if plan.run.state_var is not None:
        plan = plan.with_own_operator()
    if values:
        if mode & RECORDING or plan.direct is None:
            plan = plan.bound(values)
        assert plan.run_time is not None
        values = () if plan.direct is None else plan.run_time.converted(values, plan.operator)
    outputs: Sequence[Array]
    if out is None:
        cls = inputs[0].__class__ if inputs else cls
        outputs = list(map(cls._new, plan.out_specs))
        plan.compute(inputs, outputs, values=values)
    else:
        outputs = _given(plan, out)
        if mode & RECORDING:
            refuse_lost(plan.name, inputs, outputs)
            inputs = _kept_apart(inputs, outputs)
        _run_into(plan, inputs, outputs, values)
    if mode & RECORDING:
        record(plan, inputs, outputs)
        if out is not None:
            for array in outputs:
                note_written(array)
    num_visible = plan.signature.num_visible
    return outputs[0] if num_visible == 1 else outputs[:num_visible]


def _given(plan: Plan, out: Any) -> list[Array]:
    given = list(out) if isinstance(out, (list, tuple)) else [out]
    specs, names = plan.out_specs, plan.prop.list_outputs()
    num_visible = plan.signature.num_visible
    if len(given) not in (num_visible, len(specs)):
        raise ArgumentError(f"{plan.name}: out has {len(given)} arrays, expected {num_visible}")
    for array, spec, name in zip(given, specs, names, strict=False):
        if not isinstance(array, Array) or array._spec is not spec:
            found = array._spec if isinstance(array, Array) else type(array).__name__
            raise BindError(f"{plan.name}: out ({name}) is {found}, expected {spec}")
        if array._autograd is not None and is_recording():
            raise BindError(f"{plan.name}: out ({name}) is part of what is being recorded; use a new array")
    return given + [given[0]._new(spec) for spec in specs[len(given) :]]


def _run_into(plan: Plan, inputs: Sequence[Array], outputs: Sequence[Array], values: tuple[Any, ...]) -> None:
    """Compute into arrays the caller gave, which may be, or overlap, inputs."""
    if plan.may_overwrite(inputs, outputs):
        plan.compute(inputs, outputs, into_given=True, values=values)
        return
    fresh = [out._new(out._spec) for out in outputs]
    plan.compute(inputs, fresh, values=values)
    for array, value in zip(outputs, fresh, strict=True):
        copy_into(array, value)


def refuse_lost(name: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Raise BindError if a recorded result would go into a part of an array.

    The part would be recorded, but not the array, whose gradient would then silently be wrong. The same
    holds for whatever shares memory with an array that is being recorded.
    """
    refuse_aliases(name, [*inputs, *outputs])
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
    if local.state.mode >= TRACING:
        local.state.trace.assign(target, source)
        return
    if copy_fast(target, source):
        return
    is_within = target._chunk is source._chunk
    is_from_gpu = source.ctx.is_gpu
    ctx = source.ctx if is_from_gpu else target.ctx
    prop = FnProperty.NORMAL
    if source.ctx is not target.ctx:
        prop = FnProperty.COPY_FROM_DEVICE if is_from_gpu else FnProperty.COPY_TO_DEVICE
    execute(
        transfer,
        (target.ctx.xp, source._data, target._data),
        ctx,
        () if is_within else (source._chunk.var,),
        (target._chunk.var,),
        "_copyto",
        inline=not ctx.is_gpu and not is_within and Cost(2 * target.size).is_light,
        reads_mutable=is_within or target._is_part,
        size_bytes=target._spec.nbytes,
        prop=prop,
    )


_invokers: dict[Any, Invoker] = {}


def find_invoker(op: type[OperatorProperty], params: Mapping[str, Any]) -> tuple[Invoker, tuple[Any, ...]]:
    """The cached `Invoker` of an operator with these parameters, and the run-time values to call it with.

    Raises:
        ParamError: A parameter is unknown, missing or unusable.
    """
    names = op.params.run_time
    values = tuple([params.get(name, ABSENT) for name in names])
    # Whether a value is given, and whether it is None, may decide what is there; the value does not.
    fixed = {name: params[name] is None if name in names else params[name] for name in params}
    try:
        key = (op, op.epoch, *[(name, *cache_key(value)) for name, value in fixed.items()])
        found = _invokers.get(key)
    except TypeError:  # an array or another unhashable value: validation names it
        return Invoker(op(**params)), values
    if found is None:
        insert_bounded(_invokers, key, found := Invoker(op(**params)))
    else:
        _check_run_time(op, params)
    return found, values


def _check_run_time(op: type[OperatorProperty], params: Mapping[str, Any]) -> None:
    """Raise ParamError for a run-time value that its parameter does not take.

    An operator that was made with other values has not looked at these, and a plan looks at no value that
    equals its last one: `1 + 0j == 1.0`. So each type of value comes here before it becomes part of a key.
    """
    for name in op.params.run_time:
        if name in params and params[name].__class__ is not op.params[name].type:
            try:
                op.params[name].parse(params[name])
            except ParamError as error:
                raise ParamError(f"{op.name}: {error}") from error.__cause__


def cache_key(value: Any) -> tuple[Any, ...]:
    """Key of values that mean the same: `1 == True == 1.0` are distinguished, and `0.0 == -0.0`.

    Their text alone is not enough: a class may have one text for all its values.
    """
    kind = value.__class__
    if kind is tuple and [*map(type, value)].count(int) == len(value):
        return kind, value
    if isinstance(value, (tuple, list)):
        return kind, tuple(value), repr(value)
    return kind, repr(value) if isinstance(value, (float, np.generic)) else value


def insert_bounded(cache: dict[Any, Any], key: Any, made: object, most: int = _MAX_CACHED) -> None:
    """Enter `made` into a cache, which is emptied first where it holds too much."""
    if len(cache) >= most:
        cache.clear()
    cache[key] = made
