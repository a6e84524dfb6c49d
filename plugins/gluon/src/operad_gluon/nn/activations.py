"""Layers that apply a function to each element."""

from __future__ import annotations

from typing import Any

import operad as od
from operad_gluon.block import HybridBlock


class Activation(HybridBlock):
    """A function of each element by its name.

    Args:
        activation: "relu", "sigmoid", "tanh", "softrelu" or "softsign".
    """

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The function of `x`."""
        return F.Activation(x, act_type=self._act_type, name="fwd")


class LeakyReLU(HybridBlock):
    """`x` where it is positive, else `alpha * x`.

    Args:
        alpha: The slope below 0.
    """

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        if alpha < 0:
            raise ValueError(f"LeakyReLU: alpha is {alpha}, expected a slope of at least 0")
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """`x` where it is positive, else `x` times a slope that is learnt.

    Args:
        alpha_initializer: Initializer of the slopes.
        in_channels: Number of slopes: 1, or that of channels.
    """

    def __init__(
        self, alpha_initializer: Any = od.init.Constant(0.25), in_channels: int = 1, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:
        """The function of `x`."""
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """`x` where it is positive, else `alpha * (exp(x) - 1)`."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """ELU whose scales keep mean and variance of inputs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="selu", name="fwd")


class GELU(HybridBlock):
    """`x` times the probability that a normal variable is below `x`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="gelu", name="fwd")


class Swish(HybridBlock):
    """`x * sigmoid(beta * x)`."""

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The function of `x`."""
        return x * F.sigmoid(self._beta * x, name="fwd")
