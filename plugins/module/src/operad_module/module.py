"""A symbol, its parameters, and the executors that train it on one or several devices.

Source: Module, python/mxnet/module/module.py. Differs: the parameters live in the executors only;
`get_params` gives copies.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from operad import Context, NDArray, Symbol
from operad.errors import ArgumentError, BindError
from operad_module import parameters
from operad_module.base_module import BaseModule
from operad_module.checkpoint import load_checkpoint, save_checkpoint
from operad_module.errors import ModuleStateError
from operad_module.executor_group import DataParallelExecutorGroup
from operad_module.inputs import Described, check_described, check_names, described, with_shape
from operad_module.interface import Params, small_uniform
from operad_module.placement import placement_of
from operad_module.updates import Updates, optimizer_of, store_of


class Module(BaseModule):
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

    def __init__(
        self,
        symbol: Symbol,
        data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        """Check names.

        Raises:
            BindError: The symbol has no argument of a name given, other than a label.
        """
        super().__init__(logger=logger)
        self._placement = placement_of(context, work_load_list, group2ctxs)
        self._symbol: Symbol = symbol
        self._data_names, self._label_names = list(data_names or ()), list(label_names or ())
        self._state_names, self._fixed_param_names = list(state_names or ()), list(fixed_param_names or ())
        known = symbol.list_arguments()
        inputs = {"data_names": self._data_names, "state_names": self._state_names}
        for what, names in {**inputs, "fixed_param_names": self._fixed_param_names}.items():
            if message := check_names(what, names, known):
                raise BindError(message)
        if message := check_names("label_names", self._label_names, known):
            self.logger.warning(message)
        given = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in known if name not in given]
        self._compression_params = compression_params
        self._group: DataParallelExecutorGroup | None = None
        self._loaded: tuple[Params, Params] | None = None  # values that wait for executors
        self._loaded_states: str | None = None
        self._updates: Updates | None = None

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

    @property
    def _exec_group(self) -> DataParallelExecutorGroup:
        assert self._group is not None
        return self._group

    @property
    def symbol(self) -> Symbol:
        """The graph."""
        return self._symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data that a batch has."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels that a batch has."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._symbol.list_outputs()

    @property
    def data_shapes(self) -> Sequence[Described]:
        """Descriptions of the data, as bound now."""
        self._need("data_shapes")
        return self._exec_group.data_shapes

    @property
    def label_shapes(self) -> Sequence[Described]:
        """Descriptions of the labels, as bound now."""
        self._need("label_shapes")
        return self._exec_group.label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs for a whole batch."""
        self._need("output_shapes")
        return self._exec_group.output_shapes

    def bind(
        self,
        data_shapes: Iterable[Any],
        label_shapes: Iterable[Any] | None = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Module | None = None,
        grad_req: Any = "write",
    ) -> None:
        """Make the executors; see `BaseModule.bind`.

        Raises:
            BindError: Names are not those of the module, or batches differ in length.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if inputs_need_grad and not for_training:
            raise BindError("bind: inputs_need_grad=True needs for_training=True")
        if shared_module is not None and not shared_module.binded:
            raise ModuleStateError("bind: the shared module is not bound; call its bind first")
        data, labels = described(data_shapes), described(label_shapes)
        check_described("data_shapes", data, self._data_names)
        check_described("label_shapes", labels, self._label_names if label_shapes is not None else [])
        if self.binded and self.params_initialized:
            self._loaded = self.get_params()
        self._group = DataParallelExecutorGroup(
            self._symbol,
            self._placement,
            data,
            labels,
            self._param_names,
            self._state_names,
            self._requests(grad_req if for_training else "null", inputs_need_grad),
            None if shared_module is None else shared_module._exec_group,
        )
        self.binded, self.for_training, self.inputs_need_grad = True, for_training, inputs_need_grad
        if shared_module is not None and shared_module.params_initialized:
            self.params_initialized = True
        elif self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            self.set_params(*loaded)
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)

    def _requests(self, grad_req: Any, inputs_need_grad: bool) -> dict[str, str]:
        names = self._symbol.list_arguments()
        if isinstance(grad_req, str):
            requests = dict.fromkeys(names, grad_req)
        elif isinstance(grad_req, Mapping):
            requests = {name: grad_req.get(name, "null") for name in names}
        else:
            requests = dict(zip(names, grad_req, strict=True))
        untrained = {*self._label_names, *self._state_names, *self._fixed_param_names}
        if not inputs_need_grad:
            untrained.update(self._data_names)
        return {name: "null" if name in untrained else request for name, request in requests.items()}

    def reshape(self, data_shapes: Iterable[Any], label_shapes: Iterable[Any] | None = None) -> None:
        """Go over to other shapes of data and labels; the parameters stay."""
        self._need("reshape")
        data, labels = described(data_shapes), described(label_shapes)
        check_described("data_shapes", data, self._data_names)
        self._exec_group.reshape(data, labels)

    def init_params(
        self,
        initializer: Any = small_uniform,
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Give parameters their first values; see `BaseModule.init_params`.

        Values for what the symbol does not have are ignored, as in MXNet: one file of parameters serves
        the parts of a network.

        Raises:
            MissingParameterError: A parameter has no value among those given.
        """
        if self.params_initialized and not force_init:
            self.logger.warning(
                "Parameters are already initialized; init_params with force_init=False is ignored"
            )
            return
        self._need("init_params")
        group, attributes = self._exec_group, self._symbol.attr_dict()
        kinds = (
            ("parameter", dict(zip(group.param_names, group.param_arrays, strict=True)), arg_params),
            ("auxiliary state", dict(zip(group.aux_names, group.aux_arrays, strict=True)), aux_params),
        )
        for kind, arrays, given in kinds:
            parameters.check(kind, arrays, given, allow_missing)
        for _, arrays, given in kinds:
            parameters.fill(arrays, given, initializer, attributes)
        self.params_initialized = True

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set parameters and auxiliary states by name.

        Raises:
            MissingParameterError: A parameter has no value, and `allow_missing` is False.
            UnknownParameterError: A value is for something else, which with `allow_missing` is taken for a
                misspelt name unless `allow_extra` is True.
        """
        if allow_missing and not allow_extra and self.binded:
            parameters.check_known("parameter", self._param_names, arg_params or {})
            parameters.check_known("auxiliary state", self._exec_group.aux_names, aux_params or {})
        super().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Copies of the parameters and of the auxiliary states on the host, by name."""
        self._need("get_params", params=True)
        return self._exec_group.get_params()

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Choose the optimizer; gradients are divided by the batch's size unless `rescale_grad` is given."""
        self._need("init_optimizer", params=True)
        if self.optimizer_initialized and not force_init:
            self.logger.warning("The optimizer is already initialized; init_optimizer is ignored")
            return
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

    @property
    def _optimizer(self) -> Any:
        return None if self._updates is None else self._updates.optimizer

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
        given = [*batch.data, *(batch.label or ())]
        bound = [*group.data_shapes, *group.label_shapes]
        if all(one.shape == array.shape for one, array in zip(bound, given, strict=False)):
            return
        data = list(map(with_shape, group.data_shapes, (array.shape for array in batch.data)))
        labels = list(map(with_shape, group.label_shapes, (array.shape for array in batch.label or ())))
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
        self._need("backward", params=True)
        if isinstance(out_grads, NDArray):
            out_grads = [out_grads]
        self._exec_group.backward(out_grads)

    def update(self) -> None:
        """Move the parameters along the gradients of the last backward."""
        self._ready_updates("update")(self._exec_group)

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The outputs of the last forward; the next one overwrites them."""
        self._need("get_outputs", params=True)
        return self._exec_group.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Gradients of the data; the next backward overwrites them."""
        self._need("get_input_grads", params=True)
        if not self.inputs_need_grad:
            raise ModuleStateError("get_input_grads: they are not computed; bind with inputs_need_grad=True")
        return self._exec_group.get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The values of the states."""
        self._need("get_states", params=True)
        return self._exec_group.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states to arrays, or all to one number."""
        self._need("set_states", params=True)
        if (states is None) == (value is None):
            raise ArgumentError("set_states: give either states or value")
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Show a metric the labels and the outputs of the last forward."""
        self._exec_group.update_metric(eval_metric, labels or [], pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch every executor."""
        self._need("install_monitor")
        self._exec_group.install_monitor(mon)


def _states_path(prefix: str, epoch: int) -> str:
    return f"{prefix}-{epoch:04d}.states"
