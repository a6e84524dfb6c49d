"""Interface of a module: the methods that every kind of module gives, and the order of their calls.

Source: BaseModule, python/mxnet/module/base_module.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import operad as od
from operad import NDArray, Symbol
from operad.errors import UnsupportedError
from operad_module.errors import ModuleStateError, no_copy
from operad_sdk.arguments import Suggesting
from operad_sdk.notebook import html_table

Params = Mapping[str, NDArray]


def small_uniform(desc: str, arr: NDArray) -> None:
    """The initializer where none is given: `Uniform(0.01)`."""
    od.init.Uniform(0.01)(desc, arr)


@dataclass(frozen=True, slots=True)
class BindRequest:
    """Arguments of `bind`, as they were given."""

    data_shapes: Iterable[Any]
    label_shapes: Iterable[Any] | None
    for_training: bool
    inputs_need_grad: bool
    force_rebind: bool
    shared_module: Any
    grad_req: Any


class ModuleInterface(metaclass=Suggesting):
    """The methods of a module. Loops over batches are `BaseModule`'s.

    Attributes:
        binded: Whether there are executors.
        for_training: Whether they compute gradients.
        inputs_need_grad: Whether they compute the gradients of data as well.
        params_initialized: Whether parameters have values.
        optimizer_initialized: Whether `update` can be called.
    """

    _owns_params: ClassVar[bool] = False  # if so, it says when they are not initialized again
    binded = False
    for_training = False
    inputs_need_grad = False
    params_initialized = False
    optimizer_initialized = False

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self._symbol: Symbol | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse copies and pickles: executors are bound to memory, and stores to processes."""
        raise no_copy(self)

    def __repr__(self) -> str:
        if not self.binded:
            return f"<{type(self).__name__}, not bound>"
        inputs = [*self.data_shapes, *self.label_shapes]
        shown = [f"{name} {tuple(shape)}" for name, shape, *_ in inputs]
        states = {"initialized": self.params_initialized, "with an optimizer": self.optimizer_initialized}
        shown += [state for state, is_so in states.items() if is_so]
        return f"<{type(self).__name__}: {', '.join(shown)}>"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, object]] = []
        if self.binded:
            kinds = {"data": self.data_shapes, "label": self.label_shapes, "output": self.output_shapes}
            facts = [(f"{kind} {name}", shape) for kind, all_ in kinds.items() for name, shape, *_ in all_]
        steps = ("binded", "for_training", "params_initialized", "optimizer_initialized")
        return html_table(type(self).__name__, [*facts, *((step, getattr(self, step)) for step in steps)])

    def _need(self, call: str, *, params: bool = False, optimizer: bool = False) -> None:
        """Raise ModuleStateError unless the steps that `call` needs were taken."""
        if self.binded and self.params_initialized and (self.optimizer_initialized or not optimizer):
            return  # the usual case, at every call of a loop
        lacks = {"bind": not self.binded, "init_params": params and not self.params_initialized}
        lacks["init_optimizer"] = optimizer and not self.optimizer_initialized
        for step, is_lacking in lacks.items():
            if is_lacking:
                raise ModuleStateError(
                    f"{call}: call {step} first; the order is bind, init_params, init_optimizer"
                )

    def _need_input_grads(self) -> None:
        if not self.inputs_need_grad:
            raise ModuleStateError("get_input_grads: they are not computed; bind with inputs_need_grad=True")

    @property
    def symbol(self) -> Symbol | None:
        """The symbol; None where there is not one."""
        return self._symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data that a batch has."""
        raise self._lacking("data_names")

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        raise self._lacking("output_names")

    @property
    def data_shapes(self) -> Any:
        """Descriptions of the data, pairs of names and shapes."""
        raise self._lacking("data_shapes")

    @property
    def label_shapes(self) -> Any:
        """Descriptions of the labels; empty where there are none."""
        raise self._lacking("label_shapes")

    @property
    def output_shapes(self) -> Any:
        """Pairs of names and shapes of the outputs."""
        raise self._lacking("output_shapes")

    def bind(
        self,
        data_shapes: Iterable[Any],
        label_shapes: Iterable[Any] | None = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Make the executors.

        Args:
            data_shapes: Descriptions of the data, or pairs of names and shapes.
            label_shapes: The same of the labels.
            for_training: Whether gradients are computed.
            inputs_need_grad: Whether gradients of the data are.
            force_rebind: Bind again if bound.
            shared_module: A bound module whose parameters, memory and optimizer are used too.
            grad_req: `write`, `add` or `null`, for all, as a list, or by name.
        Raises:
            BindError: Names are not those of the module, batches differ in length, or a `PythonModule` is
                to add gradients.
            ModuleStateError: The shared module is not bound, or a chain is empty.
            ArgumentError: `shared_module` is given to a `BucketingModule`.
            GraphError: `shared_module` is given to a `SequentialModule`.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        request = BindRequest(
            data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, shared_module, grad_req
        )
        self._bind(request)

    def _bind(self, request: BindRequest) -> None:
        """Do what `bind` says, as this kind of module does."""
        raise self._lacking("bind")

    def _set_bound(self, request: BindRequest) -> None:
        self.binded, self.for_training = True, request.for_training
        self.inputs_need_grad = request.inputs_need_grad

    def init_params(
        self,
        initializer: Any = small_uniform,
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Give the parameters and auxiliary states their first values.

        Args:
            initializer: Called with each name and array; None leaves those without a value as they are.
            arg_params: Values of arguments that come before the initializer's.
            aux_params: Values of auxiliary states.
            allow_missing: Whether those may lack some, which the initializer then gives.
            force_init: Initialize again if initialized.
            allow_extra: Whether those may have more.
        Raises:
            MissingParameterError: A parameter has no value among those given.
            GraphError: Two modules of a chain have a parameter of the same name.
        """
        if self.params_initialized and not force_init:
            if self._owns_params:
                self.logger.warning(
                    "Parameters are already initialized; init_params with force_init=False is ignored"
                )
            return
        self._init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        self.params_initialized = True

    def _init_params(self, *given: Any) -> None:
        """Do what `init_params` says, whose arguments these are, in their order."""
        raise self._lacking("init_params")

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Copies of the parameters and of the auxiliary states on the host, by name."""
        raise self._lacking("get_params")

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Choose the optimizer, and the store that sums gradients.

        Args:
            kvstore: None, a name, or an object with `init`, `push` and `pull`.
            optimizer: An optimizer, or a name.
            optimizer_params: Arguments of the named one, as a mapping or as pairs. Without `rescale_grad`
                gradients are divided by the batch's size, in all buckets by that of the default one.
            force_init: Choose again if chosen.
        """
        if self.optimizer_initialized and not force_init:
            self.logger.warning("The optimizer is already initialized; init_optimizer is ignored")
            return
        self._init_optimizer(kvstore, optimizer, optimizer_params, force_init)

    def _init_optimizer(self, *choice: Any) -> None:
        """Do what `init_optimizer` says, whose arguments these are, in their order."""
        raise self._lacking("init_optimizer")

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs for a batch.

        Args:
            data_batch: Has `data` and `label`, lists of arrays.
            is_train: Default: as bound.
        """
        raise self._lacking("forward")

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients of the last forward; `out_grads` are those of outputs that are no losses."""
        raise self._lacking("backward")

    def update(self) -> None:
        """Move the parameters along their gradients."""
        raise self._lacking("update")

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The outputs of the last forward; joined, or for each a list of one per context."""
        raise self._lacking("get_outputs")

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Gradients of the data, like `get_outputs`."""
        raise self._lacking("get_input_grads")

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Show a metric the labels and the outputs of the last forward."""
        raise self._lacking("update_metric")

    def state_dict(self) -> dict[str, Any]:
        """State besides the parameters that training needs to go on, such as states of the optimizer."""
        raise self._lacking("state_dict")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called, with the parameters of then."""
        raise self._lacking("load_state_dict")

    def save_symbols(self, prefix: str) -> None:
        """Write the symbols that a checkpoint has, beginning with `prefix`."""
        if self.symbol is not None:
            self.symbol.save(f"{prefix}-symbol.json")

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch every executor."""
        raise self._lacking("install_monitor")

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Get ready for a batch before it comes, such as by binding its bucket."""

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The values of the states, which persist between batches; like `get_outputs`."""
        self._need("get_states", params=True)
        return []

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states to arrays, or all to one number."""
        self._need("set_states", params=True)

    def _lacking(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"{type(self).__name__} does not give {what!r}, which a module must")
