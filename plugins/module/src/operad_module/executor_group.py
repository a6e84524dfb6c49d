"""The executors of a module, one per context, each for its part of the batch.

Every context has the whole graph and all parameters. A batch is cut along the batch's axis; outputs
and gradients of inputs are joined again. Executors for other shapes share the parameters with the first
ones, and are kept: a shorter last batch costs its compilation once, not once per epoch.

Source: DataParallelExecutorGroup, python/mxnet/module/executor_group.py. Differs: executors of earlier
shapes are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

from operad import Context, Executor, NDArray, Symbol
from operad_module.batch_loading import (  # noqa: F401 - for groups of a program's own
    _load_data,
    _load_general,
    _load_label,
)
from operad_module.bound_executors import BoundExecutors, Trained
from operad_module.device_arrays import average, check_shared, copy_values
from operad_module.executor_results import ExecutorResults
from operad_module.inputs import (
    Described,
    Shape,
    batch_axis,
    batch_size,
    described,
    even_slices,
    labels_of,
    part,
    part_shape,
    part_shapes,
    requests_of,
    shapes_key,
)
from operad_module.placement import placement_of

_KEPT_SHAPES: Final = 16


@final
class DataParallelExecutorGroup(ExecutorResults):
    """Executors that run a graph on parts of a batch.

    Attributes:
        param_names: Arguments that are neither data nor labels nor states.
    """

    _total_exec_bytes = 0

    def __init__(
        self,
        symbol: Symbol,
        contexts: Sequence[Context],
        workload: Sequence[float] | None,
        data_shapes: Iterable[Any],
        label_shapes: Iterable[Any] | None,
        param_names: Sequence[str],
        for_training: bool,
        inputs_need_grad: bool,
        shared_group: DataParallelExecutorGroup | None = None,
        logger: Any = None,
        fixed_param_names: Sequence[str] | None = None,
        grad_req: Any = "write",
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
    ) -> None:
        """Bind.

        Args:
            workload: The share of each context; None: even ones.
            data_shapes: Descriptions of the data, or pairs of a name and a shape; so `label_shapes`.
            shared_group: Executors whose arrays and memory are used too.
            logger: Not used.
            grad_req: How gradients are written: of all, or by name, or in the order of the arguments.
        """
        placement = placement_of(list(contexts), workload, group2ctxs)
        data_shapes, label_shapes = described(data_shapes), described(label_shapes)
        self.symbol, self.contexts = symbol, list(placement.contexts)
        self.param_names, self.state_names = list(param_names), list(state_names or ())
        self.aux_names, self.output_names = symbol.list_auxiliary_states(), symbol.list_outputs()
        self._placement, self._for_training = placement, for_training
        self._arguments = symbol.list_arguments()
        trained = {*param_names}.difference(fixed_param_names or ())
        trained.update(one.name for one in data_shapes if inputs_need_grad)
        requests = requests_of(grad_req if for_training else "null", self._arguments)
        self._requests = {name: requests[name] if name in trained else "null" for name in self._arguments}
        self._output_axes = [batch_axis(output.attr("__layout__")) for output in symbol]
        self._monitors: list[Any] = []
        slices = even_slices(batch_size([*data_shapes, *label_shapes]), placement.workload)
        execs = [
            self._bind(i, cut, [*data_shapes, *label_shapes], shared_group) for i, cut in enumerate(slices)
        ]
        self._first = self._now = BoundExecutors(
            data_shapes, label_shapes, slices, execs, self._trained(execs)
        )
        self._kept = {shapes_key(data_shapes, label_shapes): self._first}

    def _bind(
        self, i: int, cut: slice, inputs: Sequence[Described], shared: DataParallelExecutorGroup | None
    ) -> Executor:
        inputs = [one for one in inputs if one.name in self._arguments]
        lender = None if shared is None else shared.execs[i]
        shapes: dict[str, Any] = part_shapes(inputs, cut)
        made = self.symbol.simple_bind(
            ctx=self.contexts[i],
            grad_req=self._requests,
            type_dict={one.name: one.dtype for one in inputs},
            group2ctx=self._placement.groups[i],
            shared_exec=lender,
            **shapes,
        )
        if lender is not None:
            check_shared(made, lender, self.param_names)
        return made

    @property
    def execs(self) -> list[Executor]:
        """The executors of the batch's present shapes, in the order of the contexts."""
        return list(self._now.execs)

    @property
    def slices(self) -> list[slice]:
        """The part of the batch that each executor has."""
        return list(self._now.slices)

    @property
    def data_shapes(self) -> Sequence[Described]:
        """Descriptions of a whole batch's data, as they are bound now."""
        return self._now.data_shapes

    @property
    def label_shapes(self) -> Sequence[Described]:
        """Descriptions of a whole batch's labels."""
        return self._now.label_shapes

    @property
    def batch_size(self) -> int:
        """The length of a whole batch."""
        return int(self._now.slices[-1].stop)

    @property
    def output_shapes(self) -> list[tuple[str, Shape]]:
        """Names and shapes of the outputs for a whole batch."""
        shapes = [output.shape for output in self._now.execs[0].outputs]
        whole = slice(0, self.batch_size)
        return [
            (name, part_shape(shape, axis, whole))
            for name, shape, axis in zip(self.output_names, shapes, self._output_axes, strict=True)
        ]

    @property
    def param_arrays(self) -> list[list[NDArray]]:
        """For each parameter its arrays, one per context."""
        return [[one.arg_dict[name] for one in self._now.execs] for name in self.param_names]

    @property
    def grad_arrays(self) -> list[list[NDArray | None]]:
        """For each parameter its gradients, one per context; None where none is computed."""
        return [[one.grad_dict[name] for one in self._now.execs] for name in self.param_names]

    @property
    def trained(self) -> Sequence[Trained]:
        """The parameters whose gradients are computed."""
        return self._now.trained

    @property
    def aux_arrays(self) -> list[list[NDArray]]:
        """For each auxiliary state its arrays, one per context."""
        return [[one.aux_dict[name] for one in self._now.execs] for name in self.aux_names]

    def reshape(self, data_shapes: Sequence[Described], label_shapes: Sequence[Described]) -> None:
        """Go over to executors for other shapes, of the same parameters.

        Raises:
            BindError: A parameter would have to change its shape.
        """
        key = shapes_key(data_shapes, label_shapes)
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _KEPT_SHAPES:
                self._kept = {shapes_key(self._first.data_shapes, self._first.label_shapes): self._first}
            found = self._kept[key] = self._reshaped(data_shapes, label_shapes)
        self._now = found

    def _reshaped(
        self, data_shapes: Sequence[Described], label_shapes: Sequence[Described]
    ) -> BoundExecutors:
        inputs = [one for one in (*data_shapes, *label_shapes) if one.name in self._arguments]
        slices = even_slices(batch_size(inputs), self._placement.workload)
        execs = []
        for cut, first in zip(slices, self._first.execs, strict=True):
            shapes = part_shapes(inputs, cut)
            found: Sequence[Any] = self.symbol.infer_shape_partial(**shapes)[0]
            inferred = dict(zip(self._arguments, found, strict=True))
            others: dict[str, Any] = {
                name: inferred[name] for name in self._arguments if name not in self.param_names
            }
            execs.append(first.reshape(allow_up_sizing=True, **{**others, **shapes}))
        for monitor in self._monitors:
            for made in execs:
                monitor.install(made)
        return BoundExecutors(data_shapes, label_shapes, slices, execs, self._trained(execs))

    def _trained(self, execs: Sequence[Executor]) -> list[Trained]:
        found: list[Trained] = []
        for i, name in enumerate(self.param_names):
            grads = [grad for one in execs if (grad := one.grad_dict[name]) is not None]
            if grads:
                found.append((i, name, [one.arg_dict[name] for one in execs], grads))
        return found

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Copy a batch into the executors' arrays and run them; in training unless told, if bound for it."""
        is_train = self._for_training if is_train is None else is_train
        self._load_batch(data_batch)
        for one in self._now.execs:
            one.forward(is_train)

    def _load_batch(self, batch: Any) -> None:
        self._load(self._now.data_shapes, batch.data)
        self._load(self._now.label_shapes, labels_of(batch))

    def _load(self, descriptions: Sequence[Described], arrays: Sequence[Any]) -> None:
        now = self._now
        for one, source in zip(descriptions, arrays, strict=False):
            if one.name not in self._arguments:
                continue
            if len(now.execs) == 1:
                copy_values(source, now.execs[0].arg_dict[one.name])
                continue
            axis = batch_axis(one.layout)
            for executor, cut in zip(now.execs, now.slices, strict=True):
                copy_values(part(source, axis, cut), executor.arg_dict[one.name])

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Compute gradients; `out_grads` are those of the outputs for a whole batch."""
        for i, (one, cut) in enumerate(zip(self._now.execs, self._now.slices, strict=True)):
            if out_grads is None:
                one.backward()
                continue
            parts = [
                part(grad, axis, cut).as_in_context(self.contexts[i])
                for grad, axis in zip(out_grads, self._output_axes, strict=False)
            ]
            one.backward(parts)

    def train(self, data_batch: Any, updater: Any) -> None:
        """Copy a batch into the only executor's arrays, and make a step of training with an updater."""
        self._load_batch(data_batch)
        self._now.train(updater)

    def install_monitor(self, monitor: Any) -> None:
        """Let a monitor watch every executor."""
        self._monitors.append(monitor)
        for bound in self._kept.values():
            for one in bound.execs:
                monitor.install(one)

    def set_params(
        self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray], allow_extra: bool = False
    ) -> None:
        """Copy parameters and auxiliary states into the arrays of every executor."""
        for one in self._now.execs:
            one.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(
        self, arg_params: Mapping[str, NDArray] | None = None, aux_params: Mapping[str, NDArray] | None = None
    ) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Parameters and auxiliary states: new arrays on the host, averages over the contexts.

        Args:
            arg_params: Arrays that are given the values, too; so `aux_params`.
        """
        found = (
            dict(zip(self.param_names, map(average, self.param_arrays), strict=True)),
            dict(zip(self.aux_names, map(average, self.aux_arrays), strict=True)),
        )
        for values, given in zip(found, (arg_params, aux_params), strict=True):
            for name in values.keys() & (given or {}):
                values[name].copyto((given or {})[name])
        return found
