"""Branches side by side, and layers of MXNet that need more than one device or sparse arrays.

Source: python/mxnet/gluon/contrib/nn/basic_layers.py.
"""

from __future__ import annotations

from typing import Any, NoReturn

import operad as od
from operad import nd
from operad.errors import UnsupportedError
from operad_gluon.block import HybridBlock
from operad_gluon.contrib.nn.pixel_shuffle import PixelShuffle1D as PixelShuffle1D
from operad_gluon.contrib.nn.pixel_shuffle import PixelShuffle2D as PixelShuffle2D
from operad_gluon.contrib.nn.pixel_shuffle import PixelShuffle3D as PixelShuffle3D
from operad_gluon.nn import BatchNorm, HybridSequential, Sequential


class Concurrent(Sequential):
    """Blocks that all get the input; their outputs are joined.

    Args:
        axis: Axis along which outputs are joined.
        prefix: As of `Block`.
        params: As of `Block`.
    """

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any) -> Any:
        """Return the joined outputs."""
        return nd.concat(*(block(x) for block in self._children.values()), dim=self.axis)


class HybridConcurrent(HybridSequential):
    """`Concurrent` that can be compiled; its arguments are the same."""

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the joined outputs."""
        return F.concat(*(block(x) for block in self._children.values()), dim=self.axis)


class Identity(HybridBlock):
    """The input, as a branch of `HybridConcurrent`."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return `x`."""
        return x


class SparseEmbedding(HybridBlock):
    """Refuse: arrays are dense; `nn.Embedding` has the same values."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        **kwargs: Any,
    ) -> NoReturn:
        raise UnsupportedError("SparseEmbedding: arrays are dense; use gluon.nn.Embedding")


class SyncBatchNorm(BatchNorm):
    """`BatchNorm` over the batches of all devices of this process.

    Args:
        in_channels: Channels of the input; 0: those of the first one.
        num_devices: How many devices compute together; None: all GPUs, at least 1.
        momentum: Share of the old running statistics in the new ones.
        epsilon: Added to the variance.
        center: Whether beta is added.
        scale: Whether to multiply by gamma.
        use_global_stats: Whether running statistics are used in training too.
        beta_initializer: Of beta.
        gamma_initializer: Of gamma.
        running_mean_initializer: Of the running mean.
        running_variance_initializer: Of the running variance.
        kwargs: What `Block` takes.
    """

    def __init__(
        self,
        in_channels: int = 0,
        num_devices: int | None = None,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1, momentum, epsilon, center, scale, use_global_stats, beta_initializer, gamma_initializer,
            running_mean_initializer, running_variance_initializer, in_channels, **kwargs,
        )  # fmt: skip
        del self._kwargs["axis"]
        self._kwargs |= {"ndev": num_devices or max(1, od.num_gpus()), "key": self.prefix}

    def hybrid_forward(
        self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any
    ) -> Any:
        """Return the normalized batch."""
        return F.contrib.SyncBatchNorm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)
