"""`FeedForward`: a model that is fitted to arrays, as older programs use it.

Source: FeedForward, python/mxnet/model.py. Differs: it trains by a `Module`, so `fit` logs the validation
metric itself; predictions of data in buckets are made by the symbol of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

import operad as od
from operad import Context, NDArray, Symbol, sym
from operad.errors import ArgumentError
from operad_module.bucketing_module import BucketingModule
from operad_module.checkpoint import load_checkpoint, save_checkpoint
from operad_module.errors import ModuleStateError
from operad_module.inputs import labels_of
from operad_module.interface import small_uniform
from operad_module.module import Module
from operad_module.progress import Callbacks


@final
class FeedForward:
    """A symbol and the values of its parameters.

    Args:
        symbol: The graph; its labels are what the data provides as such, or arguments that end in `label`. A
            function of a bucket's key gives that of each bucket; the data has a `default_bucket_key` then.
        ctx: A device, or a list of them.
        num_epoch: Number of the epoch before which training ends.
        epoch_size: Batches per epoch; None for all that the data has.
        optimizer: An optimizer, or a name.
        initializer: Called with each name and array for the values that parameters begin with.
        numpy_batch_size: Batch size for data that is given as arrays.
        arg_params: Values of arguments.
        aux_params: Values of auxiliary states.
        allow_extra_params: Whether those may have more than the symbol.
        begin_epoch: Number of the first epoch.
        kwargs: Arguments of the optimizer.
    """

    def __init__(
        self,
        symbol: Symbol | Callable[[Any], Symbol],
        ctx: Context | Sequence[Context] | None = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Any = small_uniform,
        numpy_batch_size: int = 128,
        arg_params: Mapping[str, NDArray] | None = None,
        aux_params: Mapping[str, NDArray] | None = None,
        allow_extra_params: bool = False,
        begin_epoch: int = 0,
        **kwargs: Any,
    ) -> None:
        self.symbol: Symbol | None = symbol if isinstance(symbol, Symbol) else None
        self.sym_gen = None if isinstance(symbol, Symbol) else symbol
        self.ctx = ctx
        self.num_epoch, self.epoch_size, self.begin_epoch = num_epoch, epoch_size, begin_epoch
        self.optimizer, self.initializer, self.kwargs = optimizer, initializer, kwargs
        self.numpy_batch_size, self.allow_extra_params = numpy_batch_size, allow_extra_params
        self.arg_params, self.aux_params = arg_params, aux_params

    def fit(
        self,
        X: Any,  # noqa: N803 - MXNet's name
        y: Any = None,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Callbacks = None,
        batch_end_callback: Callbacks = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Sequence[float] | None = None,
        monitor: Any = None,
        eval_end_callback: Callbacks = None,
        eval_batch_end_callback: Callbacks = None,
    ) -> None:
        """Train on arrays `X` and labels `y`, or on an iterator; see `BaseModule.fit`.

        Args:
            X: Data, or an iterator of batches.
            y: Labels of arrays.
            eval_data: An iterator, or a pair of arrays.
            eval_metric: A metric, or a name.
            epoch_end_callback: Called with the epoch, symbol, arguments and auxiliary states.
            batch_end_callback: Called with a `BatchEndParam`.
            kvstore: None, a name, or a store.
            logger: Where messages go; None for the root logger.
            work_load_list: Shares of the contexts.
            monitor: Watches the executors.
            eval_end_callback: Called after scoring.
            eval_batch_end_callback: Called after each batch of it.
        """
        train = self._batches(X, y, is_train=True)
        if self.epoch_size is not None:
            train = od.io.ResizeIter(train, self.epoch_size)
        if isinstance(eval_data, (tuple, list)):
            eval_data = self._batches(*eval_data)
        given = {} if logger is None else {"logger": logger}
        module = self._module(train, work_load_list=work_load_list, **given)
        module.fit(
            train,
            eval_data,
            eval_metric,
            epoch_end_callback,
            batch_end_callback,
            kvstore,
            self.optimizer,
            self.kwargs,
            eval_end_callback,
            eval_batch_end_callback,
            self.initializer,
            self.arg_params,
            self.aux_params,
            allow_missing=True,
            begin_epoch=self.begin_epoch,
            num_epoch=self.num_epoch,
            monitor=monitor,
        )
        self.arg_params, self.aux_params = module.get_params()

    def predict(
        self,
        X: Any,  # noqa: N803 - MXNet's name
        num_batch: int | None = None,
        return_data: bool = False,
        reset: bool = True,
    ) -> Any:
        """Outputs as NumPy arrays: one, or a list of several.

        Args:
            X: Data, or an iterator of batches.
            num_batch: Number of batches; None for all.
            return_data: Return the data and labels of the batches, too: outputs, data, labels.
            reset: Whether to begin an iterator again.
        """
        batches = self._batches(X)
        kinds: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        for outputs, _, batch in self._predictor(batches).iter_predict(batches, num_batch, reset):
            count = len(outputs[0])
            kinds[0].append([array.asnumpy() for array in outputs])
            if return_data:
                kinds[1].append([array[:count].asnumpy() for array in batch.data])
                kinds[2].append([array[:count].asnumpy() for array in labels_of(batch)])
        joined = [_joined(parts) for parts in kinds]
        return tuple(joined) if return_data else joined[0]

    def score(
        self,
        X: Any,  # noqa: N803 - MXNet's name
        eval_metric: Any = "acc",
        num_batch: int | None = None,
        batch_end_callback: Callbacks = None,
        reset: bool = True,
        count_padding: bool = False,
    ) -> Any:
        """Value of a metric on predictions for an iterator; see `BaseModule.score`."""
        batches = self._batches(X)
        found = self._predictor(batches).score(
            batches, eval_metric, num_batch, batch_end_callback, reset=reset, count_padding=count_padding
        )
        return found[0][1]

    def save(self, prefix: str, epoch: int | None = None, remove_amp_cast: bool = True) -> None:
        """Write a checkpoint; `epoch` is `num_epoch` if not given."""
        number = self.num_epoch if epoch is None else epoch
        if number is None:
            raise ArgumentError("FeedForward.save: give epoch, because the model has no num_epoch")
        arg_params, aux_params = self._values("save")
        if self.symbol is None:
            raise ModuleStateError("FeedForward.save: the function has given no symbol yet; call fit first")
        save_checkpoint(prefix, number, self.symbol, arg_params, aux_params, remove_amp_cast)

    @staticmethod
    def load(
        prefix: str, epoch: int, ctx: Context | Sequence[Context] | None = None, **kwargs: Any
    ) -> FeedForward:
        """The model of a checkpoint, which trains on from its epoch."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        return FeedForward(
            symbol, ctx, arg_params=arg_params, aux_params=aux_params, begin_epoch=epoch, **kwargs
        )

    @staticmethod
    def create(
        symbol: Symbol | Callable[[Any], Symbol],
        X: Any,  # noqa: N803 - MXNet's name
        y: Any = None,
        ctx: Context | Sequence[Context] | None = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Any = small_uniform,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Callbacks = None,
        batch_end_callback: Callbacks = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Sequence[float] | None = None,
        eval_end_callback: Callbacks = None,
        eval_batch_end_callback: Callbacks = None,
        **kwargs: Any,
    ) -> FeedForward:
        """A model that has been fitted; arguments are those of `FeedForward` and `fit`."""
        made = FeedForward(symbol, ctx, num_epoch, epoch_size, optimizer, initializer, **kwargs)
        made.fit(
            X,
            y,
            eval_data,
            eval_metric,
            epoch_end_callback,
            batch_end_callback,
            kvstore,
            logger,
            work_load_list,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
        )
        return made

    def _batches(self, data: Any, labels: Any = None, is_train: bool = False) -> Any:
        if hasattr(data, "provide_data"):
            return data
        if not isinstance(data, (np.ndarray, NDArray)):
            raise ArgumentError(
                f"FeedForward: the data is {type(data).__name__}, expected an array or an iterator of batches"
            )
        if labels is None and is_train:
            raise ArgumentError("FeedForward.fit: y is not given; arrays of data need an array of labels")
        size = min(len(data), self.numpy_batch_size)
        return od.io.NDArrayIter(
            data, labels, size, shuffle=is_train, last_batch_handle="roll_over" if is_train else "pad"
        )

    def _module(self, batches: Any, **given: Any) -> Module | BucketingModule:
        generate, key = self.sym_gen, getattr(batches, "default_bucket_key", None)
        if generate is not None:
            if key is None:
                raise ArgumentError(
                    "FeedForward: the symbol is a function of a bucket's key, and the data has no "
                    "default_bucket_key; give an iterator that has one, or a symbol"
                )
            with sym.NameManager():  # what the function leaves unnamed is called as in the buckets
                self.symbol = generate(key)
        assert self.symbol is not None
        names = [one[0] for one in batches.provide_data]
        labels = [one[0] for one in batches.provide_label or ()] or [
            name for name in self.symbol.list_arguments() if name.endswith("label") and name not in names
        ]
        if generate is None:
            return Module(self.symbol, names, labels, context=self.ctx, **given)
        return BucketingModule(lambda one: (generate(one), names, labels), key, context=self.ctx, **given)

    def _predictor(self, batches: Any) -> Module | BucketingModule:
        module = self._module(batches)
        module.bind(batches.provide_data, batches.provide_label or None, for_training=False)
        module.set_params(*self._values("predict"))
        return module

    def _values(self, call: str) -> tuple[Mapping[str, NDArray], Mapping[str, NDArray]]:
        if self.arg_params is None:
            raise ModuleStateError(
                f"FeedForward.{call}: the model has no parameters; call fit, or give arg_params"
            )
        return self.arg_params, self.aux_params or {}


def _joined(batches: list[list[Any]]) -> Any:
    joined = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
    return joined[0] if len(joined) == 1 else joined
