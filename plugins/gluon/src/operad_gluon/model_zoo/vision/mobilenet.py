"""MobileNet (Howard et al. 2017) and MobileNetV2 (Sandler et al. 2018).

Source: python/mxnet/gluon/model_zoo/vision/mobilenet.py.
"""

from __future__ import annotations

from typing import Any, Final

from operad_gluon import nn
from operad_gluon.block import HybridBlock
from operad_gluon.model_zoo.model_store import CPU, ROOT, Folder, with_weights
from operad_gluon.model_zoo.vision.classifier import Classifier, chain, variant

__all__ = [
    "LinearBottleneck",
    "MobileNet",
    "MobileNetV2",
    "RELU6",
    "get_mobilenet",
    "get_mobilenet_v2",
    "mobilenet0_25",
    "mobilenet0_5",
    "mobilenet0_75",
    "mobilenet1_0",
    "mobilenet_v2_0_25",
    "mobilenet_v2_0_5",
    "mobilenet_v2_0_75",
    "mobilenet_v2_1_0",
]

_V1: Final = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2),
              *[(512, 512, 1)] * 5, (512, 1024, 2), (1024, 1024, 1)]  # fmt: skip
"""Input channels, output channels and stride of each pair of convolutions."""
_V2: Final = [(32, 16, 1, 1), (16, 24, 6, 2), (24, 24, 6, 1), (24, 32, 6, 2), *[(32, 32, 6, 1)] * 2,
              (32, 64, 6, 2), *[(64, 64, 6, 1)] * 3, (64, 96, 6, 1), *[(96, 96, 6, 1)] * 2, (96, 160, 6, 2),
              *[(160, 160, 6, 1)] * 2, (160, 320, 6, 1)]  # fmt: skip
"""Input channels, output channels, expansion and stride of each bottleneck."""


class RELU6(HybridBlock):
    """Values clipped to 0 to 6.

    Args:
        kwargs: What `Block` takes.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the clipped values."""
        return F.clip(x, 0, 6, name="relu6")


def _conv(
    channels: int, kernel: int = 1, stride: int = 1, groups: int = 1, activation: Any = None
) -> list[Any]:
    """A convolution that keeps the size but for its stride, and a normalization."""
    made = [
        nn.Conv2D(channels, kernel, stride, kernel // 2, groups=groups, use_bias=False),
        nn.BatchNorm(scale=True),
    ]
    return made if activation is None else [*made, activation()]


def _relu() -> nn.Activation:
    return nn.Activation("relu")


class LinearBottleneck(HybridBlock):
    """An expansion, a convolution of each channel, and a projection.

    Args:
        in_channels: Channels of the input.
        channels: Channels of the output.
        t: How many times the channels become more in between.
        stride: Of the convolution; with 1 and the same channels, the input is added.
        kwargs: What `Block` takes.
    """

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        inner = in_channels * t
        with self.name_scope():
            self.out = nn.HybridSequential()
            self.out.add(
                *_conv(inner, activation=RELU6), *_conv(inner, 3, stride, inner, RELU6), *_conv(channels)
            )

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the output."""
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


class MobileNet(Classifier):
    """MobileNet, for images of (3, 224, 224).

    Args:
        multiplier: How many times the channels are more than in the paper.
        classes: How many there are.
        kwargs: What `Block` takes.
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(*_conv(int(32 * multiplier), 3, 2, activation=_relu))
            for before, channels, stride in _V1:
                own = int(before * multiplier)
                self.features.add(*_conv(own, 3, stride, own, _relu))
                self.features.add(*_conv(int(channels * multiplier), activation=_relu))
            self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)


class MobileNetV2(Classifier):
    """MobileNetV2; see `MobileNet` for the arguments."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                self.features.add(*_conv(int(32 * multiplier), 3, 2, activation=RELU6))
                for before, channels, expansion, stride in _V2:
                    self.features.add(
                        LinearBottleneck(
                            int(before * multiplier), int(channels * multiplier), expansion, stride
                        )
                    )
                last = int(1280 * multiplier) if multiplier > 1.0 else 1280
                self.features.add(*_conv(last, activation=RELU6), nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix="pred_"), nn.Flatten())


def _suffix(multiplier: float) -> str:
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


def get_mobilenet(
    multiplier: float, pretrained: bool = False, ctx: Any = CPU, root: Folder = ROOT, **kwargs: Any
) -> MobileNet:
    """MobileNet; see `get_resnet` for the other arguments.

    Args:
        multiplier: As of `MobileNet`.
        kwargs: What `MobileNet` takes.
    """
    name = f"mobilenet{_suffix(multiplier)}"
    return with_weights(MobileNet(multiplier, **kwargs), pretrained, name, ctx, root)


def get_mobilenet_v2(
    multiplier: float, pretrained: bool = False, ctx: Any = CPU, root: Folder = ROOT, **kwargs: Any
) -> MobileNetV2:
    """MobileNetV2; see `get_mobilenet`."""
    name = f"mobilenetv2_{_suffix(multiplier)}"
    return with_weights(MobileNetV2(multiplier, **kwargs), pretrained, name, ctx, root)


_SHARES: Final = {1.0: "", 0.75: " of 3/4 of the channels", 0.5: " of half the channels",
                  0.25: " of a quarter of the channels"}  # fmt: skip
MOBILENETS: Final = {
    f"mobilenet{share}": variant(
        f"mobilenet{share}".replace(".", "_"), f"MobileNet{of}", get_mobilenet, share
    )
    for share, of in _SHARES.items()
}
"""The networks by their names."""
MOBILENETS_V2: Final = {
    f"mobilenetv2_{share}": variant(
        f"mobilenet_v2_{share}".replace(".", "_"), f"MobileNetV2{of}", get_mobilenet_v2, share
    )
    for share, of in _SHARES.items()
}
"""Those of the second version."""
mobilenet1_0, mobilenet0_75, mobilenet0_5, mobilenet0_25 = MOBILENETS.values()
mobilenet_v2_1_0, mobilenet_v2_0_75, mobilenet_v2_0_5, mobilenet_v2_0_25 = MOBILENETS_V2.values()
