"""Modules whose computation is Python code, for chains: losses, pre-processing.

Source: PythonModule and PythonLossModule, python/mxnet/module/python_module.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operad import NDArray, nd
from operad.errors import BindError, FormatError
from operad_module.base_module import BaseModule
from operad_module.inputs import described
from operad_module.interface import BindRequest


class PythonModule(BaseModule):
    """A module without parameters. Made to be subclassed.

    A subclass gives `forward`, `backward`, `get_outputs`, `get_input_grads` and `_compute_output_shapes`.

    Args:
        data_names: Names of the data.
        label_names: Names of the labels; None for none.
        output_names: Names of the outputs.
        logger: Where messages go.
    """

    def __init__(
        self,
        data_names: Sequence[str],
        label_names: Sequence[str] | None,
        output_names: Sequence[str],
        logger: Any = logging,
    ) -> None:
        super().__init__(logger=logger)
        self._data_names, self._label_names = list(data_names), list(label_names or ())
        self._output_names = list(output_names)
        self._data_shapes: list[Any] = []
        self._label_shapes: list[Any] = []
        self._output_shapes: list[Any] = []

    @property
    def data_names(self) -> list[str]:
        """Names of the data."""
        return self._data_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[Any]:
        """Descriptions of the data."""
        return self._data_shapes

    @property
    def label_shapes(self) -> list[Any]:
        """Descriptions of the labels."""
        return self._label_shapes

    @property
    def output_shapes(self) -> list[Any]:
        """Names and shapes of the outputs."""
        return self._output_shapes

    def _compute_output_shapes(self) -> list[Any]:
        """Names and shapes of the outputs, from the descriptions of data and labels."""
        raise self._lacking("_compute_output_shapes")

    def _bind(self, request: BindRequest) -> None:
        """Take note of shapes."""
        if request.grad_req != "write":
            raise BindError(
                f"bind: grad_req is {request.grad_req!r}; Python modules only write their gradients"
            )
        data, labels = described(request.data_shapes), described(request.label_shapes)
        if [one.name for one in data] != self._data_names:
            raise BindError(
                f"bind: data_shapes describes {[one.name for one in data]}, expected {self._data_names}"
            )
        self._data_shapes, self._label_shapes = data, labels
        self._output_shapes = self._compute_output_shapes()
        self._set_bound(request)

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """No parameters."""
        return {}, {}

    def _init_params(self, *given: Any) -> None:
        """Nothing to do."""

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Nothing to do."""
        self.optimizer_initialized = True

    def update(self) -> None:
        """Nothing to do."""

    def state_dict(self) -> dict[str, Any]:
        """Nothing; a subclass that remembers something from batch to batch gives that."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called.

        Raises:
            FormatError: It is the state of a module that remembers something.
        """
        if state:
            raise FormatError(f"it has a state of {sorted(state)}, and {type(self).__name__} has none")

    def install_monitor(self, mon: Any) -> None:
        """Nothing to watch."""

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Show a metric the labels and outputs, where there are labels."""
        if not self._label_shapes:
            return
        if pre_sliced:
            raise BindError(
                "update_metric: Python modules run on one context; give labels that are not sliced"
            )
        eval_metric.update_dict(
            dict(zip(self._label_names, labels, strict=False)),
            dict(zip(self._output_names, self.get_outputs(), strict=True)),
        )


class PythonLossModule(PythonModule):
    """A loss whose gradient is a function of scores and labels; its output is its data.

    Args:
        name: Its output is called `NAME_output`.
        data_names: One name, of the scores.
        label_names: One name, of the labels.
        logger: Where messages go.
        grad_func: Called with scores and labels; returns the gradient of the scores.
    """

    def __init__(
        self,
        name: str = "pyloss",
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",),
        logger: Any = logging,
        grad_func: Callable[[NDArray, NDArray], Any] | None = None,
    ) -> None:
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        if len(self._data_names) != 1 or len(self._label_names) != 1:
            raise BindError("PythonLossModule: give one name of data and one of labels")
        self._grad_func = grad_func
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None

    def _compute_output_shapes(self) -> list[Any]:
        return [(self._output_names[0], self._data_shapes[0].shape)]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Keep the scores, and the labels when training."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The scores."""
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradient of the scores.

        Raises:
            BindError: A gradient of the loss is given, which has none.
        """
        if out_grads is not None:
            raise BindError("backward: a loss takes no gradient of its output")
        self._need("backward")
        self._backward_impl()

    def _backward_impl(self) -> None:
        if self._grad_func is None:
            raise self._lacking("_backward_impl, or grad_func")
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, NDArray) else nd.array(grad)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradient of the scores."""
        return [self._scores_grad]
