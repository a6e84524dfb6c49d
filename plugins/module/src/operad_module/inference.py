"""Loops that compute outputs and learn nothing: `score`, `iter_predict`, `predict`.

Source: BaseModule, python/mxnet/module/base_module.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import operad as od
from operad import NDArray, nd
from operad.errors import ArgumentError
from operad_module.checkpoint import BatchEndParam
from operad_module.inputs import batch_axis, batch_size, described, labels_of
from operad_module.interface import ModuleInterface
from operad_module.progress import Callbacks, watched
from operad_module.unpadded import Unpadded, padding_of
from operad_sdk.arguments import suggesting


class InferenceLoops(ModuleInterface):
    """Loops over batches, written on `forward`, `get_outputs` and `update_metric`."""

    @suggesting
    def score(
        self,
        eval_data: Any,
        eval_metric: Any,
        num_batch: int | None = None,
        batch_end_callback: Callbacks = None,
        score_end_callback: Callbacks = None,
        reset: bool = True,
        epoch: int = 0,
        sparse_row_id_fn: Any = None,
        count_padding: bool = False,
    ) -> list[tuple[str, float]]:
        """Values of a metric on predictions for `eval_data`.

        Rows that only fill up the last batch are left out, unless the first axis of labels and outputs is
        not the batch's.

        Args:
            eval_data: An iterator of batches.
            eval_metric: A metric, or a name.
            num_batch: Number of batches; None for all.
            batch_end_callback: Called with a `BatchEndParam` after each batch; None: a bar on a terminal.
            score_end_callback: Called with one at the end.
            reset: Whether to begin `eval_data` again.
            epoch: What callbacks are told.
            sparse_row_id_fn: Handed to `prepare`.
            count_padding: Whether to count rows that only fill up the last batch, as MXNet does.
        """
        self._need("score", params=True)
        if reset:
            eval_data.reset()
        metric = as_metric(eval_metric)
        metric.reset()
        actual_num_batch = 0
        with watched(batch_end_callback, num_batch, "Score[{}]") as callbacks:
            for nbatch, eval_batch in enumerate(eval_data):  # callbacks find it in the locals
                if nbatch == num_batch:
                    break
                self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
                self.forward(eval_batch, is_train=False)
                self._show(metric, eval_batch, 0 if count_padding else padding_of(eval_batch, eval_data))
                call_each(callbacks, BatchEndParam(epoch, nbatch, metric, locals()))
                actual_num_batch = nbatch + 1
        call_each(score_end_callback, BatchEndParam(epoch, actual_num_batch, metric, locals()))
        return global_values(metric)

    def iter_predict(
        self, eval_data: Any, num_batch: int | None = None, reset: bool = True, sparse_row_id_fn: Any = None
    ) -> Iterator[tuple[list[NDArray], int, Any]]:
        """Outputs without padding, number and batch, one by one; the next overwrites the outputs."""
        self._need("iter_predict", params=True)
        if reset:
            eval_data.reset()
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                return
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            pad = getattr(batch, "pad", None) or 0
            yield [out[: out.shape[0] - pad] for out in self.get_outputs()], nbatch, batch

    @suggesting
    def predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        sparse_row_id_fn: Any = None,
    ) -> Any:
        """Outputs for `eval_data`.

        Args:
            eval_data: An iterator of batches, or an array that is one batch.
            num_batch: Number of batches; None for all.
            merge_batches: Join the outputs of the batches; else a list per batch.
            reset: Whether to begin `eval_data` again.
            always_output_list: Give a list even for a single output.
            sparse_row_id_fn: Handed to `prepare`.
        Raises:
            ArgumentError: Batches have different numbers of outputs, so that they cannot be joined.
        """
        self._need("predict", params=True)
        if isinstance(eval_data, (NDArray, np.ndarray)):
            data = eval_data if isinstance(eval_data, NDArray) else nd.array(eval_data)
            self.forward(od.io.DataBatch([data]), is_train=False)
            return self.get_outputs()[0].copy()
        found = [
            [out.copy() for out in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not found or not merge_batches:
            return found
        if len({len(outputs) for outputs in found}) > 1:
            raise ArgumentError(
                "predict: batches have different numbers of outputs, as buckets may; give merge_batches=False"
            )
        merged = [nd.concat(*parts, dim=0) for parts in zip(*found, strict=True)]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    def _show(self, metric: Any, data_batch: Any, padding: int = 0) -> None:
        layouts = [*described(self.data_shapes), *described(self.label_shapes)] if padding else []
        if padding and not any(batch_axis(one.layout) for one in layouts):
            metric = Unpadded(metric, batch_size(described(self.data_shapes)), padding)
        if isinstance(data_batch, list):
            self.update_metric(metric, [labels_of(one) for one in data_batch], pre_sliced=True)
        else:
            self.update_metric(metric, labels_of(data_batch))


def as_metric(metric: Any) -> Any:
    """A metric as it is, or the one of that name; a list of them as one."""
    if hasattr(metric, "update_dict") or hasattr(metric, "get_name_value"):
        return metric
    return od.metric.create(metric)


def global_values(metric: Any) -> list[tuple[str, float]]:
    """Names and values since the last `reset`, whatever callbacks have reset in between."""
    has_global = hasattr(metric, "get_global_name_value")
    return list(metric.get_global_name_value() if has_global else metric.get_name_value())


def each(callbacks: Callbacks) -> Sequence[Callable[..., Any]]:
    """Callbacks as a list: none, one, or several."""
    if callbacks is None:
        return ()
    return callbacks if isinstance(callbacks, Sequence) else [callbacks]


def call_each(callbacks: Callbacks, *args: Any) -> None:
    """Call a callback, or each of a list of them."""
    for callback in each(callbacks):
        callback(*args)
