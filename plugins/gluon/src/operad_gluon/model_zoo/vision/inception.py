"""Inception v3 (Szegedy et al. 2016, "Rethinking the Inception architecture for computer vision").

Source: python/mxnet/gluon/model_zoo/vision/inception.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad_gluon import nn
from operad_gluon.contrib.nn import HybridConcurrent
from operad_gluon.model_zoo.model_store import CPU, ROOT, Folder, with_weights
from operad_gluon.model_zoo.vision.classifier import Classifier, chain

__all__ = ["Inception3", "inception_v3", "make_aux"]


def _conv(channels: int, kernel: Any, stride: Any = 1, padding: Any = 0) -> nn.HybridSequential:
    return chain(
        nn.Conv2D(channels, kernel_size=kernel, strides=stride, padding=padding, use_bias=False),
        nn.BatchNorm(epsilon=0.001),
        nn.Activation("relu"),
    )


def _branch(*convolutions: tuple[Any, ...], pool: Any = None) -> nn.HybridSequential:
    made = chain(*([] if pool is None else [pool]))
    for convolution in convolutions:
        made.add(_conv(*convolution))
    return made


def _pooled(*convolutions: tuple[Any, ...]) -> nn.HybridSequential:
    return _branch(*convolutions, pool=nn.AvgPool2D(pool_size=3, strides=1, padding=1))


def _halved() -> nn.HybridSequential:
    return _branch(pool=nn.MaxPool2D(pool_size=3, strides=2))


def _forked(*first: tuple[Any, ...]) -> nn.HybridSequential:
    """Convolutions, and upon them one along each axis, side by side."""
    made = chain(_branch(*first))
    fork = HybridConcurrent(axis=1, prefix="")
    fork.add(_branch((384, (1, 3), 1, (0, 1))), _branch((384, (3, 1), 1, (1, 0))))
    made.add(fork)
    return made


def _along_axes(channels: Sequence[int], kernels: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
    """Convolutions of 1x7 or 7x1 pixels that keep the size."""
    return [(c, k, 1, (k[0] // 2, k[1] // 2)) for c, k in zip(channels, kernels, strict=True)]


def _side_by_side(prefix: str, make: Any) -> HybridConcurrent:
    """Branches that `make` returns, made in the scope of their block."""
    made = HybridConcurrent(axis=1, prefix=prefix)
    with made.name_scope():
        made.add(*make())
    return made


def _a(prefix: str, pool_features: int) -> HybridConcurrent:
    return _side_by_side(
        prefix,
        lambda: [
            _branch((64, 1)),
            _branch((48, 1), (64, 5, 1, 2)),
            _branch((64, 1), (96, 3, 1, 1), (96, 3, 1, 1)),
            _pooled((pool_features, 1)),
        ],
    )


def _b(prefix: str) -> HybridConcurrent:
    return _side_by_side(
        prefix,
        lambda: [
            _branch((384, 3, 2)),
            _branch((64, 1), (96, 3, 1, 1), (96, 3, 2)),
            _halved(),
        ],
    )


def _c(prefix: str, inner: int) -> HybridConcurrent:
    row, column = (1, 7), (7, 1)
    return _side_by_side(
        prefix,
        lambda: [
            _branch((192, 1)),
            _branch((inner, 1), *_along_axes([inner, 192], [row, column])),
            _branch((inner, 1), *_along_axes([inner, inner, inner, 192], [column, row, column, row])),
            _pooled((192, 1)),
        ],
    )


def _d(prefix: str) -> HybridConcurrent:
    return _side_by_side(
        prefix,
        lambda: [
            _branch((192, 1), (320, 3, 2)),
            _branch((192, 1), *_along_axes([192, 192], [(1, 7), (7, 1)]), (192, 3, 2)),
            _halved(),
        ],
    )


def _e(prefix: str) -> HybridConcurrent:
    return _side_by_side(
        prefix,
        lambda: [
            _branch((320, 1)),
            _forked((384, 1)),
            _forked((448, 1), (384, 3, 1, 1)),
            _pooled((192, 1)),
        ],
    )


def make_aux(classes: int) -> nn.HybridSequential:
    """The auxiliary classifier, which training may put upon features of 768 channels.

    Args:
        classes: How many there are.
    """
    return chain(
        nn.AvgPool2D(pool_size=5, strides=3), _conv(128, 1), _conv(768, 5), nn.Flatten(), nn.Dense(classes)
    )


class Inception3(Classifier):
    """Inception v3, for images of (3, 299, 299).

    Args:
        classes: How many there are.
        kwargs: What `Block` takes.
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(
                _conv(32, 3, 2),
                _conv(32, 3),
                _conv(64, 3, 1, 1),
                nn.MaxPool2D(pool_size=3, strides=2),
                _conv(80, 1),
                _conv(192, 3),
                nn.MaxPool2D(pool_size=3, strides=2),
                *(_a(f"A{number}_", features) for number, features in enumerate((32, 64, 64), 1)),
                _b("B_"),
                *(_c(f"C{number}_", inner) for number, inner in enumerate((128, 160, 160, 192), 1)),
                _d("D_"),
                _e("E1_"),
                _e("E2_"),
                nn.AvgPool2D(pool_size=8),
                nn.Dropout(0.5),
            )
            self.output = nn.Dense(classes)


def inception_v3(pretrained: bool = False, ctx: Any = CPU, root: Folder = ROOT, **kwargs: Any) -> Inception3:
    """Inception v3; see `alexnet`, `kwargs` are those of `Inception3`."""
    return with_weights(Inception3(**kwargs), pretrained, "inceptionv3", ctx, root)
