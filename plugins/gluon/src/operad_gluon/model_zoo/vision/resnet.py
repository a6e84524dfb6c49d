"""ResNet (He et al. 2016, "Deep residual learning" and "Identity mappings in deep residual networks").

Source: python/mxnet/gluon/model_zoo/vision/resnet.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from operad.errors import ParamError
from operad_gluon import nn
from operad_gluon.block import HybridBlock
from operad_gluon.model_zoo.model_store import CPU, ROOT, Folder, with_weights
from operad_gluon.model_zoo.vision.classifier import Classifier, variant
from operad_gluon.model_zoo.vision.residual_blocks import (
    BasicBlockV1,
    BasicBlockV2,
    BottleneckV1,
    BottleneckV2,
    conv3x3,
)

__all__ = [
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "ResNetV1",
    "ResNetV2",
    "get_resnet",
    "resnet101_v1",
    "resnet101_v2",
    "resnet152_v1",
    "resnet152_v2",
    "resnet18_v1",
    "resnet18_v2",
    "resnet34_v1",
    "resnet34_v2",
    "resnet50_v1",
    "resnet50_v2",
    "resnet_block_versions",
    "resnet_net_versions",
    "resnet_spec",
]


class _ResNet(Classifier):
    """Base of both versions."""

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(channels) - 1:
            raise ParamError(
                f"{type(self).__name__}: {len(channels)} channels for {len(layers)} stages, expected one more"
            )
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self._add_first(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self._add_last()
            self.output = nn.Dense(classes, in_units=channels[-1])

    def _add_first(self, channels: int, thumbnail: bool) -> None:
        if thumbnail:
            self.features.add(conv3x3(channels, 1, 0))
            return
        self.features.add(
            nn.Conv2D(channels, 7, 2, 3, use_bias=False),
            nn.BatchNorm(),
            nn.Activation("relu"),
            nn.MaxPool2D(3, 2, 1),
        )

    def _add_stages(self, block: Any, layers: Sequence[int], channels: Sequence[int]) -> None:
        for number, count in enumerate(layers, 1):
            before, own = channels[number - 1 : number + 1]
            stage = nn.HybridSequential(prefix=f"stage{number}_")
            with stage.name_scope():
                stride = 1 if number == 1 else 2
                stage.add(block(own, stride, own != before, in_channels=before, prefix=""))
                for _ in range(count - 1):
                    stage.add(block(own, 1, False, in_channels=own, prefix=""))
            self.features.add(stage)

    def _add_last(self) -> None:
        self.features.add(nn.GlobalAvgPool2D())


class ResNetV1(_ResNet):
    """ResNet, for images of (3, 224, 224).

    Args:
        block: Class of the residual blocks.
        layers: Blocks of each stage.
        channels: Channels of the first convolution, and of each stage.
        classes: How many there are.
        thumbnail: Whether images are of (3, 32, 32), and the first layers do not make them smaller.
        kwargs: What `Block` takes.
    """


class ResNetV2(_ResNet):
    """ResNet whose blocks normalize before they convolve; see `ResNetV1` for the arguments."""

    def _add_first(self, channels: int, thumbnail: bool) -> None:
        self.features.add(nn.BatchNorm(scale=False, center=False))
        super()._add_first(channels, thumbnail)

    def _add_last(self) -> None:
        self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten())


_SMALL: Final = [64, 64, 128, 256, 512]
_LARGE: Final = [64, 256, 512, 1024, 2048]
resnet_spec: Final = {
    18: ("basic_block", [2, 2, 2, 2], _SMALL),
    34: ("basic_block", [3, 4, 6, 3], _SMALL),
    50: ("bottle_neck", [3, 4, 6, 3], _LARGE),
    101: ("bottle_neck", [3, 4, 23, 3], _LARGE),
    152: ("bottle_neck", [3, 8, 36, 3], _LARGE),
}
"""Kind of block, blocks of each stage, and channels, by the number of layers."""
resnet_net_versions: Final[list[type[_ResNet]]] = [ResNetV1, ResNetV2]
resnet_block_versions: Final[list[dict[str, type[HybridBlock]]]] = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(
    version: int,
    num_layers: int,
    pretrained: bool = False,
    ctx: Any = CPU,
    root: Folder = ROOT,
    **kwargs: Any,
) -> Any:
    """ResNet of 18, 34, 50, 101 or 152 layers.

    Args:
        version: 1 or 2.
        num_layers: How many there are.
        pretrained: Whether to read MXNet's weights, from a file under `root`.
        ctx: Context of the weights.
        root: Folder of the file.
        kwargs: What `ResNetV1` takes.
    Raises:
        ParamError: There is no such version, or no such number of layers.
    """
    if num_layers not in resnet_spec:
        raise ParamError(f"get_resnet: num_layers is {num_layers!r}, expected one of {list(resnet_spec)}")
    if version not in (1, 2):
        raise ParamError(f"get_resnet: version is {version!r}, expected 1 or 2")
    kind, layers, channels = resnet_spec[num_layers]
    block: Any = resnet_block_versions[version - 1][kind]
    make: Any = resnet_net_versions[version - 1]
    net = make(block, layers, channels, **kwargs)
    return with_weights(net, pretrained, f"resnet{num_layers}_v{version}", ctx, root)


RESNETS: Final = {
    f"resnet{layers}_v{version}": variant(
        f"resnet{layers}_v{version}", f"ResNet-{layers}, version {version}", get_resnet, version, layers
    )
    for version in (1, 2)
    for layers in resnet_spec
}
"""The networks by their names."""
(
    resnet18_v1, resnet34_v1, resnet50_v1, resnet101_v1, resnet152_v1,
    resnet18_v2, resnet34_v2, resnet50_v2, resnet101_v2, resnet152_v2,
) = RESNETS.values()  # fmt: skip
