"""Loss scaling of a module."""

from __future__ import annotations

from typing import Any

from operad.errors import ArgumentError, UnsupportedError
from operad_mxnet.contrib.amp.loss_scaler import LossScaler

_STATE = "_amp_scale_scale"


def init_trainer(module: Any, loss_scaler: LossScaler | None = None) -> LossScaler:
    """Have `module.update` scale its losses: a step whose gradients overflow is left out.

    Args:
        module: A `Module` with parameters and optimizer, of a symbol that `convert_symbol(...,
        scale_loss=True)`
            made.
        loss_scaler: The number and how it changes; None: MXNet's.
    Returns:
        The scaler.

    Raises:
        ArgumentError: The module has no optimizer yet, or its losses are not made to be scaled.
        UnsupportedError: A store moves the weights; give `init_optimizer(kvstore=None)`.

    Source: init_trainer, python/mxnet/contrib/amp/amp.py, which takes a trainer of Gluon.
    """
    if not getattr(module, "optimizer_initialized", False):
        raise ArgumentError("amp.init_trainer: the module has no optimizer; call init_optimizer before")
    updates = module._updates
    if updates.is_on_store:
        raise UnsupportedError(
            "amp.init_trainer: the store moves the weights, and cannot leave out a step; call "
            "init_optimizer(kvstore=None), which sums gradients of several contexts too"
        )
    if not any(name.endswith(_STATE) for name in module.symbol.list_auxiliary_states()):
        raise ArgumentError(
            "amp.init_trainer: the symbol has no loss that is scaled; make it by "
            "amp.convert_symbol(symbol, scale_loss=True)"
        )
    scaler = loss_scaler or LossScaler()
    move, rescale_grad = module.update, updates.optimizer.rescale_grad

    def write() -> None:
        for executor in module._exec_group.execs:
            for name, state in executor.aux_dict.items():
                if name.endswith(_STATE):
                    state[:] = scaler.loss_scale

    def update() -> None:
        gradients = [grad for *_, grads in module._exec_group.trained for grad in grads]
        is_skipped = scaler.has_overflow(gradients)
        if not is_skipped:
            updates.optimizer.rescale_grad = rescale_grad / scaler.loss_scale
            try:
                move()
            finally:
                updates.optimizer.rescale_grad = rescale_grad
        scaler.update_scale(is_skipped)
        write()

    module.update = update
    write()
    return scaler
