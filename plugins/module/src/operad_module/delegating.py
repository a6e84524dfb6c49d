"""A module that hands calls on to what computes: another one, which may change, or executors."""

from __future__ import annotations

from typing import Any

from operad import NDArray, Symbol
from operad_module.base_module import BaseModule


class DelegatingModule(BaseModule):
    """Computation by the module, or the group of executors, that `_chosen` names."""

    def _chosen(self, call: str) -> Any:
        """The module, or the executors, that answer `call`, which needs a bound module."""
        raise NotImplementedError

    def _ready(self, call: str, optimizer: bool = False) -> Any:
        """The module that answers `call`, which needs parameters, and an optimizer if so said."""
        self._need(call, params=True, optimizer=optimizer)
        return self._chosen(call)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol of the present module."""
        symbol: Symbol | None = self._chosen("symbol").symbol
        return symbol

    @property
    def data_shapes(self) -> Any:
        """Descriptions of the data of the present module."""
        return self._chosen("data_shapes").data_shapes

    @property
    def label_shapes(self) -> Any:
        """Descriptions of the labels of the present module."""
        return self._chosen("label_shapes").label_shapes

    @property
    def output_shapes(self) -> Any:
        """Names and shapes of the outputs of the present module."""
        return self._chosen("output_shapes").output_shapes

    def summary(self) -> Any:
        """Layers of the present module as a table; see `Module.summary`."""
        return self._chosen("summary").summary()

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Copies of the parameters and of the auxiliary states on the host, by name."""
        found: tuple[dict[str, NDArray], dict[str, NDArray]] = self._ready("get_params").get_params()
        return found

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients of the last forward."""
        self._ready("backward").backward(out_grads)

    def update(self) -> None:
        """Move the parameters along the gradients of the last backward."""
        self._ready("update", optimizer=True).update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The outputs of the last forward."""
        return list(self._ready("get_outputs").get_outputs(merge_multi_context))

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Gradients of the data."""
        chosen = self._ready("get_input_grads")
        self._need_input_grads()
        return list(chosen.get_input_grads(merge_multi_context))

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The values of the states."""
        return list(self._ready("get_states").get_states(merge_multi_context))

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states to arrays, or all to one number."""
        self._ready("set_states").set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Show a metric the labels and the outputs of the last forward."""
        self._ready("update_metric").update_metric(eval_metric, labels, pre_sliced)
