"""The networks of the benchmark, each written once for every library.

A network calls `layers`, which a library gives: `dense(data, name, inputs, outputs)`, `conv(data, name,
inputs, outputs, kernel, stride, pad, bias)`, `deconv(...)`, `batch_norm(data, name, channels)`, `relu`,
`tanh`, `sigmoid`, `max_pool(data, kernel, stride, pad)`, `mean_pool` (over all pixels), `flatten`,
`reshape(data, shape)` of a sample and `split(data, parts)`. A parameter belongs to its layer's name, and
layers of one name share it.
Layouts are (outputs, inputs, ...) and channels first, which MXNet, operad and PyTorch have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

LEARNING_RATE = 0.05
CLASSES = 10
NOISE = 100  # what DCGAN's generator begins with
DCGAN_BATCH = 32


def mlp(layers: Any, data: Any, sizes: tuple[int, ...]) -> list[Any]:
    """Fully connected layers of 784 inputs with relu between them."""
    inputs = 784
    for i, size in enumerate(sizes):
        data = layers.dense(data, f"fc{i}", inputs, size)
        if i < len(sizes) - 1:
            data = layers.relu(data)
        inputs = size
    return [data]


def lenet(layers: Any, data: Any) -> list[Any]:
    """LeNet on 28x28 images: 20 and 50 filters of 5x5, 500 hidden."""
    inputs = 1
    for i, filters in enumerate((20, 50)):
        data = layers.max_pool(layers.tanh(layers.conv(data, f"conv{i}", inputs, filters, 5)))
        inputs = filters
    data = layers.tanh(layers.dense(layers.flatten(data), "fc0", 800, 500))
    return [layers.dense(data, "fc1", 500, CLASSES)]


def resnet20(layers: Any, data: Any) -> list[Any]:
    """ResNet-20 for 32x32 images, with projections where the shape changes.

    Source: He et al., Deep Residual Learning for Image Recognition, section 4.2.
    """

    def normalized(data: Any, name: str, inputs: int, outputs: int, kernel: int, stride: int = 1) -> Any:
        data = layers.conv(data, name, inputs, outputs, kernel, stride, kernel // 2, bias=False)
        return layers.batch_norm(data, f"{name}_bn", outputs)

    data, inputs = layers.relu(normalized(data, "stem", 3, 16, 3)), 16
    for stage, filters in enumerate((16, 32, 64)):
        for block in range(3):
            name, stride = f"stage{stage}_block{block}", 2 if stage and not block else 1
            inner = layers.relu(normalized(data, f"{name}_a", inputs, filters, 3, stride))
            inner = normalized(inner, f"{name}_b", filters, filters, 3)
            if stride > 1:
                data = normalized(data, f"{name}_skip", inputs, filters, 1, stride)
            data, inputs = layers.relu(data + inner), filters
    return [layers.dense(layers.flatten(layers.mean_pool(data)), "fc", 64, CLASSES)]


def resnet(layers: Any, data: Any, blocks: tuple[int, ...], bottleneck: bool) -> list[Any]:
    """ResNet for images of 224x224, with 1,000 classes; the stride is that of the 3x3 convolution.

    Source: He et al., section 4.1 and table 1.
    """

    def normalized(data: Any, name: str, inputs: int, outputs: int, kernel: int, stride: int = 1) -> Any:
        data = layers.conv(data, name, inputs, outputs, kernel, stride, kernel // 2, bias=False)
        return layers.batch_norm(data, f"{name}_bn", outputs)

    data = layers.relu(normalized(data, "stem", 3, 64, 7, 2))
    data, inputs = layers.max_pool(data, 3, 2, 1), 64
    for stage, count in enumerate(blocks):
        filters = 64 << stage
        outputs = 4 * filters if bottleneck else filters
        for block in range(count):
            name, stride = f"stage{stage}_block{block}", 2 if stage and not block else 1
            if bottleneck:
                inner = layers.relu(normalized(data, f"{name}_a", inputs, filters, 1))
                inner = layers.relu(normalized(inner, f"{name}_b", filters, filters, 3, stride))
                inner = normalized(inner, f"{name}_c", filters, outputs, 1)
            else:
                inner = layers.relu(normalized(data, f"{name}_a", inputs, filters, 3, stride))
                inner = normalized(inner, f"{name}_b", filters, filters, 3)
            if inputs != outputs:
                data = normalized(data, f"{name}_skip", inputs, outputs, 1, stride)
            data, inputs = layers.relu(data + inner), outputs
    return [layers.dense(layers.flatten(layers.mean_pool(data)), "fc", inputs, 1000)]


def fine_tuned(layers: Any, data: Any) -> list[Any]:
    """The network of `examples/fine_tuning.py`, for images of 3x32x32: its convolutions stay as they are."""
    inputs = 3
    for i, filters in enumerate((16, 32)):
        data = layers.max_pool(layers.relu(layers.conv(data, f"conv{i}", inputs, filters, 3, 1, 1)))
        inputs = filters
    data = layers.tanh(layers.dense(layers.flatten(data), "features", 32 * 8 * 8, 128))
    return [layers.dense(data, "head", 128, CLASSES)]


def lstm(layers: Any, state: Any, cell: Any, hidden: int, **steps: Any) -> list[Any]:
    """An unrolled LSTM with a loss at every step; gates in the order input, forget, cell, output."""
    outputs = []
    for data in steps.values():
        state, cell, output = lstm_step(layers, data, state, cell, hidden)
        outputs.append(output)
    return outputs


def lstm_step(layers: Any, data: Any, state: Any, cell: Any, hidden: int) -> tuple[Any, Any, Any]:
    """The next state and cell, and the logits."""
    gates = layers.dense(data, "x", hidden, 4 * hidden) + layers.dense(state, "h", hidden, 4 * hidden)
    add, keep, new, show = layers.split(gates, 4)
    cell = layers.sigmoid(keep) * cell + layers.sigmoid(add) * layers.tanh(new)
    state = layers.sigmoid(show) * layers.tanh(cell)
    return state, cell, layers.dense(state, "y", hidden, CLASSES)


def transformer(layers: Any, data: Any, width: int = 64, heads: int = 4, length: int = 32) -> list[Any]:
    """Two layers of self-attention and two dense layers each, normalized before; rows are positions."""
    for i in range(2):
        inner = layers.layer_norm(data, f"{i}_first_norm", width)
        inner = layers.split(layers.dense(inner, f"{i}_qkv", width, 3 * width), 3)
        inner = layers.attention(*inner, heads, length)
        data = data + layers.dense(inner, f"{i}_out", width, width)
        inner = layers.layer_norm(data, f"{i}_second_norm", width)
        inner = layers.relu(layers.dense(inner, f"{i}_wide", width, 4 * width))
        data = data + layers.dense(inner, f"{i}_narrow", 4 * width, width)
    return [data]


def generator(layers: Any, noise: Any) -> Any:
    """DCGAN's, for images of 3x32x32."""
    data = layers.reshape(layers.dense(noise, "g0", NOISE, 128 * 16), (128, 4, 4))
    data = layers.relu(layers.batch_norm(data, "g0_bn", 128))
    for i, (inputs, outputs) in enumerate(((128, 64), (64, 32)), 1):
        data = layers.deconv(data, f"g{i}", inputs, outputs, 4, 2, 1)
        data = layers.relu(layers.batch_norm(data, f"g{i}_bn", outputs))
    return layers.tanh(layers.deconv(data, "g3", 32, 3, 4, 2, 1))


def discriminator(layers: Any, image: Any) -> Any:
    """DCGAN's: one number for each image, large where it looks real."""
    data = layers.relu(layers.conv(image, "d0", 3, 32, 4, 2, 1, bias=False))
    for i, (inputs, outputs) in enumerate(((32, 64), (64, 128)), 1):
        data = layers.conv(data, f"d{i}", inputs, outputs, 4, 2, 1, bias=False)
        data = layers.relu(layers.batch_norm(data, f"d{i}_bn", outputs))
    return layers.dense(layers.flatten(data), "d3", 128 * 16, 1)


class Task(NamedTuple):
    """Something to train.

    Attributes:
        network: Called with layers and the inputs by name; gives logits, one array per loss.
        shapes: Of the inputs, by name; of an image or a row the first number is the batch.
        frozen: What the names of parameters begin with that are not trained.
    """

    network: Callable[..., list[Any]]
    shapes: dict[str, tuple[int, ...]]
    frozen: tuple[str, ...] = ()

    @property
    def batch(self) -> int:
        """Samples of a step."""
        return next(iter(self.shapes.values()))[0]

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Every parameter's initial value."""
        return values(self._on_shapes)

    def _on_shapes(self, layers: Any) -> list[Any]:
        return self.network(layers, **dict.fromkeys(self.shapes, ANYTHING))

    def is_trained(self, name: str) -> bool:
        """Return whether a step changes the parameter."""
        return not name.startswith(self.frozen) if self.frozen else True

    def inputs(self) -> dict[str, np.ndarray]:
        """The same batch for all libraries."""
        rng = np.random.RandomState(1)
        return {name: rng.uniform(-1, 1, shape).astype(np.float32) for name, shape in self.shapes.items()}

    def labels(self) -> list[np.ndarray]:
        """Classes, one array per loss."""
        rng = np.random.RandomState(2)
        return [rng.randint(0, CLASSES, self.batch) for _ in self._on_shapes(_Shapes())]


def mlp_task(sizes: tuple[int, ...], batch: int) -> Task:
    return Task(partial(mlp, sizes=tuple(sizes)), {"data": (batch, 784)})


def lstm_task(steps: int, hidden: int, batch: int) -> Task:
    names = ("state", "cell", *[f"x{t}" for t in range(steps)])
    return Task(partial(lstm, hidden=hidden), dict.fromkeys(names, (batch, hidden)))


TASKS = {
    "mlp 512-256": mlp_task((512, 256, 10), 64),
    "mlp 64-64": mlp_task((64, 64, 10), 64),
    "mlp 1024-1024": mlp_task((1024, 1024, 10), 512),
    "lenet": Task(lenet, {"data": (64, 1, 28, 28)}),
    "resnet20": Task(resnet20, {"data": (32, 3, 32, 32)}),
    "lstm": lstm_task(35, 200, 32),
    **{
        f"{name}, batch {batch}": Task(
            partial(resnet, blocks=blocks, bottleneck=bottleneck), {"data": (batch, 3, 224, 224)}
        )
        for name, blocks, bottleneck in (("resnet18", (2, 2, 2, 2), False), ("resnet50", (3, 4, 6, 3), True))
        for batch in (1, 8)
    },
    "fine-tuning": Task(fine_tuned, {"data": (32, 3, 32, 32)}, frozen=("conv",)),
}


class _Anything:
    """Stands for data where only the names and shapes of parameters are asked for."""

    def __add__(self, other: Any) -> _Anything:
        return self

    __mul__ = __add__


ANYTHING = _Anything()


class _Shapes:
    """Layers that note the shapes of parameters."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, ...]] = {}

    def dense(self, data: Any, name: str, inputs: int, outputs: int) -> _Anything:
        self.found.update({f"{name}_weight": (outputs, inputs), f"{name}_bias": (outputs,)})
        return ANYTHING

    def conv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int,
        stride: int = 1, pad: int = 0, bias: bool = True,
    ) -> _Anything:  # fmt: skip
        self.found[f"{name}_weight"] = (outputs, inputs, kernel, kernel)
        if bias:
            self.found[f"{name}_bias"] = (outputs,)
        return ANYTHING

    def deconv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int, stride: int, pad: int
    ) -> _Anything:
        self.found[f"{name}_weight"] = (inputs, outputs, kernel, kernel)
        return ANYTHING

    def batch_norm(self, data: Any, name: str, channels: int) -> _Anything:
        self.found.update({f"{name}_gamma": (channels,), f"{name}_beta": (channels,)})
        return ANYTHING

    def split(self, data: Any, parts: int) -> list[_Anything]:
        return [ANYTHING] * parts

    def relu(self, *_: Any) -> _Anything:
        return ANYTHING

    layer_norm = batch_norm
    tanh = sigmoid = max_pool = mean_pool = flatten = reshape = attention = relu


def values(network: Callable[[Any], Any]) -> dict[str, np.ndarray]:
    """Initial values of a network's parameters, the same in every process and for every library."""
    shapes = _Shapes()
    network(shapes)
    rng = np.random.RandomState(0)
    return {name: _initial(rng, name, shape) for name, shape in shapes.found.items()}


def _initial(rng: np.random.RandomState, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name.endswith("_gamma"):
        return np.ones(shape, np.float32)
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    fan_in = shape[0] * 4 if name[0] == "g" and len(shape) == 4 else int(np.prod(shape[1:]))
    return (rng.standard_normal(shape) * np.sqrt(1.5 / fan_in)).astype(np.float32)


def dcgan_parameters() -> dict[str, np.ndarray]:
    """Of both networks; a name's first letter says of which."""
    return values(lambda shapes: discriminator(shapes, generator(shapes, ANYTHING)))


def dcgan_inputs() -> tuple[np.ndarray, np.ndarray]:
    """Noise, and images that are taken for real."""
    rng = np.random.RandomState(3)
    noise = rng.standard_normal((DCGAN_BATCH, NOISE)).astype(np.float32)
    return noise, rng.uniform(-1, 1, (DCGAN_BATCH, 3, 32, 32)).astype(np.float32)


def movement(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> dict[str, float]:
    """Length of each parameter's movement in a step, in units of the learning rate: the gradient's."""
    return {
        name: float(np.linalg.norm((after[name] - before[name]).ravel())) / LEARNING_RATE for name in after
    }
