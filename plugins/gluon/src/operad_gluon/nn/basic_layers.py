"""Layers that most networks have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import operad as od
from operad_gluon.block import Block as Block
from operad_gluon.block import HybridBlock as HybridBlock
from operad_gluon.block.block import indented
from operad_gluon.errors import BlockValueError
from operad_gluon.nn.activations import Activation as Activation
from operad_gluon.nn.containers import HybridSequential as HybridSequential
from operad_gluon.nn.containers import Sequential as Sequential
from operad_gluon.nn.normalization import BatchNorm as BatchNorm
from operad_gluon.nn.normalization import BatchNormReLU as BatchNormReLU
from operad_gluon.nn.normalization import GroupNorm as GroupNorm
from operad_gluon.nn.normalization import InstanceNorm as InstanceNorm
from operad_gluon.nn.normalization import LayerNorm as LayerNorm


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
        common = {"dtype": dtype, "allow_deferred_init": True}
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=(units, in_units), init=weight_initializer, **common
            )
            self.bias, self.act = None, None
            if use_bias:
                self.bias = self.params.get("bias", shape=(units,), init=bias_initializer, **common)
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """The outputs."""
        given = (x, weight) if bias is None else (x, weight, bias)
        found = F.FullyConnected(
            *given, no_bias=bias is None, num_hidden=self._units, flatten=self._flatten, name="fwd"
        )
        return found if self.act is None else self.act(found)

    def __repr__(self) -> str:
        shape = self.weight.shape or (0, 0)
        act = "linear" if self.act is None else indented(repr(self.act))
        return f"{type(self).__name__}({shape[1] or None} -> {shape[0]}, {act})"


class Dropout(HybridBlock):
    """Zeroes elements at random in training, and scales the others up.

    Args:
        rate: Probability of each element to be zeroed.
        axes: Axes along which elements are zeroed together.
    """

    def __init__(self, rate: float, axes: Sequence[int] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rate, self._axes = rate, axes

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """`x` with zeros in it, in training."""
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return F.identity(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Vectors that are learnt for numbers from 0 on.

    Args:
        input_dim: Number of vectors.
        output_dim: Length of each.
        dtype: Type of the vectors.
        weight_initializer: Initializer of the vectors.
        sparse_grad: Taken as a note; the gradient is dense.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(input_dim, output_dim),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
                grad_stype="row_sparse" if sparse_grad else "default",
            )

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        """The vectors of the numbers in `x`."""
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        found = self._kwargs
        return f"{type(self).__name__}({found['input_dim']} -> {found['output_dim']}, {found['dtype']})"


class Flatten(HybridBlock):
    """Makes all axes but the first one axis."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """`x` with two axes."""
        return F.Flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__


def _unknown(function: Any, where: str) -> Exception:
    if isinstance(function, str):
        return BlockValueError(
            f"Function name {function} is not found in {where}; is the package installed that has it?"
        )
    return BlockValueError(f"Unrecognized function in lambda: {function!r} of type {type(function)}")


class Lambda(Block):
    """A function of arrays as a block.

    Args:
        function: The function, or the name of one of `operad.nd`.
        prefix: As of a block.
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str) and hasattr(od.nd, function):
            self._func_impl: Callable[..., Any] = getattr(od.nd, function)
        elif callable(function):
            self._func_impl = function
        else:
            raise _unknown(function, "ndarray")
        self._func_name = getattr(self._func_impl, "__name__", str(function))

    def forward(self, *args: Any) -> Any:
        """The outputs of the function."""
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


class HybridLambda(HybridBlock):
    """A function of arrays or symbols as a block.

    Args:
        function: A function `(F, x, ...)`, or the name of one of `operad.nd` and `operad.sym`.
        prefix: As of a block.
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str) and hasattr(od.nd, function) and hasattr(od.sym, function):
            name: str = function
            self._func: Callable[..., Any] = lambda F, *args: getattr(F, name)(*args)
            self._func_name = name
        elif callable(function):
            self._func, self._func_name = function, getattr(function, "__name__", type(function).__name__)
        else:
            raise _unknown(function, "ndarray/symbol")

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        """The outputs of the function."""
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"
