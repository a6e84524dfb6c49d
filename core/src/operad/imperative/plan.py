"""Plans: all that is worked out once for a kind of imperative call, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple, final

from operad import engine, registry, resource
from operad.device import Context
from operad.engine import Var
from operad.errors import GradientError
from operad.imperative.array import Array
from operad.imperative.array_spec import ArraySpec
from operad.imperative.chunk import Chunk
from operad.imperative.fast_path import FastPath
from operad.imperative.run import distinct, execute
from operad.imperative.run_time import RunTime
from operad.imperative.signature import Signature, inferred
from operad.op import (
    FORWARD,
    MULTIPLIED_SIZE,
    ArgumentSlot,
    BackwardEntry,
    CallTemplate,
    Choice,
    Chosen,
    Cost,
    ForwardArrays,
    KernelCall,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    Shape,
    choose,
    filled,
    is_computed_by_kernels,
    own_cost,
)

_LOCKED_SIZE: Final = 1500
"""Elements of all arrays of a call that may run under the engine's lock: two of 500 and their result.
NumPy keeps the interpreter's lock for so few, so no thread is held up that is not anyway."""

_MAX_GRADIENT_PLANS: Final = 64
"""Plans for gradients that a plan keeps: one for each set of gradients, and of run-time values."""

_var_of: Final = attrgetter("_chunk.var")
_data_of: Final = attrgetter("_data")


class Recordable:
    """Parts of a call that the tape knows.

    Attributes:
        name: What errors call it.
        out_specs: Specifications of all outputs.
        last_tape: Notes of the last backward pass over such a call alone, for the next one; None: nothing is
            noted, since notes keep the buffers of gradients.
    """

    last_tape: tuple[Any, ...] | None = None

    def __init__(self, name: str, out_specs: Sequence[ArraySpec]) -> None:
        self.name = name
        self.out_specs = out_specs


@final
class SavedTensors(NamedTuple):
    """Arrays that a recorded call keeps for its gradient.

    Attributes:
        entries: Which arguments and outputs, in order.
        positions: Where they stand among all inputs and then all outputs.
    """

    entries: list[BackwardEntry]
    positions: list[int]


@final
class Run(NamedTuple):
    """Way in which the engine is to run a plan.

    Attributes:
        op_ctx: What the operator is told, with its resources.
        resource_vars: Engine variables of those, and of what the operator keeps.
        state_var: The engine variable of what the operator keeps from call to call; None if it keeps nothing.
        req: The requests of the outputs.
        out_bytes: Memory of the outputs.
        inline: Whether it is small enough for the calling thread.
        is_parallel: Whether it is worth several threads inside.
        runs_under_lock: Whether it may hold the engine's lock meanwhile, for a few microseconds; see `hot`.
        uses_blas: Whether it has products, which BLAS is to compute with one thread.
        templates: Its calls, once the first run has made them.
    """

    op_ctx: OpContext
    resource_vars: tuple[Var, ...]
    state_var: Var | None
    req: tuple[OpReq, ...]
    out_bytes: int
    inline: bool
    is_parallel: bool
    runs_under_lock: bool
    uses_blas: bool
    templates: list[CallTemplate]

    def again(self) -> Run:
        """The same for another operator, with another variable for what that keeps."""
        state_var = self.state_var and engine.get().new_variable()
        resource_vars = self.resource_vars if state_var is None else (*self.resource_vars[:-1], state_var)
        return self._replace(state_var=state_var, resource_vars=resource_vars, templates=[])


@final
class Plan(Recordable):
    """One operator, with given parameters, on inputs of given specifications, in one mode.

    Values of run-time parameters are no part of it: a call brings them along, and where the operator has
    no way to take them, or a gradient will want them, `bound` gives a copy of the plan for them.

    Attributes:
        declared: The operator's property.
        prop: What is computed: that, or where its kernels ask for more, what stands for it.
        operator: Computes it.
        signature: What it is for.
        run: How the engine is to run it.
        direct: Computes it from arrays and run-time values alone; None if there is no such function.
        run_time: The run-time parameters; None if it has none.
        fast: How the hot path runs it; None if that cannot.
        saved: What `saved_tensors` found so far.
        structure: The plan that this is a copy of, or itself. Equal structures have equal
            gradients but for the run-time values.
    """

    def __init__(
        self, prop: OperatorProperty, specs: Sequence[ArraySpec], ctx: Context, is_train: bool
    ) -> None:
        num_args = len(prop.list_arguments())
        self.declared = prop
        in_types, out_specs = inferred(prop, specs, num_args, ctx)
        in_shapes: list[Shape] = [spec.shape for spec in specs[:num_args]]
        self._choice = _chosen(prop, ctx, in_shapes, in_types, is_train)
        if self._choice is not None and self._choice.has_demands:  # for more than the operator declares
            prop = Chosen(self._choice)
        super().__init__(engine.OperatorName(prop.name, registry.provider(prop.name)), out_specs)
        self.prop = prop
        inplace = prop.forward_inplace_option(list(range(num_args)), list(range(len(out_specs))))
        self.signature = Signature(
            ctx, is_train, tuple(specs), in_shapes, in_types, num_args, len(specs),
            prop.num_visible_outputs, prop.input_positions(), frozenset(inplace),
        )  # fmt: skip
        self.run, self.operator = self._prepared()
        self.run_time = RunTime(prop) if prop.params.run_time else None
        self.direct = self._direct()
        self.fast: FastPath | None = None
        self.structure = self
        # One tuple, replaced whole, so that threads agree on what they see.
        self._last_bound: tuple[tuple[Any, ...], Plan | None] = ((), None)
        self.saved: dict[tuple[bool, ...], SavedTensors] = {}
        self._gradient_plans: dict[tuple[Any, ...], Plan] = {}

    def _prepared(self) -> tuple[Run, Operator]:
        """Return the way to run it, and the operator that computes it."""
        signature, prop, out_specs = self.signature, self.prop, self.out_specs
        ctx = signature.ctx
        requested = resource.get().request_all(ctx, prop.forward_resource(signature.in_shapes))
        state_var = engine.get().new_variable() if prop.is_stateful else None
        own = () if state_var is None else (state_var,)
        operator, cost = self._computed()
        total = sum(spec.size for spec in (*signature.in_specs, *out_specs))
        few = operator.runs_under_lock and total <= _LOCKED_SIZE
        uses_blas = cost.has_product or (
            total >= MULTIPLIED_SIZE and not operator.runs_under_lock and self._states_no_cost()
        )
        run = Run(
            op_ctx=OpContext(ctx, signature.is_train, requested),
            resource_vars=(*resource.mutable_vars_of(requested), *own),
            state_var=state_var,
            req=(OpReq.WRITE,) * len(out_specs),
            out_bytes=sum(spec.nbytes for spec in out_specs),
            inline=not ctx.is_gpu and cost.is_light,
            is_parallel=cost.is_parallel,
            runs_under_lock=not uses_blas and (few or cost.work_us <= operator.lock_cost_limit_us),
            uses_blas=uses_blas,
            templates=[],
        )
        return run, operator

    def _states_no_cost(self) -> bool:
        """Return whether it may call BLAS without telling."""
        is_silent = type(self.declared).cost is OperatorProperty.cost
        return is_silent and (self._choice is None or self._choice.forward.cost is None)

    def _direct(self) -> Callable[..., Any] | None:
        operator = self.operator
        return operator.direct if self.run_time is None else operator.direct_with_values

    def _computed(self) -> tuple[Operator, Cost]:
        """Return the operator, and the estimate of its cost."""
        if self._choice is not None:
            return self._choice.operator(), self._choice.cost((FORWARD,))
        shapes, types = self.signature.in_shapes, self.signature.in_types
        cost = own_cost(self.prop, shapes, [spec.shape for spec in self.out_specs], types)
        return self.prop.create_operator(self.signature.ctx, shapes, types), cost

    def _anew(self) -> Operator:
        """Return the operator for other values of run-time parameters."""
        signature = self.signature
        self._choice = _chosen(
            self.prop, signature.ctx, signature.in_shapes, signature.in_types, signature.is_train
        )
        return self._computed()[0]

    def with_own_operator(self) -> Plan:
        """The same plan with an operator of its own, as calls of one that keeps something need it."""
        made = self._copy()
        made.operator = self._computed()[0]
        made.run, made.direct = self.run.again(), made._direct()
        return made

    def _copy(self) -> Plan:
        made = object.__new__(Plan)
        made.__dict__.update(self.__dict__)
        return made

    def bound(self, given: tuple[Any, ...]) -> Plan:
        """The same plan with an operator that has these run-time values; the last one is kept.

        Raises:
            ParamError: A value does not fit.
        """
        assert self.run_time is not None
        last, made = self._last_bound
        if made is not None and self.run_time.are_alike(last, given):
            return made
        prop = self.prop.rebound(self.run_time.named(given))
        made = self._copy()
        made.prop = made.declared = prop
        made.operator = self.operator.rebound(prop) or made._anew()
        made.run_time = RunTime(prop)
        made.direct = made._direct()
        made.run = self.run.again()
        self._last_bound = (given, made)
        return made

    def compute(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        into_given: bool = False,
        values: tuple[Any, ...] = (),
    ) -> None:
        """Compute into `outputs`, which share no memory with an input unless the operator says so.

        Args:
            inputs: The arguments and then the auxiliary states.
            outputs: One array per output.
            into_given: Whether `outputs` are the caller's, and so perhaps inputs too, or parts of arrays.
            values: What `run_time.converted` gave.
        """
        num_args, run = self.signature.num_args, self.run
        read = tuple(map(_var_of, inputs))
        parts = [out._chunk.var for out in outputs if out._is_part] if into_given else ()
        written = (*map(_var_of, outputs), *run.resource_vars)
        moving = read[num_args:] if self.prop.moves_states(self.signature.is_train) else ()
        const, mutable, updated = distinct(read[:num_args] if moving else read, (*moving, *parts), written)
        data = tuple(map(_data_of, inputs))
        args = (*data[:num_args], *map(_data_of, outputs), *data[num_args:], *values)
        execute(
            self.direct or self._forward, args, self.signature.ctx, const, mutable, self.name, run.inline,
            updated, run.is_parallel, run.out_bytes, run.uses_blas,
        )  # fmt: skip

    def _forward(self, *arrays: Any) -> None:
        """Compute as `direct` would, by templates; the first run makes them, and raises their errors."""
        run, num_args = self.run, self.signature.num_args
        num_states = self.signature.num_inputs - num_args
        if run.state_var is not None:  # an operator of one call, of which nothing is worth keeping
            ins, rest = list(arrays[:num_args]), list(arrays[num_args:])
            outs = rest[: len(rest) - num_states]
            self.operator.forward(run.op_ctx, ForwardArrays(ins, run.req, outs, rest[len(outs) :]))
            return
        templates = run.templates
        if not templates:
            templates[:] = self.operator.forward_templates(run.op_ctx, run.req, num_args, num_states)
            slots = [(ArgumentSlot, number) for number in range(len(arrays))]
            if len(templates) == 1 and [(type(arg), arg) for arg in templates[0].args] == slots:
                self.direct = templates[0].function if self.run_time is None else None
        filled(templates, arrays)()

    def may_overwrite(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> bool:
        """Return whether outputs share memory with inputs only in ways that the operator declared."""
        written: dict[Chunk, list[int]] = {}  # a chunk may hold several outputs
        for j, out in enumerate(outputs):
            written.setdefault(out._chunk, []).append(j)
        return all(
            x._data is outputs[j]._data and (i, j) in self.signature.inplace
            for i, x in enumerate(inputs)
            for j in written.get(x._chunk, ())
        )

    def saved_tensors(self, wanted: tuple[bool, ...]) -> SavedTensors:
        """Arrays that a recorded call keeps for the gradients marked in `wanted`; none if there is none."""
        found = self.saved.get(wanted)
        if found is None:
            flows = [w and d for w, d in zip(wanted, self.prop.differentiable_inputs(), strict=True)]
            reads = list(self.prop.backward_dependency(flows)) if any(flows) else []
            if self.declared is not self.prop and reads:
                # A gradient of the gradient knows nothing of kernels, and reads what is declared.
                reads = list(dict.fromkeys([*self.declared.backward_dependency(flows), *reads]))
            firsts = {"in_data": 0, "out_data": self.signature.num_inputs}
            entries = [entry for entry in reads if entry.kind in firsts]
            found = SavedTensors(entries, [firsts[kind] + index for kind, index in entries])
            self.saved[wanted] = found
        return found

    def check_trained(self, wanted: tuple[bool, ...]) -> None:
        """Raise GradientError if gradients in training read what the call, a prediction, may not write."""
        for kind, index in () if self.signature.is_train else self.saved_tensors(wanted).entries:
            if kind == "out_data" and index in self.prop.train_only_outputs:
                raise GradientError(
                    f"backward of {self.name}: it reads {self.prop.list_outputs()[index]!r}, which is "
                    "computed only in training; record with train_mode=True, or call it with train_mode=False"
                )

    def gradient_plan(self, wanted: tuple[bool, ...], specs: Sequence[ArraySpec], is_train: bool) -> Plan:
        """Plan of the gradients marked in `wanted`, as an operator with a gradient of its own.

        Args:
            wanted: One flag for each argument.
            specs: Of what `prop.backward_dependency(wanted)` names.
            is_train: Whether for a training run.
        Raises:
            OperadError: The gradient has none.
        """
        prop = self.prop
        values = () if self.run_time is None else [repr(getattr(prop, n)) for n in type(prop).params.run_time]
        key = (wanted, is_train, *values)
        found = self._gradient_plans.get(key)
        if found is None:
            signature = self.signature
            made = self.declared.gradient_operator(
                signature.ctx, signature.in_shapes, signature.in_types, wanted
            )
            found = Plan(made, specs, signature.ctx, is_train)
            # Those of other values have the same structure, as their plans have.
            found.structure = self._gradient_plans.setdefault((wanted, is_train, None), found).structure
            if len(self._gradient_plans) >= _MAX_GRADIENT_PLANS:
                self._gradient_plans.clear()
            self._gradient_plans[key] = found
        return found


def _chosen(
    prop: OperatorProperty, ctx: Context, in_shapes: list[Shape], in_types: list[Any], is_train: bool
) -> Choice | None:
    """The kernels, as in graphs; None where the operator's class makes what computes it.

    Other values of run-time parameters come to an operator that is there, so it gets what it declares.
    """
    if not is_computed_by_kernels(prop):
        return None
    is_bare = bool(prop.params.run_time)
    return choose(KernelCall(prop, ctx, in_shapes, in_types, is_train, is_bare=is_bare, is_alone=True))
