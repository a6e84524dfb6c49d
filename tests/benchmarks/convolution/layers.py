"""Layers of convolution networks that are measured, and what they compute, in float64.

Everything that a worker imports is for Python 3.8 and later.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tests.benchmarks.rows import Row

PASSES = ("forward", "data", "weight")
"""The result, and the gradients by the data and by the weights."""


class Layer(NamedTuple):
    """Sizes of a two-dimensional convolution, or of a transposed one.

    Attributes:
        of: The network that has it, or what it is an example of.
        batch: Images.
        inputs: Their channels.
        outputs: Channels of the result.
        size: Rows and columns of an image.
        kernel: Rows and columns of the kernel.
        transposed: Whether it is a `Deconvolution`.
    """

    of: str
    batch: int
    inputs: int
    outputs: int
    size: int
    kernel: int
    stride: int = 1
    pad: int = 0
    dilate: int = 1
    groups: int = 1
    transposed: bool = False

    def __str__(self) -> str:
        given = f"{self.of}: {self.batch}x{self.inputs}x{self.size}x{self.size} to {self.outputs}"
        return given + f", {self.kernel}x{self.kernel}" + "".join(self._words())

    def _words(self) -> Iterator[str]:
        if self.transposed:
            yield ", transposed"
        for name, usual in (("stride", 1), ("dilate", 1), ("groups", 1)):
            if getattr(self, name) != usual:
                yield f", {name} {getattr(self, name)}"

    @property
    def result_size(self) -> int:
        """Rows and columns of the result."""
        reach = self.dilate * (self.kernel - 1) + 1
        if self.transposed:
            return (self.size - 1) * self.stride + reach - 2 * self.pad
        return (self.size + 2 * self.pad - reach) // self.stride + 1

    @property
    def operations(self) -> int:
        """Multiplications and additions of one pass, those with the zeros of the border too."""
        products = self.batch * self.inputs * self.outputs * self.kernel**2 // self.groups
        return 2 * products * (self.size if self.transposed else self.result_size) ** 2

    def arrays(self) -> dict[str, np.ndarray]:
        """Data, weights and the gradient of the result; the same in every process, and not to be changed."""
        return _arrays(self)

    def expected(self) -> dict[str, np.ndarray]:
        """The results of the passes, in float64, tap by tap."""
        data, weight, head = (value.astype(np.float64) for value in self.arrays().values())
        if self.transposed:
            return {
                "forward": self._spread(data, weight, self.result_size),
                "data": self._correlated(head, weight),
                "weight": self._products(head, data),
            }
        return {
            "forward": self._correlated(data, weight),
            "data": self._spread(head, weight, self.size),
            "weight": self._products(data, head),
        }

    def _taps(self, size: int) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
        """Each place of the kernel, and the elements of bordered images that it meets."""
        for row in range(self.kernel):
            for column in range(self.kernel):
                begins = (self.dilate * row, self.dilate * column)
                met = (slice(begin, begin + size * self.stride, self.stride) for begin in begins)
                yield row, column, (..., *met)

    def _bordered(self, images: np.ndarray) -> np.ndarray:
        # A last stride that no kernel fits into is there for slices to end in.
        border = (self.pad, self.pad + self.stride - 1)
        return np.pad(images, ((0, 0), (0, 0), border, border))

    def _by_groups(self, images: np.ndarray) -> list[np.ndarray]:
        return np.split(images, self.groups, axis=1)

    def _correlated(self, images: np.ndarray, weight: np.ndarray) -> np.ndarray:
        size = self.size if self.transposed else self.result_size
        parts = []
        for group, of in zip(self._by_groups(self._bordered(images)), np.split(weight, self.groups)):  # noqa: B905 - as Python 3.8 has it
            taps = ((group[met], of[..., row, column]) for row, column, met in self._taps(size))
            parts.append(sum(np.einsum("ncij,oc->noij", some, each, optimize=True) for some, each in taps))
        return np.concatenate(parts, axis=1)

    def _spread(self, results: np.ndarray, weight: np.ndarray, size: int) -> np.ndarray:
        parts = []
        for group, of in zip(self._by_groups(results), np.split(weight, self.groups)):  # noqa: B905 - likewise
            into = self._bordered(np.zeros((len(results), of.shape[1], size, size)))
            for row, column, met in self._taps(results.shape[-1]):
                into[met] += np.einsum("noij,oc->ncij", group, of[..., row, column], optimize=True)
            parts.append(into[..., self.pad : self.pad + size, self.pad : self.pad + size])
        return np.concatenate(parts, axis=1)

    def _products(self, images: np.ndarray, results: np.ndarray) -> np.ndarray:
        parts = []
        for group, other in zip(self._by_groups(self._bordered(images)), self._by_groups(results)):  # noqa: B905 - likewise
            sums = np.empty((other.shape[1], group.shape[1], self.kernel, self.kernel))
            for row, column, met in self._taps(results.shape[-1]):
                sums[..., row, column] = np.einsum("noij,ncij->oc", other, group[met], optimize=True)
            parts.append(sums)
        return np.concatenate(parts)


@lru_cache(maxsize=1)
def _arrays(layer: Layer) -> dict[str, np.ndarray]:
    rng = np.random.RandomState(0)
    channels = (layer.inputs, layer.outputs) if layer.transposed else (layer.outputs, layer.inputs)
    shapes = {
        "data": (layer.batch, layer.inputs, layer.size, layer.size),
        "weight": (channels[0], channels[1] // layer.groups, layer.kernel, layer.kernel),
        "head": (layer.batch, layer.outputs, layer.result_size, layer.result_size),
    }
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest error, in parts of 10^-7 of the largest number that is expected."""
    return float(np.abs(found - expected).max() / np.abs(expected).max() * 1e7)


def mean_sizes(found: np.ndarray) -> float:
    """The number that libraries are compared by before they are timed."""
    return float(np.abs(found.astype(np.float64)).mean())


_RESNET, _LENET, _DCGAN = "ResNet-20", "LeNet", "DCGAN"

LAYERS = (
    Layer(_RESNET, 32, 3, 16, 32, 3, pad=1),
    Layer(_RESNET, 32, 16, 16, 32, 3, pad=1),
    Layer(_RESNET, 32, 16, 32, 32, 3, stride=2, pad=1),
    Layer(_RESNET, 32, 16, 32, 32, 1, stride=2),
    Layer(_RESNET, 32, 32, 32, 16, 3, pad=1),
    Layer(_RESNET, 32, 32, 64, 16, 3, stride=2, pad=1),
    Layer(_RESNET, 32, 32, 64, 16, 1, stride=2),
    Layer(_RESNET, 32, 64, 64, 8, 3, pad=1),
    Layer(_LENET, 64, 1, 20, 28, 5),
    Layer(_LENET, 64, 20, 50, 12, 5),
    Layer(_DCGAN, 32, 3, 32, 32, 4, stride=2, pad=1),
    Layer(_DCGAN, 32, 32, 64, 16, 4, stride=2, pad=1),
    Layer(_DCGAN, 32, 64, 128, 8, 4, stride=2, pad=1),
    Layer(_DCGAN, 32, 128, 64, 4, 4, stride=2, pad=1, transposed=True),
    Layer(_DCGAN, 32, 64, 32, 8, 4, stride=2, pad=1, transposed=True),
    Layer(_DCGAN, 32, 32, 3, 16, 4, stride=2, pad=1, transposed=True),
    Layer("first of ResNet-50", 8, 3, 64, 112, 7, stride=2, pad=3),
    Layer("of ResNet-18", 8, 64, 64, 56, 3, pad=1),
    Layer("of ResNet-18", 32, 64, 64, 28, 3, pad=1),
    Layer("of ResNet-18", 8, 256, 256, 14, 3, pad=1),
    Layer("of ResNet-50", 8, 256, 64, 56, 1),
    Layer("depthwise", 8, 96, 96, 56, 3, pad=1, groups=96),
    Layer("groups", 32, 64, 64, 16, 3, pad=1, groups=4),
    Layer("dilated", 32, 32, 32, 16, 3, pad=2, dilate=2),
)


def rows() -> list[Row]:
    """Times and errors of each layer's passes."""
    return [
        Row(f"{layer}, {of}{what}", str(layer), maker, {"layer": tuple(layer), "of": of}, unit, own=True)
        for layer in LAYERS
        for of in PASSES
        for maker, what, unit in (("layer", "", "ms"), ("layer_error", ", error", "1e-7"))
    ]
