"""What all modules have in common: loops over batches, written on a handful of methods.

A subclass gives `bind`, `init_params`, `init_optimizer`, `forward`, `backward`, `update`, `get_outputs`,
`get_params`, `update_metric` and the properties of names and shapes; `fit`, `score` and `predict` follow.

Source: BaseModule, python/mxnet/module/base_module.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import operad as od
from operad import NDArray, nd
from operad.errors import ArgumentError
from operad_module.checkpoint import BatchEndParam, load_named, save_named
from operad_module.inputs import labels_of
from operad_module.interface import ModuleInterface, Params, small_uniform

Callbacks = Callable[..., Any] | Sequence[Callable[..., Any]] | None


class BaseModule(ModuleInterface):
    """A graph, or several, with parameters that a loop over batches trains. Made to be subclassed."""

    def forward_backward(self, data_batch: Any) -> None:
        """Compute outputs and gradients for a batch."""
        self.forward(data_batch, is_train=True)
        self.backward()

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
    ) -> list[tuple[str, float]]:
        """What a metric says of predictions for `eval_data`.

        Args:
            eval_data: An iterator of batches.
            eval_metric: A metric, or a name.
            num_batch: Number of batches; None for all.
            batch_end_callback: Called with a `BatchEndParam` after each batch.
            score_end_callback: Called with one at the end.
            reset: Whether to begin `eval_data` anew.
            epoch: What callbacks are told.
            sparse_row_id_fn: Handed to `prepare`.
        """
        self._need("score", params=True)
        if reset:
            eval_data.reset()
        metric = as_metric(eval_metric)
        metric.reset()
        actual_num_batch = 0
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            self._show(metric, batch)
            call_each(batch_end_callback, BatchEndParam(epoch, nbatch, metric, locals()))
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
            reset: Whether to begin `eval_data` anew.
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

    def fit(
        self,
        train_data: Any,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Callbacks = None,
        batch_end_callback: Callbacks = None,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        eval_end_callback: Callbacks = None,
        eval_batch_end_callback: Callbacks = None,
        initializer: Any = small_uniform,
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_rebind: bool = False,
        force_init: bool = False,
        begin_epoch: int = 0,
        num_epoch: int | None = None,
        validation_metric: Any = None,
        monitor: Any = None,
        sparse_row_id_fn: Any = None,
    ) -> None:
        """Train.

        Args:
            train_data: An iterator of batches.
            eval_data: Another one, scored after each epoch.
            eval_metric: What is shown of training: a metric, or a name.
            epoch_end_callback: Called with the epoch, symbol, arguments and auxiliary states.
            batch_end_callback: Called with a `BatchEndParam`.
            kvstore: See `init_optimizer`; so are `optimizer` and `optimizer_params`.
            optimizer: An optimizer, or a name.
            optimizer_params: Its arguments, as a mapping or as pairs.
            eval_end_callback: Called with a `BatchEndParam` after scoring.
            eval_batch_end_callback: Called with one after each batch of it.
            initializer: Called with each name and array for the values that parameters begin with.
            arg_params: Values of arguments to begin with instead; `aux_params` of auxiliary states.
            aux_params: See `arg_params`.
            allow_missing: Whether those may lack some.
            force_rebind: Bind again if bound.
            force_init: Initialize again if initialized.
            begin_epoch: Number of the first epoch.
            num_epoch: Number of the epoch before which training ends.
            validation_metric: Metric for `eval_data`; default: `eval_metric`.
            monitor: Watches the executors.
            sparse_row_id_fn: Handed to `prepare`.
        Raises:
            ArgumentError: `num_epoch` is not given.
        """
        if num_epoch is None:
            raise ArgumentError("fit: num_epoch is not given; say how many epochs to train, num_epoch=10")
        self.bind(
            data_shapes=train_data.provide_data,
            label_shapes=train_data.provide_label,
            for_training=True,
            force_rebind=force_rebind,
        )
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer, arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        metric = as_metric(eval_metric)
        validation_metric = metric if validation_metric is None else validation_metric
        for epoch in range(begin_epoch, num_epoch):
            begun = time.perf_counter()
            self._train_epoch(epoch, train_data, metric, batch_end_callback, monitor, sparse_row_id_fn)
            for name, value in global_values(metric):
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.perf_counter() - begun)
            # Contexts have auxiliary states of their own; from here on all have the average.
            arg_values, aux_values = self.get_params()
            self.set_params(arg_values, aux_values)
            call_each(epoch_end_callback, epoch, self.symbol, arg_values, aux_values)
            if eval_data is not None:
                found = self.score(
                    eval_data,
                    validation_metric,
                    batch_end_callback=eval_batch_end_callback,
                    score_end_callback=eval_end_callback,
                    epoch=epoch,
                )
                for name, value in found:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _train_epoch(
        self,
        epoch: int,
        data: Any,
        metric: Any,
        batch_end_callback: Callbacks,
        monitor: Any,
        sparse_row_id_fn: Any,
    ) -> None:
        metric.reset()
        batches = iter(data)
        data_batch, nbatch = next(batches, None), 0
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            following = next(batches, None)  # only now: the batch's arrays may be used for the next one
            if following is not None:
                self.prepare(following, sparse_row_id_fn=sparse_row_id_fn)
            self._show(metric, data_batch)
            if monitor is not None:
                monitor.toc_print()
            if batch_end_callback is not None:
                call_each(batch_end_callback, BatchEndParam(epoch, nbatch, metric, locals()))
            data_batch, nbatch = following, nbatch + 1

    def _show(self, metric: Any, data_batch: Any) -> None:
        if isinstance(data_batch, list):
            self.update_metric(metric, [labels_of(one) for one in data_batch], pre_sliced=True)
        else:
            self.update_metric(metric, labels_of(data_batch))

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set the values of parameters and auxiliary states by name; see `init_params`."""
        self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)

    def save_params(self, fname: str) -> None:
        """Write the parameters into a file that `load_params` and MXNet read."""
        save_named(fname, *self.get_params())

    def load_params(self, fname: str) -> None:
        """Set the parameters to what a file holds."""
        self.set_params(*load_named(fname))


def as_metric(metric: Any) -> Any:
    """A metric as it is, or the one of that name; a list of them as one."""
    if hasattr(metric, "update_dict") or hasattr(metric, "get_name_value"):
        return metric
    return od.metric.create(metric)


def global_values(metric: Any) -> list[tuple[str, float]]:
    """Names and values since the last `reset`, whatever callbacks have reset in between."""
    has_global = hasattr(metric, "get_global_name_value")
    return list(metric.get_global_name_value() if has_global else metric.get_name_value())


def call_each(callbacks: Callbacks, *args: Any) -> None:
    """Call a callback, or each of a list of them."""
    if callbacks is None:
        return
    for callback in callbacks if isinstance(callbacks, Sequence) else [callbacks]:
        callback(*args)
