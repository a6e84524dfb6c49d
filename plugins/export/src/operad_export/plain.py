"""An operator as functions of plain arrays, for programs that own memory, order and gradients themselves.

An exporter to another framework calls this from the framework's own functions, in any thread. There is no
`NDArray`, tape or graph. A call is an operation of the engine that names no array's variable, because the
framework calls when its arrays are ready. So the operation starts at once: in the calling thread where it is
small, else by a worker with its share of the threads, and the caller waits.

Inside another operation the call runs as a plain function. A wait there could be for that operation itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, final

import operad
from operad.config import settings
from operad.context import cpu
from operad.dtypes import DType
from operad.errors import ShapeError, UnsupportedError
from operad.operator import (
    BackwardArrays,
    BackwardEntry,
    Cost,
    ForwardArrays,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    OwnResources,
    ResourceRequest,
    gradient_cost,
    is_known,
    own_cost,
)
from operad_export.bounded import insert_bounded

Array = Any
"""A `numpy.ndarray`, of any strides."""

_CPU: Final = cpu()
_SEEDED: Final = (ResourceRequest.RANDOM, ResourceRequest.PARALLEL_RANDOM)


def check_exportable(op: OperatorProperty | type[OperatorProperty]) -> None:
    """Check that an operator is a function of arrays, and of nothing else.

    Args:
        op: The property, or its class where no parameters are known.
    Raises:
        UnsupportedError: It keeps something of its own from forward to backward, or runs graphs.
    """
    if op.is_stateful or op.num_subgraphs:
        why = "runs graphs" if op.num_subgraphs else "keeps something from forward to backward"
        raise UnsupportedError(
            f"{op.name}: an operator that {why} cannot be exported, because other frameworks call functions "
            "of arrays; export the operators that it uses"
        )


@final
class _Way(NamedTuple):
    """Thread of a call, the calling one if it is small, threads inside, and whether BLAS is asked."""

    inline: bool
    is_parallel: bool
    uses_blas: bool

    @classmethod
    def of(cls, cost: Cost) -> _Way:
        """The way of a call that costs so much."""
        return cls(cost.us <= settings().inline_us, cost.is_parallel, cost.has_product)


@final
class _Call(NamedTuple):
    """All that is worked out once for arguments of some shapes and types."""

    operator: Operator
    cost: Cost
    way: _Way
    forward_kinds: Sequence[ResourceRequest]
    backward_kinds: Sequence[ResourceRequest]


@final
class PlainOperator:
    """An operator with given parameters, on a CPU.

    Attributes:
        prop: The operator's property.
        arguments: Names of the arguments; `states` and `outputs` likewise, hidden outputs last.
        num_visible: Number of leading outputs that callers see.
        flows: One flag for each argument: whether a gradient can flow to it.

    Raises:
        UnsupportedError: The operator keeps something of its own from call to call, or runs graphs.
    """

    def __init__(self, prop: OperatorProperty) -> None:
        check_exportable(prop)
        self.prop = prop
        self.arguments = prop.list_arguments()
        self.states = prop.list_auxiliary_states()
        self.outputs = prop.list_outputs()
        self.num_visible = prop.num_visible_outputs
        self.flows = list(prop.differentiable_inputs())
        self._title = operad.engine.OperatorName(prop.name, operad.registry.provider(prop.name))
        self._calls: dict[Any, _Call] = {}
        self._specs: dict[Any, list[tuple[tuple[Any, ...], DType]]] = {}

    def for_values(self, arguments: Sequence[Array]) -> PlainOperator:
        """The same operator for arguments of these values, on which shapes of outputs may depend."""
        return PlainOperator(self.prop.for_values(arguments)) if self.prop.is_shaped_by_values else self

    def infer(
        self, shapes: Sequence[Sequence[Any]], types: Sequence[DType], state_shapes: Sequence[Sequence[Any]]
    ) -> list[tuple[tuple[Any, ...], DType]]:
        """Shape and type of each output.

        Lengths may be symbols of a framework that add, multiply and compare as integers do.

        Args:
            shapes: Those of the arguments; `types` likewise.
            state_shapes: Those of the states.
        Raises:
            ShapeError: Shapes contradict each other, or one does not follow.
            DTypeError: An element type does not fit.
        """
        key = (*shapes, *types, *state_shapes)
        try:
            known = self._specs.get(key)
        except TypeError:  # a symbol, which is no key
            return self._inferred(shapes, types, state_shapes)
        if known is None:
            known = self._inferred(shapes, types, state_shapes)
            insert_bounded(self._specs, key, known)
        return known

    def _inferred(
        self, shapes: Sequence[Sequence[Any]], types: Sequence[DType], state_shapes: Sequence[Sequence[Any]]
    ) -> list[tuple[tuple[Any, ...], DType]]:
        _, found, expected = self.prop.infer_shape([tuple(shape) for shape in shapes])
        _, out_types, _ = self.prop.infer_type(list(types))
        specs: list[tuple[tuple[Any, ...], DType]] = []
        for name, shape, dtype in zip(self.outputs, found, out_types, strict=True):
            if shape is None or not is_known(shape) or dtype is None:
                raise ShapeError(
                    f"{self.prop.name}: shape and type of {name} do not follow from the arguments, "
                    f"got {shape} of {dtype}"
                )
            specs.append((shape, dtype))
        for name, shape, given in zip(self.states, expected, state_shapes, strict=True):
            if shape is not None and shape != tuple(given):
                raise ShapeError(f"{self.prop.name}: {name} has shape {tuple(given)}, expected {shape}")
        return specs

    def forward(
        self,
        arguments: Sequence[Array],
        states: Sequence[Array],
        outputs: Sequence[Array],
        *,
        is_train: bool = False,
        seed: int = 0,
    ) -> None:
        """Compute the outputs, and change the states in place.

        Args:
            outputs: One array per output, whose shapes and types `infer` gave; they are overwritten.
            is_train: Whether this is a training run.
            seed: Of the random numbers, if the operator draws any: the same seed gives the same draws.
        """
        call = self._call([a.shape for a in arguments], [a.dtype for a in arguments])
        operator = call.operator
        if operator.direct is not None:
            self._run(partial(operator.direct, *arguments, *outputs, *states), (), call.way)
            return
        requested = _resources(call.forward_kinds)
        op_ctx = OpContext(_CPU, is_train, requested)
        arrays = ForwardArrays(list(arguments), [OpReq.WRITE] * len(outputs), list(outputs), list(states))
        function = partial(operator.forward, op_ctx, arrays)
        self._run(_seeded(function, call.forward_kinds, seed), requested, call.way)

    def draws(self, shapes: Sequence[tuple[int, ...]], types: Sequence[DType]) -> bool:
        """Return whether `forward` draws random numbers for arguments of these shapes and types."""
        return any(kind in _SEEDED for kind in self._call(shapes, types).forward_kinds)

    def reads(self, wanted: Sequence[bool]) -> list[BackwardEntry]:
        """Arrays that the gradients marked in `wanted` read, one flag for each argument."""
        return list(self.prop.backward_dependency(wanted))

    def backward(
        self,
        wanted: Sequence[bool],
        arrays: Sequence[Array],
        states: Sequence[Array],
        shapes: Sequence[tuple[int, ...]],
        types: Sequence[DType],
        gradients: Sequence[Array],
        *,
        is_train: bool = False,
        seed: int = 0,
    ) -> None:
        """Compute gradients.

        Args:
            wanted: One flag for each argument.
            arrays: What `reads(wanted)` names, in that order.
            states: The states as `forward` left them.
            shapes: Those of the arguments; `types` likewise.
            gradients: One array for each flag that is set, like its argument; they are overwritten.
            is_train: What `forward` was told.
            seed: As for `forward`.
        """
        call = self._call(shapes, types)
        found: dict[str, list[Array | None]] = {
            "out_grad": [None] * len(self.outputs),
            "in_data": [None] * len(self.arguments),
            "out_data": [None] * len(self.outputs),
        }
        for (kind, index), array in zip(self.reads(wanted), arrays, strict=True):
            found[kind][index] = array
        rest = iter(gradients)
        grads = [next(rest) if flag else None for flag in wanted]
        req = tuple([OpReq.WRITE if flag else OpReq.NULL for flag in wanted])
        requested = _resources(call.backward_kinds)
        record = BackwardArrays(**found, req=req, in_grad=grads, aux_states=list(states))
        function = partial(call.operator.backward, OpContext(_CPU, is_train, requested), record)
        names = [name for name, flag in zip(self.arguments, wanted, strict=True) if flag]
        cost = gradient_cost(call.cost, self.prop.multiplies, names)
        self._run(_seeded(function, call.backward_kinds, seed), requested, _Way.of(cost))

    def _call(self, shapes: Sequence[tuple[int, ...]], types: Sequence[DType]) -> _Call:
        key = (*shapes, *types)
        found = self._calls.get(key)
        if found is None:
            prop = self.prop
            # Those that depend on values are left out: a gradient is asked for without them.
            out_shapes: Any = [shape for shape in prop.infer_shape(list(shapes))[1] if is_known(shape)]
            cost = own_cost(prop, shapes, out_shapes or shapes, types)
            found = _Call(
                prop.create_operator(_CPU, shapes, types),
                cost,
                _Way.of(cost),
                prop.forward_resource(shapes),
                prop.backward_resource(shapes),
            )
            insert_bounded(self._calls, key, found)
        return found

    def _run(self, function: Callable[[], object], requested: Sequence[Any], way: _Way) -> None:
        """Call a function as an operation of the engine, and raise its error here."""
        if operad.engine.is_inside():
            function()
            return
        engine = operad.engine.get()
        done = engine.new_variable()
        mutable_vars = [done, *dict.fromkeys(resource.var for resource in requested)]
        is_done = False
        if way.inline:
            run, args = (operad.engine.run_single, (function,)) if way.uses_blas else (function, ())
            call = (run, args, _CPU, (), mutable_vars, self._title)
            is_done = engine.run_inline(*call) or engine.run_inline_soon(*call)
        if not is_done:
            engine.push_sync(
                lambda _: function(), _CPU, (), mutable_vars, name=self._title, is_parallel=way.is_parallel
            )
        engine.wait_for_var(done)


class _Own(threading.local):
    """Resources of a thread. They have variables, for an operation may outlive an interrupted wait for it."""

    def __init__(self) -> None:
        self.resources = OwnResources()


_own: Final = _Own()


def _resources(kinds: Sequence[ResourceRequest]) -> tuple[Any, ...]:
    return _own.resources.request(_CPU, kinds) if kinds else ()


def _seeded(
    function: Callable[[], object], kinds: Sequence[ResourceRequest], seed: int
) -> Callable[[], object]:
    """The function, with the thread's random streams at their start for a seed, if it draws."""
    if not any(kind in _SEEDED for kind in kinds):
        return function
    resources = _own.resources  # of this thread, whoever calls the function

    def seeded() -> None:
        resources.seed(seed % (1 << 64))
        function()

    return seeded
