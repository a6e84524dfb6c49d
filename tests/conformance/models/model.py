"""A model that MXNet and operad build from one description. Needs NumPy alone, of any version.

Weights and inputs come from `numpy.random.RandomState`, drawn in the order of their sorted names. Its uniform
draws are scaled by arithmetic that IEEE 754 rounds exactly, so both sides have the same bits on any machine,
and neither weights nor inputs are stored.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Recipe = Callable[[np.random.RandomState], Array]
Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Model:
    """One description, and what it is fed with.

    Attributes:
        name: Of the model, and of its files.
        build: Makes the symbol; given the module `mxnet` or `operad`.
        inputs: Recipes of the data and labels, by the names of their variables.
        draw: Which draw of values. Where a ReLU's input lies within rounding of 0, gradients jump between
            libraries, and within one library between machines; another draw has no such input.
    """

    name: str
    build: Callable[[Any], Any]
    inputs: Mapping[str, Recipe]
    draw: int = 0

    def symbol(self, mx: Any) -> Any:
        """The model's symbol; automatic names count from 0."""
        with mx.name.NameManager():
            return self.build(mx)

    def input_arrays(self) -> dict[str, Array]:
        """Data and labels, in float32."""
        stream = self._stream("inputs")
        return {name: self.inputs[name](stream).astype(np.float32) for name in sorted(self.inputs)}

    def parameters(self, shapes: Shapes) -> dict[str, Array]:
        """Values of arguments and auxiliary states; inputs among `shapes` are left out."""
        stream = self._stream("parameters")
        names = sorted(name for name in shapes if name not in self.inputs)
        return {name: parameter(stream, name, shapes[name]) for name in names}

    def _stream(self, purpose: str) -> np.random.RandomState:
        return np.random.RandomState(zlib.crc32(f"{self.name}/{self.draw}/{purpose}".encode()))


def parameter(stream: np.random.RandomState, name: str, shape: tuple[int, ...]) -> Array:
    """Values that keep signals in proportion, by the end of the name that MXNet gives a parameter."""
    if name.endswith(("_gamma", "_moving_var")):
        low, high = 0.5, 1.5
    elif name.endswith("_weight"):
        high = math.sqrt(3 / math.prod(shape[1:]))  # a variance of 1 per input
        low = -high
    else:
        low, high = -0.1, 0.1
    return stream.uniform(low, high, shape).astype(np.float32)


def uniform(*shape: int) -> Recipe:
    """Numbers between -1 and 1."""
    return lambda stream: stream.uniform(-1, 1, shape)


def classes(count: int, *shape: int) -> Recipe:
    """Numbers of classes, from 0."""
    return lambda stream: stream.randint(0, count, shape)


def boxes(batch: int, per_image: int, num_classes: int) -> Recipe:
    """Labels of objects: a class and the corners of a box, as parts of the image; -1 where there is none."""

    def recipe(stream: np.random.RandomState) -> Array:
        labels = np.empty((batch, per_image, 5))
        labels[:, :, 0] = stream.randint(0, num_classes, (batch, per_image))
        labels[:, :, 1:3] = stream.uniform(0.05, 0.5, (batch, per_image, 2))
        labels[:, :, 3:5] = labels[:, :, 1:3] + stream.uniform(0.2, 0.4, (batch, per_image, 2))
        labels[0, -1] = -1
        return labels

    return recipe
