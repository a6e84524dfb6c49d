"""Residual blocks of ResNet, both versions.

Source: python/mxnet/gluon/model_zoo/vision/resnet.py.
"""

from __future__ import annotations

from typing import Any

from operad_gluon import nn
from operad_gluon.block import HybridBlock
from operad_gluon.model_zoo.vision.classifier import chain


def conv3x3(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    """A convolution of 3x3 that keeps the size but for its stride."""
    return nn.Conv2D(
        channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels
    )


def _conv1x1(channels: int, stride: int, in_channels: int = 0) -> nn.Conv2D:
    return nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels)


class _BlockV1(HybridBlock):
    """A residual block whose last activation comes behind the sum.

    Args:
        channels: Channels of the output.
        stride: How many times smaller the output is.
        downsample: Whether the input has another size or other channels, and is projected.
        in_channels: Channels of the input; 0: those of the first one.
        kwargs: What `Block` takes.
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.body = chain(*self._layers(channels, stride, in_channels))
        # None, and no child, where the input is added as it is.
        self.downsample = (
            chain(_conv1x1(channels, stride, in_channels), nn.BatchNorm()) if downsample else None
        )

    def _layers(self, channels: int, stride: int, in_channels: int) -> list[Any]:
        raise NotImplementedError  # abstract: basic blocks and bottlenecks have their own

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the output."""
        residual = x if self.downsample is None else self.downsample(x)
        return F.Activation(residual + self.body(x), act_type="relu")


class BasicBlockV1(_BlockV1):
    """Two convolutions of 3x3; of ResNet-18 and ResNet-34."""

    def _layers(self, channels: int, stride: int, in_channels: int) -> list[Any]:
        return [
            conv3x3(channels, stride, in_channels),
            nn.BatchNorm(),
            nn.Activation("relu"),
            conv3x3(channels, 1, channels),
            nn.BatchNorm(),
        ]


class BottleneckV1(_BlockV1):
    """A convolution of 3x3 between two of 1x1; of deeper networks."""

    def _layers(self, channels: int, stride: int, in_channels: int) -> list[Any]:
        inner = channels // 4
        return [
            nn.Conv2D(inner, kernel_size=1, strides=stride),
            nn.BatchNorm(),
            nn.Activation("relu"),
            conv3x3(inner, 1, inner),
            nn.BatchNorm(),
            nn.Activation("relu"),
            nn.Conv2D(channels, kernel_size=1, strides=1),
            nn.BatchNorm(),
        ]


class _BlockV2(HybridBlock):
    """A residual block whose normalizations and activations come before the convolutions; see `_BlockV1`."""

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._depth = 0
        for make, *sizes in self._convolutions(channels, stride, in_channels):
            self._depth += 1
            setattr(self, f"bn{self._depth}", nn.BatchNorm())
            setattr(self, f"conv{self._depth}", make(*sizes))
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[tuple[Any, ...]]:
        """Functions that make the convolutions, and their arguments."""
        raise NotImplementedError  # abstract: basic blocks and bottlenecks have their own

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the output."""
        residual = x
        for number in range(1, self._depth + 1):
            x = F.Activation(getattr(self, f"bn{number}")(x), act_type="relu")
            if number == 1 and self.downsample is not None:
                residual = self.downsample(x)
            x = getattr(self, f"conv{number}")(x)
        return x + residual


class BasicBlockV2(_BlockV2):
    """Two convolutions of 3x3; of ResNet-18 and ResNet-34."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[tuple[Any, ...]]:
        return [(conv3x3, channels, stride, in_channels), (conv3x3, channels, 1, channels)]


class BottleneckV2(_BlockV2):
    """A convolution of 3x3 between two of 1x1; of deeper networks."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[tuple[Any, ...]]:
        inner = channels // 4
        return [(_conv1x1, inner, 1), (conv3x3, inner, stride, inner), (_conv1x1, channels, 1)]
