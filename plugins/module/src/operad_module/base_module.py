"""Base of all modules: the loop that trains, written on a handful of methods.

A subclass gives `bind`, `init_params`, `init_optimizer`, `forward`, `backward`, `update`, `get_outputs`,
`get_params`, `update_metric` and the properties of names and shapes; `fit`, `score` and `predict` follow.

Source: BaseModule, python/mxnet/module/base_module.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from operad.errors import ArgumentError
from operad.profiler import stage
from operad_module.checkpoint import BatchEndParam, load_named, save_named
from operad_module.exact_checkpoint import Checkpoint
from operad_module.inference import InferenceLoops, as_metric, call_each, each, global_values
from operad_module.interface import Params, small_uniform
from operad_module.own_loops import (  # noqa: F401 - for modules of a program's own
    _as_list,
    _check_input_names,
    _parse_data_desc,
)
from operad_module.progress import Callbacks, logged, watched
from operad_module.stopping import ending_early
from operad_module.training_state import TrainingState
from operad_module.updates import store_of
from operad_sdk.arguments import suggesting

StepMethods = Mapping[str, Any]
"""The methods that a step of training consists of, by name."""


def step_methods(cls: type[BaseModule]) -> StepMethods:
    """Those of a class, as they are now."""
    return {name: getattr(cls, name) for name in ("forward_backward", "forward", "backward", "update")}


class BaseModule(InferenceLoops):
    """A graph, or several, with parameters that a loop over batches trains. Made to be subclassed."""

    def forward_backward(self, data_batch: Any) -> None:
        """Compute outputs and gradients for a batch."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def _train_on(self, data_batch: Any) -> None:
        """Make a step of training: outputs and gradients for a batch, and the update."""
        self.forward_backward(data_batch)
        self.update()

    def _steps_by(self, methods: StepMethods) -> bool:
        """Return whether a step consists of these methods, which nobody has replaced."""
        return all(getattr(getattr(self, name), "__func__", None) is own for name, own in methods.items())

    @suggesting
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
        checkpoint: Checkpoint | None = None,
        resume: bool | str = False,
        count_padding: bool = False,
    ) -> None:
        """Train.

        Training that is resumed gives bit by bit the parameters of training without a break: all that decides
        how it goes on is part of a checkpoint. A callback that raises `callback.StopTraining` ends training.
        Each epoch's metrics and seconds are logged, on stderr where the program has not set up logging.

        Args:
            train_data: An iterator of batches.
            eval_data: Another one, scored after each epoch.
            eval_metric: What is shown of training: a metric, or a name.
            epoch_end_callback: Called with the epoch, symbol, arguments and auxiliary states.
            batch_end_callback: Called with a `BatchEndParam`; None: a bar of each epoch on a terminal, by
                `rich` where that is installed, and nothing elsewhere.
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
            checkpoint: Where and how often everything is written that training needs to go on.
            resume: True: go on from the newest checkpoint of `checkpoint`, if there is one. A prefix, or the
                path of a `.resume` file: go on from there. The epoch, parameters and all states are then
                those of the checkpoint, whatever the other arguments say.
            count_padding: Whether scores of `eval_data` count rows that only fill up the last batch, as
                MXNet's do.
        Raises:
            ArgumentError: `num_epoch` is not given, there is no checkpoint to go on from, or there are some
                that training from the beginning would be mixed up with.
            FormatError: The checkpoint is damaged, or that of another program.
            UnsupportedError: Part of the training cannot be written down.
        """
        if num_epoch is None:
            raise ArgumentError("fit: num_epoch is not given; say how many epochs to train, num_epoch=10")
        metric = as_metric(eval_metric)
        callbacks = (epoch_end_callback, batch_end_callback, eval_end_callback, eval_batch_end_callback)
        keeping = [one for given in callbacks for one in each(given)]
        if isinstance(kvstore, str) and "dist" in kvstore:
            kvstore = store_of(kvstore, num_contexts=1)  # workers agree on a checkpoint by it
        state = TrainingState(self, train_data, eval_data, metric, keeping, checkpoint, kvstore)
        saved = state.found(resume)
        if saved is not None:
            arg_params, aux_params, force_init = saved.arg_params, saved.aux_params, True
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
        state.epoch = begin_epoch
        if saved is None:
            state.check()
        else:
            state.restore(saved)
            self.logger.info(
                "Resumed from %r: epoch %d, %d batches of it done", saved.path, state.epoch, state.nbatch
            )
        validation_metric = metric if validation_metric is None else validation_metric
        num_batches: int | None = None  # as the epoch before had
        with logged(self.logger), ending_early(self.logger):
            for epoch in range(state.epoch, num_epoch):
                begun = time.perf_counter()
                with watched(batch_end_callback, num_batches) as batch_callbacks:
                    num_batches = self._train_epoch(
                        epoch, state, train_data, metric, batch_callbacks, monitor, sparse_row_id_fn
                    )
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
                        count_padding=count_padding,
                    )
                    for name, value in found:
                        self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
                train_data.reset()
                state.epoch_done(epoch)

    def _train_epoch(
        self,
        epoch: int,
        state: TrainingState,
        data: Any,
        metric: Any,
        batch_end_callback: Callbacks,
        monitor: Any,
        sparse_row_id_fn: Any,
    ) -> int:
        """Train an epoch; return the number of its batches."""
        nbatch = state.nbatch
        if nbatch == 0:
            metric.reset()
        batches = iter(data)
        data_batch = self._next(batches)
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            with stage("compute"):
                self._train_on(data_batch)
                self._show(metric, data_batch)
            is_due = state.count_batch()
            # Only now, since an iterator may fill the batch's arrays again; and after a checkpoint, if one
            # is due, since all that it holds stands between two batches.
            following = None if is_due else self._prepared(batches, sparse_row_id_fn)
            if monitor is not None:
                monitor.toc_print()
            if batch_end_callback is not None:
                call_each(batch_end_callback, BatchEndParam(epoch, nbatch, metric, locals()))
            nbatch += 1
            if is_due:
                state.batch_done(epoch, nbatch)
                following = self._prepared(batches, sparse_row_id_fn)
            data_batch = following
        if nbatch == 0:
            raise ArgumentError(
                f"fit: train_data has no batch for epoch {epoch}; call its reset() before fit, and give it "
                "at least as many rows as a batch has"
            )
        return nbatch

    @staticmethod
    def _next(batches: Iterator[Any]) -> Any:
        with stage("wait"):
            return next(batches, None)

    def _prepared(self, batches: Iterator[Any], sparse_row_id_fn: Any) -> Any:
        batch = self._next(batches)
        if batch is not None:
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
        return batch

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
