"""DenseNet (Huang et al. 2017, "Densely connected convolutional networks").

Source: python/mxnet/gluon/model_zoo/vision/densenet.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from operad_gluon import nn
from operad_gluon.contrib.nn import HybridConcurrent, Identity
from operad_gluon.model_zoo.model_store import CPU, ROOT, Folder, with_weights
from operad_gluon.model_zoo.vision.classifier import Classifier, chain, variant

__all__ = [
    "DenseNet",
    "densenet121",
    "densenet161",
    "densenet169",
    "densenet201",
    "densenet_spec",
    "get_densenet",
]

densenet_spec: Final = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}
"""First channels, growth, and layers of each stage, by the number of layers."""


def _normalized() -> list[Any]:
    return [nn.BatchNorm(), nn.Activation("relu")]


def _layer(growth_rate: int, bn_size: int, dropout: float) -> HybridConcurrent:
    new = chain(
        *_normalized(),
        nn.Conv2D(bn_size * growth_rate, kernel_size=1, use_bias=False),
        *_normalized(),
        nn.Conv2D(growth_rate, kernel_size=3, padding=1, use_bias=False),
        *([nn.Dropout(dropout)] if dropout else []),
    )
    both = HybridConcurrent(axis=1, prefix="")
    both.add(Identity(), new)
    return both


def _stage(number: int, layers: int, bn_size: int, growth_rate: int, dropout: float) -> nn.HybridSequential:
    stage = nn.HybridSequential(prefix=f"stage{number}_")
    with stage.name_scope():
        for _ in range(layers):
            stage.add(_layer(growth_rate, bn_size, dropout))
    return stage


def _transition(channels: int) -> nn.HybridSequential:
    return chain(
        *_normalized(),
        nn.Conv2D(channels, kernel_size=1, use_bias=False),
        nn.AvgPool2D(pool_size=2, strides=2),
    )


class DenseNet(Classifier):
    """DenseNet-BC, for images of (3, 224, 224).

    Args:
        num_init_features: Channels of the first convolution.
        growth_rate: Channels that each layer adds.
        block_config: Layers of each stage.
        bn_size: Channels of a layer's bottleneck, in `growth_rate`.
        dropout: Share of each layer's output that is dropped in training.
        classes: How many there are.
        kwargs: What `Block` takes.
    """

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: Sequence[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(
                nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False),
                *_normalized(),
                nn.MaxPool2D(pool_size=3, strides=2, padding=1),
            )
            channels = num_init_features
            for number, layers in enumerate(block_config, 1):
                self.features.add(_stage(number, layers, bn_size, growth_rate, dropout))
                channels += layers * growth_rate
                if number != len(block_config):
                    channels //= 2
                    self.features.add(_transition(channels))
            self.features.add(*_normalized(), nn.AvgPool2D(pool_size=7), nn.Flatten())
            self.output = nn.Dense(classes)


def get_densenet(
    num_layers: int, pretrained: bool = False, ctx: Any = CPU, root: Folder = ROOT, **kwargs: Any
) -> DenseNet:
    """DenseNet of 121, 161, 169 or 201 layers; see `get_resnet` for the other arguments.

    Args:
        num_layers: How many there are.
        kwargs: What `DenseNet` takes.
    """
    net = DenseNet(*densenet_spec[num_layers], **kwargs)
    return with_weights(net, pretrained, f"densenet{num_layers}", ctx, root)


DENSENETS: Final = {
    f"densenet{layers}": variant(f"densenet{layers}", f"DenseNet of {layers} layers", get_densenet, layers)
    for layers in densenet_spec
}
"""The networks by their names."""
densenet121, densenet161, densenet169, densenet201 = DENSENETS.values()
