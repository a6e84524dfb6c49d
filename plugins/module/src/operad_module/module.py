"""A module of one symbol: computation, and updates of its parameters.

Source: Module, python/mxnet/module/module.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operad import NDArray
from operad.errors import ArgumentError, FormatError
from operad_module.base_module import step_methods
from operad_module.checkpoint import load_checkpoint, save_checkpoint
from operad_module.context_states import context_states, load_context_states
from operad_module.inputs import Described, labels_of, with_shape
from operad_module.interface import BindRequest
from operad_module.underscored import Underscored
from operad_module.updates import Updates, optimizer_of, store_of


class Module(Underscored):
    """A symbol with parameters, data-parallel over its contexts.

    Args:
        symbol: The graph.
        data_names: Arguments that are data.
        label_names: Arguments that are labels.
        logger: Where messages go.
        context: A device, or a list of them; each gets its part of every batch.
        work_load_list: Shares of the contexts; default: equal.
        fixed_param_names: Parameters that are not trained.
        state_names: Arguments that persist between batches and are not trained.
        group2ctxs: Contexts of the groups that `__ctx_group__` names: a mapping from group to context or
            contexts, or one mapping per context.
        compression_params: How a store compresses gradients.
    """

    _loaded_states: str | None = None  # path of what `init_optimizer` is to read

    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any) -> Module:
        """A module of a checkpoint, to be bound.

        Args:
            prefix: Beginning of the checkpoint's paths.
            epoch: Its number.
            load_optimizer_states: Whether `init_optimizer` reads the states that were saved beside it.
            kwargs: Arguments of `Module`.
        """
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        made = Module(symbol, **kwargs)
        made._loaded, made.params_initialized = (arg_params, aux_params), True
        if load_optimizer_states:
            made._loaded_states = _states_path(prefix, epoch)
        return made

    def save_checkpoint(
        self, prefix: str, epoch: int, save_optimizer_states: bool = False, remove_amp_cast: bool = True
    ) -> None:
        """Write the symbol and the parameters, and the optimizer's states if wanted."""
        save_checkpoint(prefix, epoch, self._symbol, *self.get_params(), remove_amp_cast=remove_amp_cast)
        if save_optimizer_states:
            self.save_optimizer_states(_states_path(prefix, epoch))

    def _bind(self, request: BindRequest) -> None:
        super()._bind(request)
        if request.shared_module is not None and request.shared_module.optimizer_initialized:
            self.borrow_optimizer(request.shared_module)

    def _init_optimizer(self, *choice: Any) -> None:
        self._need("init_optimizer", params=True)
        kvstore, optimizer, optimizer_params, _ = choice
        group = self._exec_group
        store = store_of(kvstore, len(self._placement.contexts))
        size = group.batch_size
        if store is not None and "dist" in getattr(store, "type", "") and "_async" not in store.type:
            size *= store.num_workers
        names = dict(enumerate(group.param_names))
        chosen = optimizer_of(optimizer, optimizer_params, size, names, self._symbol, self.logger)
        self._updates = Updates(chosen, store, group, self._compression_params)
        self.optimizer_initialized = True
        if self._loaded_states is not None:
            self.load_optimizer_states(self._loaded_states)
            self._loaded_states = None

    def borrow_optimizer(self, shared_module: Module) -> None:
        """Use the optimizer, states and store of another module."""
        shared_module._need("borrow_optimizer", params=True, optimizer=True)
        self._updates, self.optimizer_initialized = shared_module._updates, True

    def _ready_updates(self, call: str) -> Updates:
        self._need(call, params=True, optimizer=True)
        assert self._updates is not None
        return self._updates

    def save_optimizer_states(self, fname: str) -> None:
        """Write the optimizer's states and counts, whole or not at all."""
        self._ready_updates("save_optimizer_states").save_states(fname)

    def load_optimizer_states(self, fname: str) -> None:
        """Read what `save_optimizer_states` wrote."""
        self._ready_updates("load_optimizer_states").load_states(fname)

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs for a batch, whose shapes may differ from those bound."""
        self._need("forward", params=True)
        self._fit_shapes(data_batch)
        self._exec_group.forward(data_batch, self.for_training if is_train is None else is_train)

    def _fit_shapes(self, batch: Any) -> None:
        group = self._exec_group
        if len(batch.data) != len(group.data_shapes):
            raise ArgumentError(
                f"forward: the batch has {len(batch.data)} arrays, expected {len(group.data_shapes)}: "
                f"{', '.join(self._data_names)}"
            )
        given = [*batch.data, *labels_of(batch)]
        bound = [*group.data_shapes, *group.label_shapes]
        if all(one.shape == array.shape for one, array in zip(bound, given, strict=False)):
            return
        data = list(map(with_shape, group.data_shapes, (array.shape for array in batch.data)))
        labels = list(map(with_shape, group.label_shapes, (array.shape for array in labels_of(batch))))
        self._exec_group.reshape(data, labels or self._labels_for(data))

    def _labels_for(self, data: Sequence[Described]) -> list[Described]:
        """Descriptions of the labels, of which a batch without labels gives no shapes."""
        known = {one.name: one.shape for one in data}
        shapes: Sequence[Any] = self._symbol.infer_shape_partial(**known)[0]
        inferred = dict(zip(self._symbol.list_arguments(), shapes, strict=True))
        labels = self._exec_group.label_shapes
        return [with_shape(one, inferred.get(one.name) or one.shape) for one in labels]

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients of the last forward."""
        super().backward([out_grads] if isinstance(out_grads, NDArray) else out_grads)

    def _train_on(self, data_batch: Any) -> None:
        """Make a step, as one program where that is the same; see `operad.TrainingProgram`."""
        updates, group = self._ready_updates("update"), self._exec_group
        is_alone = updates.store is None and len(group.execs) == 1 and len(group.trained) > 0
        if not is_alone or not self.for_training or not self._steps_by(_STEP):
            super()._train_on(data_batch)
            return
        self._fit_shapes(data_batch)
        self._exec_group.train(data_batch, updates.updater)

    def update(self) -> None:
        """Move the parameters along the gradients of the last backward."""
        self._ready_updates("update")(self._exec_group)

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states to arrays, or all to one number."""
        if (states is None) == (value is None):
            raise ArgumentError("set_states: give either states or value")
        super().set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Show a metric the labels and the outputs of the last forward."""
        self._exec_group.update_metric(eval_metric, labels or [], pre_sliced, self._label_names)

    def state_dict(self) -> dict[str, Any]:
        """State of training besides the parameters: states of updates, of batches, and of each context."""
        updates = self._ready_updates("state_dict")
        return {"updates": updates.state_dict(), "contexts": context_states(self._exec_group)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called, with the parameters of then.

        Raises:
            FormatError: It is the state of another module.
        """
        if not {"updates", "contexts"} <= set(state):
            raise FormatError(f"it has the state of another kind of module, with {sorted(state)}")
        self._ready_updates("load_state_dict").load_state_dict(state["updates"])
        load_context_states(self._exec_group, state["contexts"])

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch every executor."""
        self._need("install_monitor")
        self._exec_group.install_monitor(mon)


def _states_path(prefix: str, epoch: int) -> str:
    return f"{prefix}-{epoch:04d}.states"


_STEP = step_methods(Module)
