"""`mx.model`: checkpoints and `FeedForward`."""

from operad_module.checkpoint import BatchEndParam, load_checkpoint, load_params, save_checkpoint
from operad_module.feed_forward import FeedForward

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]
