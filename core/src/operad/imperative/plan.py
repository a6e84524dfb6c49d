"""What is worked out once for a kind of imperative call, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple, final

from operad import engine, registry, resource
from operad.config import settings
from operad.device import Context
from operad.errors import ShapeError
from operad.imperative.array import Array
from operad.imperative.chunk import Chunk, recycles
from operad.imperative.run import distinct, execute
from operad.imperative.run_time import RunTime
from operad.imperative.spec import Spec, spec_of
from operad.op import (
    FORWARD,
    BackwardEntry,
    CallTemplate,
    Choice,
    Chosen,
    Cost,
    KernelCall,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    Shape,
    choose,
    filled,
    is_computed_by_kernels,
    is_known,
    own_cost,
)

_BRIEF_SIZE: Final = 1500
"""Elements of all arrays of a call that may run under the engine's lock: two of 500 and their result.
NumPy keeps the interpreter's lock for so few, so nobody is held up who is not anyway."""


MOST_SMALL: Final = 4
"""Arrays that `Plan.small` takes."""

_MAX_GRADIENT_PLANS: Final = 64
"""Plans for gradients that a plan keeps: one for each set of gradients, and of run-time values."""

_var_of: Final = attrgetter("_chunk.var")
_data_of: Final = attrgetter("_data")


class Recordable:
    """What the tape knows of a call.

    Attributes:
        name: What errors call it.
        out_specs: Specifications of all outputs.
    """

    def __init__(self, name: str, out_specs: Sequence[Spec]) -> None:
        self.name = name
        self.out_specs = out_specs


@final
class Recipe(NamedTuple):
    """What a recorded call keeps for its gradient.

    Attributes:
        entries: Which arguments and outputs, in order.
        places: Where they stand among all inputs and then all outputs.
    """

    entries: list[BackwardEntry]
    places: list[int]


@final
class Plan(Recordable):
    """One operator, with given parameters, on inputs of given specifications, in one mode.

    Values of run-time parameters are no part of it: a call brings them along, and where the operator has
    no way to take them, or a gradient will want them, `bound` gives a copy of the plan for them.

    Attributes:
        declared: The operator's property.
        prop: What is computed: that, or where its kernels ask for more, what stands for it.
        operator: Computes it.
        state_var: The engine variable of what the operator keeps from call to call; None if it keeps nothing.
        in_specs: Specifications of arguments and auxiliary states.
        in_shapes: Shapes of the arguments.
        inline: Whether it is small enough for the calling thread.
        is_parallel: Whether it is worth several threads inside.
        is_plain: Whether it needs nothing but its arrays, no random numbers and nothing of its own.
        small: What runs it on the hot path; None if that cannot.
        is_brief: Whether that may hold the engine's lock meanwhile, for a few microseconds; see `hot`.
        is_recycled: Whether the block of the first output is recycled whole; see `chunk`.
        num_args: How many of the inputs are arguments.
        num_inputs: How many inputs there are.
        updates: Whether the first output may lie where an argument lies, for each argument.
        num_visible: How many of the outputs a caller sees.
        places: Where each input stands in a call; None where nothing moves.
        out_spec: Specification of the first output.
        direct: Computes it from arrays and run-time values alone; None if there is no such function.
        run_time: The run-time parameters; None if it has none.
        recipes: What `recipe` found so far.
        structure: The plan that this is a copy of, or itself. Equal structures have equal
            gradients but for the run-time values.
    """

    def __init__(self, prop: OperatorProperty, specs: Sequence[Spec], ctx: Context, is_train: bool) -> None:
        num_args = len(prop.list_arguments())
        self.declared = prop
        self._in_types, out_specs = _inferred(prop, specs, num_args, ctx)
        self.in_shapes: list[Shape] = [spec.shape for spec in specs[:num_args]]
        self._choice = self._chosen(prop, ctx, is_train)
        prop, out_specs = self._with_demands(prop, out_specs)
        super().__init__(engine.OperatorName(prop.name, registry.provider(prop.name)), out_specs)
        self.prop = prop
        self.ctx = ctx
        self.in_specs = tuple(specs)
        self.num_args = num_args
        self.num_inputs = len(specs)
        self.num_visible = prop.num_visible_outputs
        self.places = prop.input_places()
        self.small: Callable[..., Any] | None = None
        requested = resource.get().request_all(ctx, prop.forward_resource(self.in_shapes))
        self.state_var = engine.get().new_variable() if prop.is_stateful else None
        own = () if self.state_var is None else (self.state_var,)
        self._resource_vars = (*resource.mutable_vars_of(requested), *own)
        self._op_ctx = OpContext(ctx, is_train, requested)
        self.operator, cost = self._computed()
        self._req = (OpReq.WRITE,) * len(out_specs)
        self._out_bytes = sum(spec.nbytes for spec in out_specs)
        self.inline = not ctx.is_gpu and cost.us <= settings().inline_us
        self.is_parallel = cost.is_parallel
        args, outs = list(range(num_args)), list(range(len(out_specs)))
        self._inplace = frozenset(prop.forward_inplace_option(args, outs))
        self.run_time = RunTime(prop) if prop.params.run_time else None
        self.is_plain = not self._resource_vars
        self._choose_direct()
        self.updates = [(place, 0) in self._inplace for place in args]
        self.is_recycled = recycles(out_specs[0].deferred)
        total = sum(spec.size for spec in (*specs, *out_specs))
        few = self.operator.is_brief and total <= _BRIEF_SIZE
        self.is_brief = few or cost.work_us <= self.operator.brief_us
        self.out_spec = out_specs[0]
        self.structure = self
        # One tuple, replaced whole, so that threads agree on what they see.
        self._last_bound: tuple[tuple[Any, ...], Plan | None] = ((), None)
        self.recipes: dict[tuple[bool, ...], Recipe] = {}
        self._gradient_plans: dict[tuple[Any, ...], Plan] = {}

    def _choose_direct(self) -> None:
        operator = self.operator
        self.direct = operator.direct if self.run_time is None else operator.direct_with_values
        self._templates: Sequence[CallTemplate] | None = None

    def _chosen(self, prop: OperatorProperty, ctx: Context, is_train: bool) -> Choice | None:
        """The kernels, as in graphs; None where the operator's class makes what computes it.

        Other values of run-time parameters come to an operator that is there, so nothing is kept for it.
        """
        if not is_computed_by_kernels(prop):
            return None
        is_bare = bool(prop.params.run_time)
        choice = choose(KernelCall(prop, ctx, self.in_shapes, self._in_types, is_train, is_bare=is_bare))
        if is_bare or not is_train or not choice.forward.keeps:
            return choice
        choice = choice.keeping()
        return choice.with_arrays(choice.needs(tuple(choice.kernels)), ())

    def _with_demands(
        self, prop: OperatorProperty, out_specs: tuple[Spec, ...]
    ) -> tuple[OperatorProperty, tuple[Spec, ...]]:
        """What is computed, where kernels ask for more than the operator declares."""
        choice = self._choice
        if choice is None or not choice.has_demands:
            return prop, out_specs
        kept = [spec_of(shape, dtype, choice.call.ctx) for shape, dtype in choice.kept_arrays()]
        return Chosen(choice), (*out_specs, *kept)

    def _computed(self) -> tuple[Operator, Cost]:
        """What computes the operator, and what that is estimated at."""
        if self._choice is not None:
            return self._choice.operator(), self._choice.cost((FORWARD,))
        shapes, types = self.in_shapes, self._in_types
        cost = own_cost(self.prop, shapes, [spec.shape for spec in self.out_specs], types)
        return self.prop.create_operator(self.ctx, shapes, types), cost

    def _anew(self) -> Operator:
        """What computes the operator for other values of run-time parameters."""
        self._choice = self._chosen(self.prop, self.ctx, self._op_ctx.is_train)
        return self._computed()[0]

    def with_own_operator(self) -> Plan:
        """The same plan with an operator of its own, for a call of one that keeps something."""
        made = self._copy()
        made.operator = self._computed()[0]
        made._templates = None
        made.state_var = engine.get().new_variable()
        made._resource_vars = (*self._resource_vars[:-1], made.state_var)
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
        made._choose_direct()
        self._last_bound = (given, made)
        return made

    def run(
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
        num_args = self.num_args
        read = tuple(map(_var_of, inputs))
        parts = [out._chunk.var for out in outputs if out._is_part] if into_given else ()
        written = (*map(_var_of, outputs), *self._resource_vars)
        const, mutable, updated = distinct(read[:num_args], (*read[num_args:], *parts), written)
        data = tuple(map(_data_of, inputs))
        args = (*data[:num_args], *map(_data_of, outputs), *data[num_args:], *values)
        execute(
            self.direct or self._compute, args, self.ctx, const, mutable, self.name, self.inline, updated,
            self.is_parallel, self._out_bytes,
        )  # fmt: skip

    def _compute(self, *arrays: Any) -> None:
        """What `direct` would do, by templates; making them is part of the first run, as its errors are."""
        num_args, num_states = self.num_args, self.num_inputs - self.num_args
        if self.state_var is not None:  # an operator of one call, of which nothing is worth keeping
            ins, rest = list(arrays[:num_args]), list(arrays[num_args:])
            outs = rest[: len(rest) - num_states]
            self.operator.forward(self._op_ctx, ins, self._req, outs, rest[len(outs) :])
            return
        templates = self._templates
        if templates is None:
            templates = self.operator.forward_templates(self._op_ctx, self._req, num_args, num_states)
            self._templates = templates
        filled(templates, arrays)()

    def may_overwrite(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> bool:
        """Whether every output that shares memory with an input does so in a way the operator declared."""
        written: dict[Chunk, list[int]] = {}  # a chunk may hold several outputs
        for j, out in enumerate(outputs):
            written.setdefault(out._chunk, []).append(j)
        return all(
            x._data is outputs[j]._data and (i, j) in self._inplace
            for i, x in enumerate(inputs)
            for j in written.get(x._chunk, ())
        )

    def recipe(self, wanted: tuple[bool, ...]) -> Recipe:
        """What a recorded call keeps for the gradients marked in `wanted`; nothing if none of them exists."""
        found = self.recipes.get(wanted)
        if found is None:
            flows = [w and d for w, d in zip(wanted, self.prop.differentiable_inputs(), strict=True)]
            reads = list(self.prop.backward_dependency(flows)) if any(flows) else []
            if self.declared is not self.prop and reads:
                # A gradient of the gradient knows nothing of kernels, and reads what is declared.
                reads = list(dict.fromkeys([*self.declared.backward_dependency(flows), *reads]))
            firsts = {"in_data": 0, "out_data": self.num_inputs}
            entries = [entry for entry in reads if entry.kind in firsts]
            found = Recipe(entries, [firsts[kind] + index for kind, index in entries])
            self.recipes[wanted] = found
        return found

    def gradient_plan(self, wanted: tuple[bool, ...], specs: Sequence[Spec], is_train: bool) -> Plan:
        """How the gradients marked in `wanted` are computed, as an operator with a gradient of its own.

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
            made = self.declared.gradient_operator(self.ctx, self.in_shapes, self._in_types, wanted)
            found = Plan(made, specs, self.ctx, is_train)
            # Those of other values have the same structure, as their plans have.
            found.structure = self._gradient_plans.setdefault((wanted, is_train, None), found).structure
            if len(self._gradient_plans) >= _MAX_GRADIENT_PLANS:
                self._gradient_plans.clear()
            self._gradient_plans[key] = found
        return found


def _inferred(
    prop: OperatorProperty, specs: Sequence[Spec], num_args: int, ctx: Context
) -> tuple[list[Any], tuple[Spec, ...]]:
    _, out_shapes, aux_shapes = prop.infer_shape([spec.shape for spec in specs[:num_args]])
    in_types, out_types, _ = prop.infer_type([spec.dtype for spec in specs[:num_args]])
    for name, shape, dtype in zip(prop.list_outputs(), out_shapes, out_types, strict=True):
        if not is_known(shape) or dtype is None:
            raise ShapeError(
                f"{prop.name}: shape and type of {name} do not follow from the arguments, "
                f"got {shape} of {dtype}"
            )
    for name, shape, spec in zip(prop.list_auxiliary_states(), aux_shapes, specs[num_args:], strict=True):
        if shape is not None and shape != spec.shape:
            raise ShapeError(f"{prop.name}: {name} has shape {spec.shape}, expected {shape}")
    outs = tuple(spec_of(shape, dtype, ctx) for shape, dtype in zip(out_shapes, out_types, strict=True))
    return in_types, outs
