"""Layers that most networks have."""

from __future__ import annotations

from typing import Any

from operad_gluon.block import HybridBlock
from operad_gluon.block.block import indented
from operad_gluon.nn.activations import Activation


class Dense(HybridBlock):
    """A layer that connects each of its inputs with each of its units.

    Args:
        units: Number of outputs.
        activation: Name of the function of its outputs, or None.
        use_bias: Whether it has a bias.
        flatten: Whether all axes but the first are one; else the last axis alone is connected.
        dtype: Type of its parameters.
        weight_initializer: Initializer of the weight.
        bias_initializer: Initializer of the bias.
        in_units: Number of inputs; 0 where the first batch tells it.
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._flatten, self._units, self._in_units = flatten, units, in_units
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(units, in_units),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
            )
            self.bias = (
                self.params.get(
                    "bias", shape=(units,), init=bias_initializer, dtype=dtype, allow_deferred_init=True
                )
                if use_bias
                else None
            )
            self.act = Activation(activation, prefix=activation + "_") if activation is not None else None

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:  # type: ignore[override]
        """The outputs."""
        given = (x, weight) if bias is None else (x, weight, bias)
        found = F.FullyConnected(
            *given, no_bias=bias is None, num_hidden=self._units, flatten=self._flatten, name="fwd"
        )
        return found if self.act is None else self.act(found)

    def __repr__(self) -> str:
        inputs, shape = None, self.weight.shape
        if shape is not None and shape[1]:
            inputs = shape[1]
        act = "linear" if self.act is None else indented(repr(self.act))
        return f"{type(self).__name__}({inputs} -> {self._units}, {act})"
