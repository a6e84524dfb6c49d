"""`mx.model`: checkpoints and `FeedForward`."""

from operad_module.checkpoint import BatchEndParam, load_checkpoint, load_params, save_checkpoint
from operad_module.feed_forward import FeedForward
from operad_module.own_loops import (  # noqa: F401 - for modules of a program's own
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
)

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]
