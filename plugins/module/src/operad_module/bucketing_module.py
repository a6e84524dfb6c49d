"""A symbol per bucket, such as a length of sequences, over one set of parameters.

The module of the default key is bound first and shares its arrays and memory with the others. So its bucket
must be the largest, and have every parameter.

Source: BucketingModule, python/mxnet/module/bucketing_module.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from operad import Context, NDArray, Symbol, nd, sym
from operad.errors import ArgumentError
from operad_module.base_module import step_methods
from operad_module.bucket_symbols import Generated, generator_of
from operad_module.checkpoint import load_params, params_path
from operad_module.delegating import DelegatingModule
from operad_module.errors import ModuleStateError
from operad_module.interface import BindRequest, Params
from operad_module.module import Module


class BucketingModule(DelegatingModule):
    """Modules of a family of symbols that share their parameters.

    Args:
        sym_gen: Called with a key; returns the symbol, the names of data and those of labels.
        default_bucket_key: The key of the largest bucket.
        logger: Where messages go. It and the other arguments are those of each `Module`.
    """

    _total_exec_bytes = 0

    def __init__(
        self,
        sym_gen: Callable[[Any], Generated],
        default_bucket_key: Any = None,
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        """Check the symbol of the default key.

        Raises:
            ArgumentError: There is no default key.
        """
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise ArgumentError("BucketingModule: default_bucket_key is not given; name the largest bucket")
        self._sym_gen, self._default_bucket_key = sym_gen, default_bucket_key
        self._arguments: dict[str, Any] = {
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        self._default = self._made(default_bucket_key)
        self._buckets: dict[Any, Module] = {}
        self._monitor: Any = None
        self._curr_bucket_key: Any = None
        self._grad_req: Any = "write"
        self._loaded: tuple[Params, Params] | None = None

    def _made(self, key: Any) -> Module:
        with sym.NameManager():  # so that what a program leaves unnamed is called the same in every bucket
            symbol, data_names, label_names = self._sym_gen(key)
        return Module(symbol, data_names, label_names, **self._arguments)

    @staticmethod
    def load(
        prefix: str,
        epoch: int,
        sym_gen: Callable[[Any], Generated] | None = None,
        default_bucket_key: Any = None,
        **kwargs: Any,
    ) -> BucketingModule:
        """A module with the parameters of a checkpoint, to be bound; see `load_dict`."""
        arg_params, aux_params = load_params(prefix, epoch)
        return BucketingModule.load_dict(
            sym_gen=sym_gen,
            default_bucket_key=default_bucket_key,
            arg_params=arg_params,
            aux_params=aux_params,
            **kwargs,
        )

    @staticmethod
    def load_dict(
        sym_dict: Mapping[Any, Symbol | Generated] | None = None,
        sym_gen: Callable[[Any], Generated] | None = None,
        default_bucket_key: Any = None,
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        **kwargs: Any,
    ) -> BucketingModule:
        """A module with given parameters, to be bound.

        Args:
            sym_dict: Symbols by key, in place of those that `sym_gen` returns; or, without it, what it would
                return.
            sym_gen: What `BucketingModule` takes; None: there are no other keys than those of `sym_dict`.
            default_bucket_key: The key of the largest bucket.
            arg_params: Values of arguments.
            aux_params: Values of auxiliary states.
            kwargs: Other arguments of `BucketingModule`.
        Raises:
            ArgumentError: Neither `sym_dict` nor `sym_gen` is given, or a symbol without names of its data.
        """
        made = BucketingModule(generator_of(sym_dict, sym_gen), default_bucket_key, **kwargs)
        made._loaded, made.params_initialized = (arg_params or {}, aux_params or {}), True
        return made

    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False) -> None:
        """Write the parameters, and the symbols as `save_symbols` does."""
        self._need("save_checkpoint", params=True)
        self.save_symbols(prefix)
        self.save_params(params_path(prefix, epoch))

    def save_symbols(self, prefix: str) -> None:
        """Write the symbol of each bucket bound as `prefix-KEY-symbol.json`.

        Keys that are numbers are listed in `prefix.buckets`.
        """
        for key, bucket in self._buckets.items():
            bucket.symbol.save(f"{prefix}-{key}-symbol.json")
        if all(isinstance(key, int) for key in self._buckets):
            nd.save(f"{prefix}.buckets", nd.array(list(self._buckets), dtype="int32"))

    def state_dict(self) -> dict[str, Any]:
        """State of training besides the parameters, which all buckets share; see `Module.state_dict`."""
        return self._default.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called."""
        self._default.load_state_dict(state)

    def _chosen(self, call: str) -> Module:
        self._need(call)
        return self._buckets[self._curr_bucket_key]

    @property
    def _curr_module(self) -> Module | None:
        return self._buckets.get(self._curr_bucket_key)

    @property
    def data_names(self) -> list[str]:
        """Names of the data of the present bucket, or of the default one."""
        return self._present.data_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs of the present bucket, or of the default one."""
        return self._present.output_names

    @property
    def _present(self) -> Module:
        return self._buckets.get(self._curr_bucket_key, self._default)

    def _bind(self, request: BindRequest) -> None:
        """Bind the default bucket; others follow when their batches come."""
        if request.shared_module is not None:
            raise ArgumentError("bind: a BucketingModule cannot take another module's arrays")
        self._buckets, self._grad_req = {self._default_bucket_key: self._default}, request.grad_req
        self._default._bind(replace(request, force_rebind=True))
        self._curr_bucket_key = self._default_bucket_key
        self._set_bound(request)
        if self._loaded is not None:
            loaded, self._loaded = self._loaded, None
            self.set_params(*loaded)

    def switch_bucket(
        self, bucket_key: Any, data_shapes: Iterable[Any], label_shapes: Iterable[Any] | None = None
    ) -> None:
        """Go over to a bucket, which is bound if it is new."""
        self._need("switch_bucket")
        if bucket_key not in self._buckets:
            made = self._made(bucket_key)
            made.bind(
                data_shapes,
                label_shapes,
                self.for_training,
                self.inputs_need_grad,
                shared_module=self._default,
                grad_req=self._grad_req,
            )
            if self._monitor is not None:
                made.install_monitor(self._monitor)
            self._buckets[bucket_key] = made
        self._curr_bucket_key = bucket_key

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Bind the bucket of a batch that comes next."""
        self._need("prepare", params=True)
        present = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_bucket_key = present

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """See `BaseModule.get_params`; before `bind` those that were loaded."""
        if self._loaded is None or self.binded:
            return super().get_params()
        arguments, states = ({name: array.copy() for name, array in some.items()} for some in self._loaded)
        return arguments, states

    def _init_params(self, *given: Any) -> None:
        self._need("init_params")
        self._default.init_params(*given)
        for bucket in self._buckets.values():
            bucket.params_initialized = True

    def _init_optimizer(self, *choice: Any) -> None:
        self._need("init_optimizer", params=True)
        self._default.init_optimizer(*choice)
        for bucket in self._buckets.values():
            if bucket is not self._default:
                bucket.borrow_optimizer(self._default)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs for a batch by the module of its `bucket_key`."""
        self._need("forward", params=True)
        self._switch_to(data_batch)
        self._chosen("forward").forward(data_batch, is_train)

    def _switch_to(self, data_batch: Any) -> None:
        if not hasattr(data_batch, "bucket_key"):
            raise ModuleStateError("forward: the batch has no bucket_key, which selects its symbol")
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)

    def _train_on(self, data_batch: Any) -> None:
        """Make a step with the bucket of a batch."""
        if not self._steps_by(_STEP):
            super()._train_on(data_batch)
            return
        self._switch_to(data_batch)
        self._chosen("forward")._train_on(data_batch)

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch the executors of all buckets, also of those to come."""
        self._need("install_monitor")
        self._monitor = mon
        for bucket in self._buckets.values():
            bucket.install_monitor(mon)


_STEP = step_methods(BucketingModule)
