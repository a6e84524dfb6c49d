"""AlexNet (Krizhevsky 2014, "One weird trick for parallelizing convolutional neural networks").

Source: python/mxnet/gluon/model_zoo/vision/alexnet.py.
"""

from __future__ import annotations

from typing import Any

from operad_gluon import nn
from operad_gluon.model_zoo.model_store import CPU, ROOT, Folder, with_weights
from operad_gluon.model_zoo.vision.classifier import Classifier, chain

__all__ = ["AlexNet", "alexnet"]


class AlexNet(Classifier):
    """AlexNet, for images of (3, 224, 224).

    Args:
        classes: How many there are.
        kwargs: What `Block` takes.
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(
                nn.Conv2D(64, kernel_size=11, strides=4, padding=2, activation="relu"),
                nn.MaxPool2D(pool_size=3, strides=2),
                nn.Conv2D(192, kernel_size=5, padding=2, activation="relu"),
                nn.MaxPool2D(pool_size=3, strides=2),
                nn.Conv2D(384, kernel_size=3, padding=1, activation="relu"),
                nn.Conv2D(256, kernel_size=3, padding=1, activation="relu"),
                nn.Conv2D(256, kernel_size=3, padding=1, activation="relu"),
                nn.MaxPool2D(pool_size=3, strides=2),
                nn.Flatten(),
                nn.Dense(4096, activation="relu"),
                nn.Dropout(0.5),
                nn.Dense(4096, activation="relu"),
                nn.Dropout(0.5),
            )
            self.output = nn.Dense(classes)


def alexnet(pretrained: bool = False, ctx: Any = CPU, root: Folder = ROOT, **kwargs: Any) -> AlexNet:
    """AlexNet.

    Args:
        pretrained: Whether to read MXNet's weights, from a file under `root`.
        ctx: Context of the weights.
        root: Folder of the file.
        kwargs: What `AlexNet` takes.
    """
    return with_weights(AlexNet(**kwargs), pretrained, "alexnet", ctx, root)
