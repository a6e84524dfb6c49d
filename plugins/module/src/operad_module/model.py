"""`mx.model`: checkpoints."""

from operad_module.checkpoint import BatchEndParam, load_checkpoint, load_params, save_checkpoint

__all__ = ["BatchEndParam", "load_checkpoint", "load_params", "save_checkpoint"]
