"""Modules in a chain: the outputs of each are the data of the next.

Source: SequentialModule, python/mxnet/module/sequential_module.py.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from typing import Any, Final, Self

import operad as od
from operad import NDArray
from operad.errors import FormatError, GraphError
from operad_module.base_module import BaseModule
from operad_module.errors import ModuleStateError
from operad_module.inputs import described
from operad_module.interface import BindRequest


class SequentialModule(BaseModule):
    """A chain of modules, made by `add`."""

    META_TAKE_LABELS: Final = "take_labels"
    META_AUTO_WIRING: Final = "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger=logger)
        self._modules: list[Any] = []
        self._metas: list[dict[str, Any]] = []
        self._label_shapes: list[Any] = []

    def add(self, module: Any, **kwargs: Any) -> Self:
        """Put a module at the end.

        Args:
            module: A module that is not bound yet.
            kwargs: `take_labels=True` gives it the labels of the batch; `auto_wiring=True` names its data
                as it expects, whatever the outputs before it are called.
        Returns:
            The chain, so that calls can follow each other.
        Raises:
            GraphError: A keyword is something else.
        """
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            if key not in known:
                raise GraphError(
                    f"SequentialModule.add: unknown keyword {key!r}; expected {', '.join(known)}"
                )
        self._modules.append(module)
        self._metas.append(kwargs)
        # state change: the chain is another one, and starts over.
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    def _takes_labels(self, i: int) -> bool:
        return bool(self._metas[i].get(self.META_TAKE_LABELS))

    @property
    def data_names(self) -> list[str]:
        """Names of the data of the first module."""
        return list(self._modules[0].data_names) if self._modules else []

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs of the last module."""
        return list(self._modules[-1].output_names) if self._modules else []

    @property
    def data_shapes(self) -> Any:
        """Descriptions of the data of the first module."""
        self._need("data_shapes")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> Any:
        """Descriptions of the labels."""
        self._need("label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """Names and shapes of the outputs of the last module."""
        self._need("output_shapes")
        return self._modules[-1].output_shapes

    def _bind(self, request: BindRequest) -> None:
        """Bind one module after the other, each for the outputs of the one before."""
        if request.shared_module is not None:
            raise GraphError("bind: a SequentialModule cannot take another module's arrays")
        if not self._modules:
            raise ModuleStateError("bind: the chain is empty; call add first")
        labels = described(request.label_shapes)
        shapes = described(request.data_shapes)
        for i, module in enumerate(self._modules):
            if self._metas[i].get(self.META_AUTO_WIRING):
                names = module.data_names
                shapes = [od.io.DataDesc(name, one.shape) for name, one in zip(names, shapes, strict=True)]
            module.bind(
                shapes,
                labels if self._takes_labels(i) else None,
                request.for_training,
                request.inputs_need_grad or (request.for_training and i > 0),
                request.force_rebind,
                grad_req=request.grad_req,
            )
            shapes = described(module.output_shapes)
        self._label_shapes = labels if any(map(self._takes_labels, range(len(self._modules)))) else []
        self._set_bound(request)

    def _init_params(self, *given: Any) -> None:
        self._need("init_params")
        owners: dict[str, int] = {}
        for i, module in enumerate(self._modules):
            module.init_params(*given)
            for params in module.get_params():
                for name in params:
                    if owners.setdefault(name, i) != i:
                        raise GraphError(
                            f"SequentialModule: modules {owners[name]} and {i} both have a parameter "
                            f"{name!r}; rename one"
                        )

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Copies of the parameters and of the auxiliary states of all modules."""
        self._need("get_params", params=True)
        args: dict[str, NDArray] = {}
        aux: dict[str, NDArray] = {}
        for module in self._modules:
            own_args, own_aux = module.get_params()
            args.update(own_args)
            aux.update(own_aux)
        return args, aux

    def _init_optimizer(self, *choice: Any) -> None:
        self._need("init_optimizer", params=True)
        for module in self._modules:
            module.init_optimizer(*choice)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of one module after the other."""
        self._need("forward", params=True)
        batch = copy.copy(data_batch)
        for module in self._modules[:-1]:
            module.forward(batch, is_train)
            batch.data = module.get_outputs()
            if getattr(batch, "provide_data", None):
                names = [name for name, _ in module.output_shapes]
                batch.provide_data = [
                    od.io.DataDesc(name, array.shape) for name, array in zip(names, batch.data, strict=True)
                ]
        self._modules[-1].forward(batch, is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Compute gradients, from the last module to the first."""
        self._need("backward", params=True)
        for i, module in reversed(list(enumerate(self._modules))):
            module.backward(out_grads)
            if i > 0:
                out_grads = module.get_input_grads()

    def update(self) -> None:
        """Move the parameters of every module."""
        self._need("update", params=True, optimizer=True)
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The outputs of the last module."""
        self._need("get_outputs", params=True)
        return list(self._modules[-1].get_outputs(merge_multi_context))

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Gradients of the data of the first module."""
        self._need("get_input_grads", params=True)
        self._need_input_grads()
        return list(self._modules[0].get_input_grads(merge_multi_context))

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Show a metric the labels and the outputs of each module that takes labels."""
        self._need("update_metric", params=True)
        for i, module in enumerate(self._modules):
            if self._takes_labels(i):
                module.update_metric(eval_metric, labels, pre_sliced)

    def state_dict(self) -> dict[str, Any]:
        """State of each module that training needs to go on besides the parameters."""
        return {"modules": [module.state_dict() for module in self._modules]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called, with the parameters of then.

        Raises:
            FormatError: It is the state of another chain.
        """
        states = state.get("modules", ())
        if len(states) != len(self._modules):
            raise FormatError(
                f"it has states of {len(states)} modules in a chain, expected {len(self._modules)}"
            )
        for module, own in zip(self._modules, states, strict=True):
            module.load_state_dict(own)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch the executors of every module."""
        self._need("install_monitor")
        for module in self._modules:
            module.install_monitor(mon)
