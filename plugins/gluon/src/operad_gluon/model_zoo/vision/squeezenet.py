"""SqueezeNet (Iandola et al. 2016).

Source: python/mxnet/gluon/model_zoo/vision/squeezenet.py.
"""

from __future__ import annotations

from typing import Any, Final

from operad.errors import ParamError
from operad_gluon import nn
from operad_gluon.contrib.nn import HybridConcurrent
from operad_gluon.model_zoo.model_store import CPU, ROOT, Folder, with_weights
from operad_gluon.model_zoo.vision.classifier import Classifier, chain, variant

__all__ = ["SqueezeNet", "get_squeezenet", "squeezenet1_0", "squeezenet1_1"]

_VERSIONS: Final[dict[str, tuple[tuple[int, int], list[int | None]]]] = {
    "1.0": ((96, 7), [None, 16, 16, 32, None, 32, 48, 48, 64, None, 64]),
    "1.1": ((64, 3), [None, 16, 16, None, 32, 32, None, 48, 48, 64, 64]),
}
"""Channels and kernel of the first convolution; then squeezed channels of each module, and None for a "
"pooling."""


def _conv(channels: int, kernel: int, padding: int = 0) -> nn.HybridSequential:
    return chain(nn.Conv2D(channels, kernel, padding=padding), nn.Activation("relu"))


def _fire(squeezed: int) -> nn.HybridSequential:
    """A convolution of 1x1 to few channels, and from these two side by side to four times as many each."""
    made = chain(_conv(squeezed, 1))
    paths = HybridConcurrent(axis=1, prefix="")
    paths.add(_conv(4 * squeezed, 1), _conv(4 * squeezed, 3, 1))
    made.add(paths)
    return made


class SqueezeNet(Classifier):
    """SqueezeNet, for images of (3, 224, 224).

    Args:
        version: "1.0" or "1.1".
        classes: How many there are.
        kwargs: What `Block` takes.
    Raises:
        ParamError: There is no such version.
    """

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if version not in _VERSIONS:
            raise ParamError(f"SqueezeNet: version is {version!r}, expected '1.0' or '1.1'")
        (channels, kernel), modules = _VERSIONS[version]
        with self.name_scope():
            self.features = chain(nn.Conv2D(channels, kernel_size=kernel, strides=2), nn.Activation("relu"))
            for squeezed in modules:
                block = nn.MaxPool2D(3, 2, ceil_mode=True) if squeezed is None else _fire(squeezed)
                self.features.add(block)
            self.features.add(nn.Dropout(0.5))
            self.output = chain(
                nn.Conv2D(classes, kernel_size=1), nn.Activation("relu"), nn.AvgPool2D(13), nn.Flatten()
            )


def get_squeezenet(
    version: str, pretrained: bool = False, ctx: Any = CPU, root: Folder = ROOT, **kwargs: Any
) -> SqueezeNet:
    """SqueezeNet; see `get_resnet` for the other arguments.

    Args:
        version: "1.0" or "1.1".
        kwargs: What `SqueezeNet` takes.
    """
    net = SqueezeNet(version, **kwargs)
    return with_weights(net, pretrained, f"squeezenet{version}", ctx, root)


squeezenet1_0 = variant("squeezenet1_0", "SqueezeNet 1.0", get_squeezenet, "1.0")
squeezenet1_1 = variant(
    "squeezenet1_1",
    "SqueezeNet 1.1, with the same accuracy for less than half the time",
    get_squeezenet,
    "1.1",
)
