"""MXNet's module of optimizers that were new: `GroupAdaGrad`."""

from operad_optimizer.accumulated import GroupAdaGrad

__all__ = ["GroupAdaGrad"]
