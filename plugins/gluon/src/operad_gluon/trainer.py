"""Training loops' optimizer: gradients of parameters become steps of them, on one context or several.

Source: python/mxnet/gluon/trainer.py. Differs: a gradient counts as new when it was written at all since the
last step, by backward or by the program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import operad as od
from operad import Context
from operad.files import read_bytes, write_atomically
from operad_gluon.errors import BlockValueError, ParameterError
from operad_gluon.parameter import Parameter
from operad_gluon.parameter.listing import listed

_LARGEST_ON_LOCAL = 16 * 1024 * 1024
"""Elements of a parameter above which a store called "local" does not run the optimizer."""


@final
class Trainer:
    """An optimizer of some parameters.

    >>> import operad as od
    >>> net = od.gluon.nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> trainer = od.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    >>> with od.autograd.record():
    ...     loss = net(od.nd.ones((4, 2))).sum()
    >>> loss.backward()
    >>> trainer.step(batch_size=4)
    >>> trainer.learning_rate
    0.1

    Args:
        params: The parameters, as `Block.collect_params` gives them, or a list of some.
        optimizer: The optimizer, or its name.
        optimizer_params: Arguments of the named one.
        kvstore: Store that sums gradients of several contexts or workers, its name, or None.
        compression_params: Compression of what is sent to the store.
        update_on_kvstore: Whether the store runs the optimizer; by default where it can.
    """

    def __init__(
        self,
        params: Any,
        optimizer: Any,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: Any = "device",
        compression_params: Mapping[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        self._params = listed(params)
        self._param2idx = {param.name: i for i, param in enumerate(self._params)}
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        if not isinstance(optimizer_params or {}, Mapping):
            raise ParameterError(
                f"Trainer: optimizer_params is {optimizer_params!r}, expected a dict such as "
                "{'learning_rate': 0.1}"
            )
        options = dict(optimizer_params or {})
        self._optimizer = self._optimizer_of(optimizer, options, optimizer_params)
        self._scale = self._optimizer.rescale_grad
        self._updaters = [od.optimizer.get_updater(self._optimizer) for _ in self._contexts]
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._distributed, self._kv_initialized = False, False
        self._params_to_init = list(range(len(self._params)))

    def _check_contexts(self) -> list[Context]:
        contexts: list[Context] | None = None
        for param in self._params:
            own = param.list_ctx()
            if contexts is not None and own != contexts:
                raise ParameterError(
                    "All Parameters must be initialized on the same set of contexts, but Parameter "
                    f"{param.name} is initialized on {own} while previous Parameters are initialized on "
                    f"{contexts}."
                )
            contexts = own
        return contexts or []

    def _optimizer_of(self, optimizer: Any, options: Mapping[str, Any], given: Any) -> Any:
        numbered = dict(enumerate(self._params))
        if isinstance(optimizer, str):
            return od.optimizer.create(optimizer, param_dict=numbered, **options)
        if given:
            raise ParameterError(
                "optimizer_params must be None if optimizer is an instance of Optimizer instead of str"
            )
        optimizer.param_dict = numbered
        return optimizer

    @property
    def learning_rate(self) -> float:
        """The optimizer's learning rate, as its schedule has it now."""
        rate: float = self._optimizer.learning_rate
        return rate

    @property
    def optimizer(self) -> Any:
        """The optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Set the optimizer's learning rate.

        Raises:
            UserWarning: It has a schedule, which decides the rate.
        """
        if self._optimizer.lr_scheduler is not None:
            raise UserWarning(
                "LRScheduler of the optimizer has already been defined, and decides the learning rate; set "
                "lr_scheduler.base_lr, or make a Trainer without a schedule"
            )
        self._optimizer.set_learning_rate(lr)

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Sum gradients over contexts and workers, and move the parameters.

        Args:
            batch_size: Samples of all contexts, by which gradients are divided.
            ignore_stale_grad: Whether parameters whose gradients are not new are left alone in silence.
        Raises:
            UserWarning: A gradient was not written since the last step.
        """
        self._rescale(batch_size)
        self._prepare()
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Sum gradients over contexts and workers, where they are; then `update` moves the parameters.

        Raises:
            ParameterError: The store moves the parameters.
        """
        self._prepare()
        self._refuse_on_store("allreduce_grads()")
        self._allreduce_grads()

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Move the parameters by gradients that `allreduce_grads` has summed; see `step`.

        Raises:
            ParameterError: The store moves the parameters.
        """
        self._prepare()
        self._refuse_on_store("update()")
        self._rescale(batch_size)
        self._update(ignore_stale_grad)

    def _refuse_on_store(self, what: str) -> None:
        if self._kvstore is not None and self._update_on_kvstore:
            raise ParameterError(
                f"{what} when parameters are updated on kvstore is not supported. Try setting "
                "`update_on_kvstore` to "
                "False when creating trainer."
            )

    def _rescale(self, batch_size: int) -> None:
        scale = self._scale / batch_size
        if self._update_on_kvstore and self._distributed and self._optimizer.rescale_grad != scale:
            raise UserWarning(
                "Possible change in the `batch_size` from previous `step` detected. Optimizer gradient "
                "normalizing "
                "factor will not change w.r.t new batch_size when update_on_kvstore=True and when "
                "distributed kvstore "
                "is used."
            )
        self._optimizer.rescale_grad = scale

    def _prepare(self) -> None:
        """Make the store, and have it know the parameters that have values by now."""
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _init_kvstore(self) -> None:
        store, asked = self._kvstore_params["kvstore"], self._kvstore_params["update_on_kvstore"]
        if store is None and asked:
            raise BlockValueError("Trainer: update_on_kvstore=True needs a store; pass kvstore='device'")
        if isinstance(store, str):
            is_needed = len(self._contexts) > 1 or "dist" in store
            store = od.kvstore.create(store) if is_needed else None
        self._kv_initialized = True
        if store is None:
            self._params_to_init = []
            return
        self._kvstore = store
        kind = getattr(store, "type", "")
        self._distributed = "dist" in kind
        self._update_on_kvstore = self._runs_on_store(store, kind, asked)
        if "async" in kind and not self._update_on_kvstore:
            raise BlockValueError("Please set update_on_kvstore to True when training in async mode.")
        if self._compression_params:
            store.set_gradient_compression(self._compression_params)
        if self._update_on_kvstore:
            store.set_optimizer(self._optimizer)

    def _runs_on_store(self, store: Any, kind: str, asked: bool | None) -> bool:
        can = not hasattr(store, "is_capable") or store.is_capable("optimizer")
        if asked is not None:
            if asked and not can:
                raise BlockValueError(
                    f"Trainer: a store of type {kind!r} runs no optimizer; pass update_on_kvstore=False"
                )
            return asked
        if kind == "local" and any(
            x.size > _LARGEST_ON_LOCAL for p in self._params if p._data is not None for x in p._data
        ):
            return False
        return can and os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1") != "0"

    def _init_params(self) -> None:
        waiting = [i for i in self._params_to_init if self._params[i]._data is None]
        for i in self._params_to_init:
            if i not in waiting:
                arrays = self._params[i].list_data()
                self._kvstore.broadcast(i, arrays[0], arrays)
        self._params_to_init = waiting

    def _trained(self) -> list[tuple[int, Parameter]]:
        return [(i, param) for i, param in enumerate(self._params) if param.grad_req != "null"]

    def _allreduce_grads(self) -> None:
        if self._kvstore is None:
            return
        trained = self._trained()
        keys, grads = [i for i, _ in trained], [param.list_grad() for _, param in trained]
        if self._update_on_kvstore:
            self._kvstore.push(keys, grads)
            return
        # The store writes all gradients, and what was stale before is so after.
        stale = [param for _, param in trained if not param._has_new_gradients()]
        self._kvstore.pushpull(keys, grads)
        for param in stale:
            param._note_gradients()

    def _update(self, ignore_stale_grad: bool) -> None:
        trained = self._trained()
        if self._kvstore is not None and self._update_on_kvstore:
            keys, values = [i for i, _ in trained], [param.list_data() for _, param in trained]
            self._kvstore.pull(keys, values)
            return
        moved = [(i, param) for i, param in trained if self._is_moved(param, ignore_stale_grad)]
        indices = [i for i, _ in moved]
        grads, weights = (
            [*map(of, [p for _, p in moved])] for of in (Parameter.list_grad, Parameter.list_data)
        )
        of_contexts = self._updaters, self._contexts, zip(*grads, strict=True), zip(*weights, strict=True)
        for updater, ctx, own_grads, own_weights in zip(*of_contexts, strict=bool(moved)):
            self._optimizer._set_current_context(ctx.device_id)
            updater(indices, own_grads, own_weights)

    def _is_moved(self, param: Parameter, ignore_stale_grad: bool) -> bool:
        """Return whether all gradients of a parameter were new, which they are no more.

        Raises:
            UserWarning: They were not, and that is not ignored.
        """
        if param._take_gradients():
            return True
        if not ignore_stale_grad:
            raise UserWarning(
                f"Gradient of Parameter `{param.name}` on context {param.list_ctx()[0]} has not been updated "
                "by backward since last `step`. This could mean a bug in your model that made it only use a "
                "subset of the Parameters (Blocks) for this iteration. If you are intentionally only using a "
                "subset, call step with ignore_stale_grad=True to suppress this warning and skip updating of "
                "Parameters with stale gradient"
            )
        return False

    def save_states(self, fname: str) -> None:
        """Write what the optimizer keeps of the parameters, and its settings."""
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
        else:
            write_atomically(fname, self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname: str) -> None:
        """Take over what `save_states` wrote."""
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            return
        states = read_bytes(Path(fname), f"optimizer states {fname!r}")
        for updater, ctx in zip(self._updaters, self._contexts, strict=True):
            self._optimizer._set_current_context(ctx.device_id)  # counts of updates are each context's own
            updater.set_states(states)
