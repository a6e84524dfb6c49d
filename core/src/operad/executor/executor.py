"""An executor: a graph bound to arrays.

Binding compiles the graph once (see `operad.graph.passes` and `operad.program`); a run then pushes a
handful of prepared engine operations.

Source: Executor, include/mxnet/executor.h and python/mxnet/executor.py. Differs: node-by-node
pushes became segments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from operad import registry
from operad.boundary import shortened
from operad.device import Context
from operad.errors import ArgumentError, BindError, suggestion
from operad.executor.arrays import check_context, part_of, set_values
from operad.executor.bound import BoundProgram, empty_like
from operad.executor.fixed import FixedArguments
from operad.executor.single_user import SingleUser
from operad.graph import Graph, MemoryPlan, PassReport, head_names
from operad.imperative import Versions, copy_into, overwritten, refuse_traced
from operad.ndarray import NDArray
from operad.program import Pool, Program, Segment


@final
class Executor(registry.Extensible):
    """Runs a graph forward and backward over its arrays. Made by `bind` or `simple_bind`.

    Attributes:
        arg_dict: Arguments by name.
        grad_dict: Gradients by argument name; None where none is computed.
        aux_dict: Auxiliary states by name.
        memory_plan: What the planner found: planned, unshared and least possible bytes, and placements.
        program: What runs.
        graph: What it was bound from; `ctx`, `grad_req` and `group2ctx` likewise.
        monitor: Runs nodes in place of segments: takes a binding, nodes, `is_train`, variables that are
            written, and arrays by name. None: segments run.
        single_user: Lets one thread in.
    """

    def __init__(
        self,
        graph: Graph,
        ctx: Context,
        program: Program,
        args: Mapping[str, NDArray],
        grads: Mapping[str, NDArray | None],
        grad_req: Mapping[str, str],
        aux: Mapping[str, NDArray],
        group2ctx: Mapping[str, Context],
        pool: Pool | None = None,
        outputs: Sequence[NDArray] = (),
    ) -> None:
        """Bind a program to arrays.

        Args:
            pool: Blocks of another executor that may be used too.
            outputs: Arrays in whose memory the outputs may lie.
        """
        self.graph = graph
        self.ctx = ctx
        self.grad_req = dict(grad_req)
        self.group2ctx = dict(group2ctx)
        self.program = program
        self._output_names = graph.list_outputs()
        self.arg_dict = dict(args)
        self._fixed = FixedArguments(graph, self.arg_dict)
        self.grad_dict = dict(grads)
        self.aux_dict = dict(aux)
        self._bind({**self.arg_dict, **self.aux_dict}, pool, outputs)
        self.monitor: Callable[..., object] | None = None
        self._last_mode: bool | None = None  # that of the last forward
        self._has_run_backward = False  # since then
        self.single_user = SingleUser()
        registry.hooks().executor_bound(executor=self)

    def _bind(self, arrays: Mapping[str, NDArray], pool: Pool | None, outputs: Sequence[NDArray]) -> None:
        program = self.program
        for name, array in arrays.items():
            check_context(name, array, program.specs[name].ctx)
        # An array whose argument a pass left without a reader is kept, and bound to nothing.
        bound = {entry: arrays[name] for name, entry in program.variables.items() if name in arrays}
        for name, entry in program.gradients.items():
            grad = self.grad_dict[name]
            assert grad is not None
            check_context(f"gradient of {name}", grad, program.spec(entry).ctx)
            bound[entry] = grad
        self._head_grads: list[NDArray | None] = []
        for name in head_names(self.graph):
            head = program.variables.get(name)
            if head is not None:
                bound[head] = empty_like(program, head)
            self._head_grads.append(None if head is None else bound[head])
        for entry, old in zip(program.outputs, [*outputs, *[None] * len(program.outputs)], strict=False):
            if entry not in bound:
                kept = None if old is None else part_of(old, program.spec(entry).shape)
                bound[entry] = kept if kept is not None else empty_like(program, entry)
        self._outputs = [bound[entry] for entry in program.outputs]
        self._bound = BoundProgram(program, bound, pool)
        self._versions = Versions([bound[entry] for entry in program.read_by_backward])

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {array.shape}" for name, array in self.output_dict.items())
        return f"<Executor of {shown} on {self.ctx}, {self.memory_plan.planned_bytes} bytes planned>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("an Executor is bound to memory; pickle its symbol, arg_dict and aux_dict")

    @property
    def outputs(self) -> list[NDArray]:
        """The arrays that `forward` fills, in `list_outputs` order; overwritten by the next run."""
        return list(self._outputs)

    @property
    def arg_arrays(self) -> list[NDArray]:
        """Arguments in `list_arguments` order."""
        return list(self.arg_dict.values())

    @property
    def grad_arrays(self) -> list[NDArray | None]:
        """Gradients in `list_arguments` order; None where none is computed."""
        return [self.grad_dict.get(name) for name in self.arg_dict]

    @property
    def aux_arrays(self) -> list[NDArray]:
        """Auxiliary states in order."""
        return list(self.aux_dict.values())

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """Outputs by name."""
        return dict(zip(self._output_names, self.outputs, strict=True))

    @property
    def memory_plan(self) -> MemoryPlan:
        """The static memory plan."""
        return self.program.plan

    @property
    def passes(self) -> list[PassReport]:
        """Reports of the passes when the graph was bound, in the order in which they ran.

        Estimates of what each graph would need are made when this is asked for.
        """
        return self.program.compilation.reports()

    @shortened
    def forward(self, is_train: bool = False, **arrays: Any) -> list[NDArray]:
        """Compute the outputs; returns at once.

        Args:
            is_train: Whether this is a training run, which a `backward` may follow.
            arrays: New values of arguments, copied into the bound arrays.
        Returns:
            `outputs`.
        Raises:
            ArgumentError: A name is not an argument.
            BindError: A value has another shape, or the outputs need a training run.
            ExecutorBusyError: Another thread is in a `forward` or `backward` of this executor.
        """
        refuse_traced("an executor runs", "compose its symbol, or call it outside")
        self.single_user.call("forward", self._run_forward, is_train, arrays)
        return self.outputs

    def set_arguments(self, call: str, arrays: Mapping[str, Any]) -> None:
        """Copy new values into arguments, for what errors call `call`."""
        for name, value in arrays.items():
            if name not in self.arg_dict:
                raise ArgumentError(f"{call}: unknown argument {name!r}; {suggestion(name, self.arg_dict)}")
            set_values(f"{call}: {name!r}", self.arg_dict[name], value)

    def _run_forward(self, is_train: bool, arrays: Mapping[str, Any]) -> None:
        self.set_arguments("forward", arrays)
        if not is_train and (unwritten := self.program.train_only_read_by_forward) is not None:
            raise BindError(
                f"forward: a gradient that the outputs need reads {unwritten!r}, which forward computes only "
                "in training; call forward(is_train=True)"
            )
        self._fixed.write()
        self._last_mode = None  # should a monitor raise half way
        self._bound.begin()
        self._run(self._bound.forward, is_train)
        self._versions.note()
        self._last_mode, self._has_run_backward = is_train, False

    @shortened
    def backward(
        self, out_grads: NDArray | Sequence[NDArray | None] | None = None, is_train: bool = True
    ) -> None:
        """Compute the gradients of the last `forward`; returns at once. Without gradients, do nothing.

        They are those of the pass that ran: of the moving statistics after a prediction, of the batch's
        after a training run. Where no `forward` ran, and the gradients need no output of an operator, they
        are those of a prediction.

        Args:
            out_grads: Gradient of each output, more are ignored; may be left out for outputs that are
                losses, and for those that need none.
            is_train: Ignored: the modes cannot be mixed as in MXNet.
        Raises:
            GradientError: An argument or output that backward reads was overwritten since forward.
            BindError: `forward` did not come before, its results have been overwritten since (by a
                backward, or by an executor that shares memory), it ran in prediction mode and did not
                compute what backward reads, or an output gradient is missing or does not fit.
            ExecutorBusyError: Another thread is in a `forward` or `backward` of this executor.
        """
        if self.program.gradients:
            self.single_user.call("backward", self._run_backward, out_grads)

    def _run_backward(self, out_grads: NDArray | Sequence[NDArray | None] | None) -> None:
        if self._last_mode is None:
            self._predict_for_backward()
            try:
                return self._run_backward(out_grads)
            finally:
                self._last_mode = None
        self._check_ready()
        given: list[NDArray | None] = [*out_grads] if isinstance(out_grads, Sequence) else [out_grads]
        given += [None] * (len(self.outputs) - len(given))
        for name, target, grad in zip(self._output_names, self._head_grads, given, strict=False):
            self._set_head_grad(name, target, grad)
        self._has_run_backward = True
        self._run(self._bound.backward, bool(self._last_mode))
        self._versions.note()  # gradients may be other parts of the same memory
        return None

    def _predict_for_backward(self) -> None:
        """Run forward for what operators hide of it, where the gradients read nothing else of it."""
        if (needed := self.program.visible_read_by_backward) is not None:
            raise BindError(f"backward: it reads {needed!r}, which forward computes; call forward first")
        self._run_forward(False, {})

    def _check_ready(self) -> None:
        if self._has_run_backward and not self.program.is_backward_repeatable:
            raise BindError(
                "backward: call forward again first; one backward may follow it, for it overwrites values it "
                "no longer needs"
            )
        if not self._last_mode and (unwritten := self.program.train_only_read_by_backward) is not None:
            raise BindError(
                f"backward: it reads {unwritten!r}, which forward computes only in training; "
                "call forward(is_train=True) first"
            )
        if not self._bound.binding.is_owner:
            raise BindError(
                "backward: an executor that shares this one's memory has run since forward; call it again"
            )
        changed = self._versions.first_changed()
        if changed is not None:
            raise overwritten("backward", list(self.program.read_by_backward.values())[changed], "forward")

    def _set_head_grad(self, name: str, target: NDArray | None, grad: NDArray | None) -> None:
        if target is None:
            return
        if grad is None:
            raise BindError(f"backward: output {name!r} is not a loss, so out_grads must give its gradient")
        if not isinstance(grad, NDArray):
            raise BindError(
                f"backward: gradient of output {name!r} is {type(grad).__name__}, expected an NDArray"
            )
        if grad.shape != target.shape:
            raise BindError(
                f"backward: gradient of output {name!r} has shape {grad.shape}, expected {target.shape}"
            )
        copy_into(target, grad)

    def _run(self, parts: Sequence[Segment], is_train: bool) -> None:
        if self.monitor is not None:
            started = self._bound.started if parts is self._bound.backward else ()
            node_ids = [node_id for segment in parts for node_id in segment.node_ids]
            variables = {**self.arg_dict, **self.aux_dict}
            self.monitor(self._bound.binding, node_ids, is_train, started, variables)
            return
        for segment in parts:
            segment.push(is_train, alone=len(parts) == 1)

    def run_extended(
        self, bound: BoundProgram, before: Callable[[Sequence[int]], Callable[[], object]]
    ) -> None:
        """Push a training run of an extended program over this executor's arrays.

        Args:
            before: Gives, for the nodes of a segment behind forward, what is called before these run.
        """
        self._fixed.write()
        self._last_mode = None  # what forward left is overwritten
        bound.begin()
        self._run(bound.forward, True)
        for segment in bound.backward:
            segment.push(True, alone=len(bound.backward) == 1, before=before(segment.node_ids))

    @property
    def pool(self) -> Pool:
        """The blocks behind the memory plan, which another executor may share."""
        return self._bound.binding.pool
