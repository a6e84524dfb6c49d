"""Every optimizer of this package, known to `create` by name once this module is imported."""

from operad_optimizer import adaptive, gradient_descent
from operad_optimizer.optimizer import Optimizer, create, register

__all__ = ["Optimizer", "adaptive", "create", "gradient_descent", "register"]
