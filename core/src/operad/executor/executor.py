"""An executor: a graph bound to arrays.

Binding compiles the graph once (see `program`, `layout`, `segment`); a run then pushes a handful of
prepared engine operations.

Source: Executor, include/mxnet/executor.h and python/mxnet/executor.py. Differs: node-by-node
pushes became segments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, final

import numpy as np

from operad import registry
from operad.context import Context
from operad.engine import Var
from operad.errors import ArgumentError, BindError
from operad.executor.arrays import Refit, complete_shapes
from operad.executor.lanes import cut
from operad.executor.layout import Layout, Pool
from operad.executor.program import Program
from operad.executor.segment import Segment
from operad.graph import BackwardNode, Entry, Graph, MemoryPlan, Node, OpNode, Variable
from operad.imperative import Versions, copy_into, overwritten
from operad.ndarray import NDArray, empty, wrap
from operad.operator import Operator

MonitorCallback = Callable[[str, NDArray], object]


@final
class Executor:
    """Runs a graph forward and backward over its arrays. Made by `bind` or `simple_bind`.

    Attributes:
        outputs: The arrays that `forward` fills, in `list_outputs` order; overwritten by the next run.
        arg_dict: Arguments by name.
        grad_dict: Gradients by argument name; None where none is computed.
        aux_dict: Auxiliary states by name.
        memory_plan: What the planner found: planned, unshared and least possible bytes, and places.
    """

    def __init__(
        self,
        graph: Graph,
        ctx: Context,
        args: Mapping[str, NDArray],
        grads: Mapping[str, NDArray | None],
        grad_req: Mapping[str, str],
        aux: Mapping[str, NDArray],
        group2ctx: Mapping[str, Context],
        pool: Pool | None = None,
    ) -> None:
        self._graph = graph
        self._ctx = ctx
        self._grad_req = dict(grad_req)
        self._group2ctx = dict(group2ctx)
        self.arg_dict = dict(args)
        self.grad_dict = dict(grads)
        self.aux_dict = dict(aux)
        arrays = {**self.arg_dict, **self.aux_dict}
        self._program = Program(
            graph,
            ctx,
            grad_req,
            {name: array.shape for name, array in arrays.items()},
            {name: array.dtype for name, array in arrays.items()},
            group2ctx,
        )
        self._bind(arrays, pool)
        self._monitor: tuple[MonitorCallback, bool] | None = None
        self._is_ready = False  # whether forward has run in training mode
        self._has_run_backward = False  # since then
        registry.hooks().executor_bound(executor=self)

    def _bind(self, arrays: Mapping[str, NDArray], pool: Pool | None) -> None:
        program = self._program
        bound: dict[Entry, NDArray] = {}
        for name, node in program.variables.items():
            if name in arrays:
                _check_context(name, arrays[name], program.contexts[node])
                bound[Entry(node)] = arrays[name]
        for name, entry in program.gradients.items():
            grad = self.grad_dict[name]
            assert grad is not None
            _check_context(f"gradient of {name}", grad, program.contexts[entry.node])
            bound[entry] = grad
        self._head_grads: list[NDArray | None] = []
        for head, output in zip(program.head_gradients, program.outputs, strict=True):
            array = None
            if head is not None:
                array = empty(program.shapes[output], program.contexts[head], program.types[output])
                bound[Entry(head)] = array
            self._head_grads.append(array)
        self._layout = Layout(program, bound, pool)
        self.outputs = [self._layout.bound[entry] for entry in program.outputs]
        operators = {node: self._operator(node) for node in program.forward if isinstance(node, OpNode)}
        operators.update(
            (node, self._operator(node)) for node in program.backward if isinstance(node, OpNode)
        )
        self._operators = operators
        self._forward = self._segments(program.forward, ())
        self._backward = self._segments(program.backward, self._started_forward())
        self._backward_reads = program.read_by_backward()
        self._versions = Versions([self._layout.bound[entry] for entry in self._backward_reads])

    def _operator(self, node: OpNode) -> Operator:
        program = self._program
        shapes = [program.shapes[entry] for entry in node.args]
        types = [program.types[entry] for entry in node.args]
        return node.op.create_operator(program.contexts[node], shapes, types)

    def _segments(self, nodes: Sequence[Node], started: Collection[Var]) -> list[Segment]:
        segments = []
        for part in cut(nodes, self._program.contexts, self._program.lanes):
            segments.append(self._segment(part, started))
            started = segments[-1].started
        return segments

    def _started_forward(self) -> Collection[Var]:
        return self._forward[-1].started if self._forward else ()

    def _segment(self, nodes: Sequence[Node], started: Collection[Var]) -> Segment:
        ctx = self._program.contexts[nodes[0]]
        return Segment(nodes, ctx, self._program, self._layout, self._operators, started)

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
        return dict(zip(self._graph.list_outputs(), self.outputs, strict=True))

    @property
    def memory_plan(self) -> MemoryPlan:
        """The static memory plan."""
        return self._program.plan

    def forward(self, is_train: bool = False, **arrays: Any) -> list[NDArray]:
        """Compute the outputs; returns at once.

        Args:
            is_train: Whether this is a training run, which a `backward` may follow.
            arrays: New values of arguments, copied into the bound arrays.
        Returns:
            `outputs`.
        Raises:
            ArgumentError: A name is not an argument.
            BindError: A value has another shape.
        """
        for name, value in arrays.items():
            if name not in self.arg_dict:
                raise ArgumentError(
                    f"forward: unknown argument {name!r}; expected some of {', '.join(self.arg_dict)}"
                )
            _set_values(f"forward: {name!r}", self.arg_dict[name], value)
        self._is_ready = False  # should a monitor raise half way
        self._layout.take_turn()
        self._run(self._forward, is_train)
        self._versions.note()
        self._is_ready, self._has_run_backward = is_train, False
        return self.outputs

    def backward(
        self, out_grads: NDArray | Sequence[NDArray | None] | None = None, is_train: bool = True
    ) -> None:
        """Compute the gradients of the last `forward`; returns at once.

        Args:
            out_grads: Gradient of each output; may be left out for outputs that are losses.
            is_train: Whether the operators' backward runs in training mode.
        Raises:
            GradientError: An argument or output that backward reads was overwritten since forward.
            BindError: The executor computes no gradients, `forward(is_train=True)` did not come
                before, its results have been overwritten since (by a backward, or by an executor
                that shares memory), or a needed output gradient is missing or does not fit.
        """
        if not self._program.gradients:
            raise BindError(
                "backward: every grad_req of this executor is 'null', so it computes no gradients"
            )
        self._check_ready()
        given = (
            [out_grads] if isinstance(out_grads, NDArray) else [] if out_grads is None else list(out_grads)
        )
        if given and len(given) != len(self.outputs):
            raise BindError(
                f"backward: got {len(given)} out_grads, expected {len(self.outputs)}, one per output"
            )
        given += [None] * (len(self.outputs) - len(given))
        for name, target, grad in zip(self._graph.list_outputs(), self._head_grads, given, strict=True):
            self._set_head_grad(name, target, grad)
        self._has_run_backward = True
        self._run(self._backward, is_train)
        self._versions.note()  # gradients may be other parts of the same memory

    def _check_ready(self) -> None:
        if not self._is_ready or (self._has_run_backward and not self._program.is_backward_repeatable):
            raise BindError(
                "backward: call forward(is_train=True) first; one backward may follow it, "
                "for it overwrites values it no longer needs"
            )
        if not self._layout.has_turn:
            raise BindError(
                "backward: an executor that shares this one's memory has run since forward(is_train=True); "
                "call it again"
            )
        changed = self._versions.first_changed()
        if changed is not None:
            raise overwritten("backward", list(self._backward_reads.values())[changed], "forward")

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

    def _run(self, segments: Sequence[Segment], is_train: bool) -> None:
        if self._monitor is not None:
            started = self._started_forward() if segments is self._backward else ()
            self._run_monitored(segments, is_train, started)
            return
        for segment in segments:
            segment.push(is_train, alone=len(segments) == 1)

    def set_monitor_callback(self, callback: MonitorCallback | None, monitor_all: bool = False) -> None:
        """Call `callback(name, array)` for every node's outputs, as each is computed.

        Nodes then run one by one. The array is valid until the callback returns.

        Args:
            callback: What to call; None to stop.
            monitor_all: Report the inputs of every node as well: `fc1_data`, and variables also under
                their own names.
        """
        self._monitor = None if callback is None else (callback, monitor_all)

    def _run_monitored(self, segments: Sequence[Segment], is_train: bool, started: Collection[Var]) -> None:
        assert self._monitor is not None
        callback, monitor_all = self._monitor
        for segment in segments:
            for node in segment.nodes:
                if monitor_all:
                    for name, entry in _named_inputs(node):
                        callback(name, self._entry_array(entry))
                alone = self._segment([node], started)
                alone.push(is_train)
                started = alone.started
                written = [
                    Entry(node, i) for i in range(node.num_outputs) if self._program.is_written(node, i)
                ]
                outputs = [self._entry_array(entry) for entry in written]
                for entry, array in zip(written, outputs, strict=True):
                    callback(entry.name, array)
                assert isinstance(node, (OpNode, BackwardNode))
                registry.hooks().operator_run(name=node.name, operator=node.op.name, outputs=outputs)

    def _entry_array(self, entry: Entry) -> NDArray:
        if entry in self._layout.bound:
            return self._layout.bound[entry]
        place = self._program.plan.placement[entry]
        return wrap(self._layout.array(entry), self._layout.chunks[place.block])

    def copy_params_from(
        self,
        arg_params: Mapping[str, NDArray],
        aux_params: Mapping[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copy values into arguments and auxiliary states by name.

        Raises:
            ArgumentError: A name is unknown and `allow_extra_params` is False.
            BindError: A value has another shape.
        """
        for kind, given, own in (
            ("argument", arg_params, self.arg_dict),
            ("auxiliary state", aux_params or {}, self.aux_dict),
        ):
            for name, value in given.items():
                if name in own:
                    _set_values(f"copy_params_from: {name!r}", own[name], value)
                elif not allow_extra_params:
                    raise ArgumentError(
                        f"copy_params_from: unknown {kind} {name!r}; expected {', '.join(own)}, "
                        "or pass allow_extra_params=True"
                    )

    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = False, **shapes: Any
    ) -> Executor:
        """An executor of the same graph for other input shapes, sharing memory with this one.

        Args:
            partial_shaping: Allow arguments not named in `shapes` to change their shape too.
            allow_up_sizing: Allow new memory for arrays that grow; the others stay shared.
            shapes: New shapes by argument name.
        Raises:
            BindError: An array would have to change that may not.
        """
        unknown = [name for name in shapes if name not in self.arg_dict]
        if unknown:
            raise BindError(
                f"reshape: unknown argument {unknown[0]!r}; expected some of {', '.join(self.arg_dict)}"
            )
        given = {name: tuple(shape) for name, shape in shapes.items()}
        arg_shapes, aux_shapes = complete_shapes(self._graph, given)
        refit = Refit(given, partial_shaping, allow_up_sizing)
        return Executor(
            self._graph,
            self._ctx,
            refit.all(self.arg_dict, arg_shapes),
            refit.all(self.grad_dict, arg_shapes),
            self._grad_req,
            refit.all(self.aux_dict, aux_shapes),
            self._group2ctx,
            self.pool,
        )

    @property
    def pool(self) -> Pool:
        """The blocks behind the memory plan, which another executor may share."""
        return self._layout.pool

    def debug_str(self) -> str:
        """The nodes in running order with their places in memory, and the bytes planned."""
        lines = [f"{node!r}: {', '.join(map(self._place, self._outputs_of(node)))}" for node in self._nodes()]
        plan = self.memory_plan
        outputs = sum(array._spec.nbytes for array in self.outputs)
        lines.append(f"Total {(plan.planned_bytes + outputs) / 2**20:.6g} MB allocated")
        return "\n".join(lines)

    def _nodes(self) -> list[Node]:
        return [*self._program.forward, *self._program.backward]

    def _outputs_of(self, node: Node) -> list[Entry]:
        return [Entry(node, i) for i in range(node.num_outputs) if self._program.is_written(node, i)]

    def _place(self, entry: Entry) -> str:
        request = self._program.plan.requests[entry.node, entry.index].name.lower()
        if entry in self._layout.bound:
            return f"{entry.name} ({request}, array)"
        place = self._program.plan.placement[entry]
        return f"{entry.name} ({request}, block {place.block} at {place.offset_bytes})"


def _set_values(what: str, target: NDArray, value: Any) -> None:
    shape = value.shape if isinstance(value, NDArray) else np.shape(value)
    if shape != target.shape:
        raise BindError(
            f"{what} has shape {shape}, expected {target.shape}; `reshape` makes another executor"
        )
    target[...] = value.detach() if isinstance(value, NDArray) else value


def _check_context(name: str, array: NDArray, ctx: Context) -> None:
    if array.context is not ctx:
        raise BindError(f"bind: {name!r} is on {array.context}, expected {ctx}; move it with as_in_context")


def _named_inputs(node: Node) -> list[tuple[str, Entry]]:
    """What a monitor calls the inputs of a node: as MXNet does, but each pair of names once."""
    if not isinstance(node, OpNode):
        return [(entry.name, entry) for entry in node.inputs]
    arguments = [*node.op.list_arguments(), *node.op.list_auxiliary_states()]
    found: dict[tuple[str, Entry], None] = {}
    for argument, entry in zip(arguments, node.inputs, strict=True):
        if isinstance(entry.node, Variable):
            found[entry.name, entry] = None
        found[f"{node.name}_{argument}", entry] = None
    return list(found)
