"""VGG (Simonyan and Zisserman 2015).

Source: python/mxnet/gluon/model_zoo/vision/vgg.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import operad as od
from operad.errors import ParamError
from operad_gluon import nn
from operad_gluon.model_zoo.model_store import CPU, ROOT, Folder, with_weights
from operad_gluon.model_zoo.vision.classifier import Classifier, chain, variant

__all__ = [
    "VGG",
    "get_vgg",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
    "vgg_spec",
]

_FILTERS: Final = [64, 128, 256, 512, 512]
vgg_spec: Final = {
    11: ([1, 1, 2, 2, 2], _FILTERS),
    13: ([2, 2, 2, 2, 2], _FILTERS),
    16: ([2, 2, 3, 3, 3], _FILTERS),
    19: ([2, 2, 4, 4, 4], _FILTERS),
}
"""Convolutions of each stage, and their channels, by the number of layers."""


def _dense(units: int, activation: str | None = None) -> nn.Dense:
    return nn.Dense(units, activation=activation, weight_initializer="normal", bias_initializer="zeros")


def _conv(channels: int) -> nn.Conv2D:
    xavier = od.initializer.Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
    return nn.Conv2D(channels, kernel_size=3, padding=1, weight_initializer=xavier, bias_initializer="zeros")


class VGG(Classifier):
    """VGG, for images of (3, 224, 224).

    Args:
        layers: Convolutions of each stage.
        filters: Their channels.
        classes: How many there are.
        batch_norm: Whether each convolution is normalized.
        kwargs: What `Block` takes.
    Raises:
        ParamError: There are more stages than channels, or fewer.
    """

    def __init__(
        self,
        layers: Sequence[int],
        filters: Sequence[int],
        classes: int = 1000,
        batch_norm: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise ParamError(f"VGG: {len(filters)} filters for {len(layers)} stages, expected as many")
        with self.name_scope():
            self.features = chain()
            for count, channels in zip(layers, filters, strict=True):
                for _ in range(count):
                    self.features.add(_conv(channels), *([nn.BatchNorm()] if batch_norm else []))
                    self.features.add(nn.Activation("relu"))
                self.features.add(nn.MaxPool2D(strides=2))
            for _ in range(2):
                self.features.add(_dense(4096, "relu"), nn.Dropout(rate=0.5))
            self.output = _dense(classes)


def get_vgg(
    num_layers: int, pretrained: bool = False, ctx: Any = CPU, root: Folder = ROOT, **kwargs: Any
) -> VGG:
    """VGG of 11, 13, 16 or 19 layers; see `get_resnet` for the other arguments.

    Args:
        num_layers: How many there are.
        kwargs: What `VGG` takes.
    """
    name = f"vgg{num_layers}{'_bn' if kwargs.get('batch_norm') else ''}"
    return with_weights(VGG(*vgg_spec[num_layers], **kwargs), pretrained, name, ctx, root)


VGGS: Final = {
    f"vgg{layers}{end}": variant(
        f"vgg{layers}{end}", f"VGG of {layers} layers{added}", get_vgg, layers, **fixed
    )
    for end, added, fixed in (("", "", {}), ("_bn", " with normalization", {"batch_norm": True}))
    for layers in vgg_spec
}
"""The networks by their names."""
vgg11, vgg13, vgg16, vgg19, vgg11_bn, vgg13_bn, vgg16_bn, vgg19_bn = VGGS.values()
