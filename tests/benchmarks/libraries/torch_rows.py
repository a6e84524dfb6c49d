"""PyTorch, in eager mode."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tests.benchmarks import networks
from tests.benchmarks.libraries.arrays import RECORDED, lookup_table, normal, scaled
from tests.benchmarks.libraries.symbols import FIT_BATCHES
from tests.benchmarks.networks import LEARNING_RATE, TASKS, Task, movement
from tests.benchmarks.rows import LARGE_REPEATS, REPEATS, Sizes
from tests.benchmarks.work import Work, chosen, repeated


def makers(_: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name."""
    made = (
        step, predict, fit, chain, tanh_chain, dcgan, call, large_call, recorded, rowwise, batch_norm,
        group_norm, rnn, take, embedding_gradient, topk,
    )  # fmt: skip
    return {make.__name__: make for make in made}


class Layers:
    """The layers of `tests.benchmarks.networks`, with the parameters' tensors by name."""

    def __init__(self, parameters: dict[str, Any], training: bool = True) -> None:
        self._of, self._training = parameters, training
        self._states: dict[str, Any] = {}

    def dense(self, data: Any, name: str, inputs: int, outputs: int) -> Any:
        return functional.linear(data, self._of[f"{name}_weight"], self._of[f"{name}_bias"])

    def conv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int,
        stride: int = 1, pad: int = 0, bias: bool = True,
    ) -> Any:  # fmt: skip
        return functional.conv2d(data, self._of[f"{name}_weight"], self._of.get(f"{name}_bias"), stride, pad)

    def deconv(
        self, data: Any, name: str, inputs: int, outputs: int, kernel: int, stride: int, pad: int
    ) -> Any:
        return functional.conv_transpose2d(data, self._of[f"{name}_weight"], None, stride, pad)

    def batch_norm(self, data: Any, name: str, channels: int) -> Any:
        if name not in self._states:
            self._states[name] = torch.zeros(channels), torch.ones(channels)
        gamma, beta = self._of[f"{name}_gamma"], self._of[f"{name}_beta"]
        return functional.batch_norm(data, *self._states[name], gamma, beta, self._training, 0.1, 1e-5)

    def max_pool(self, data: Any, kernel: int = 2, stride: int = 2, pad: int = 0) -> Any:
        return functional.max_pool2d(data, kernel, stride, pad)

    def mean_pool(self, data: Any) -> Any:
        return functional.adaptive_avg_pool2d(data, 1)

    def flatten(self, data: Any) -> Any:
        return data.flatten(1)

    def reshape(self, data: Any, shape: tuple[int, ...]) -> Any:
        return data.reshape(-1, *shape)

    def split(self, data: Any, parts: int) -> Any:
        return data.chunk(parts, 1)

    relu, tanh, sigmoid = (staticmethod(f) for f in (functional.relu, torch.tanh, torch.sigmoid))


def _leaves(values: dict[str, np.ndarray], is_trained: Callable[[str], bool]) -> dict[str, Any]:
    return {
        name: torch.from_numpy(value).clone().requires_grad_(is_trained(name))
        for name, value in values.items()
    }


def _numbers(tensors: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: tensor.detach().numpy().copy() for name, tensor in tensors.items()}


def _moved(tensors: dict[str, Any], run: Callable[[], object]) -> dict[str, float]:
    before = _numbers(tensors)
    run()
    return movement(before, _numbers(tensors))


def _training_step(task: Task) -> tuple[Callable[[], Any], Callable[[], dict[str, float]], Any]:
    leaves = _leaves(task.parameters, task.is_trained)
    trained = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    layers = Layers(leaves)
    inputs = {name: torch.from_numpy(value) for name, value in task.inputs().items()}
    optimizer = torch.optim.SGD(trained.values(), lr=LEARNING_RATE)
    labels = [torch.from_numpy(label) for label in task.labels()]

    def run() -> Any:
        optimizer.zero_grad()
        outputs = task.network(layers, **inputs)
        loss = functional.cross_entropy(outputs[0], labels[0])
        for output, label in zip(outputs[1:], labels[1:]):  # noqa: B905 - as Python 3.8 has it
            loss = loss + functional.cross_entropy(output, label)
        loss.backward()
        optimizer.step()
        return outputs[0]

    return run, partial(_moved, trained, run), labels[0]


def step(task: str) -> Work:
    """Forward, backward and `torch.optim.SGD`; of recurrent networks also with `nn.LSTM`."""
    run, check, _ = _training_step(TASKS[task])
    return Work(run, check=check, beside={"nn.LSTM": _whole_lstm(TASKS[task])} if task == "lstm" else {})


def predict(task: str) -> Work:
    """The network alone, without gradients."""
    chosen_task = TASKS[task]
    layers = Layers(_leaves(chosen_task.parameters, lambda _: False), training=False)
    inputs = {name: torch.from_numpy(value) for name, value in chosen_task.inputs().items()}
    return without_gradients(lambda: chosen_task.network(layers, **inputs)[0])


def _whole_lstm(task: Task) -> Callable[[], None]:
    """The same network, its steps in one call and its last layer too."""
    values, inputs = task.parameters, task.inputs()
    hidden = values["h_weight"].shape[1]
    net, last = torch.nn.LSTM(hidden, hidden), torch.nn.Linear(hidden, networks.CLASSES)
    names = ("x_weight", "h_weight", "x_bias", "h_bias", "y_weight", "y_bias")
    parameters = [*net.parameters(), *last.parameters()]
    with torch.no_grad():
        for name, parameter in zip(names, parameters):  # noqa: B905 - as above
            parameter.copy_(torch.from_numpy(values[name]))
    steps = [value for name, value in inputs.items() if name[0] == "x"]
    data = torch.from_numpy(np.stack(steps))
    first = tuple(torch.from_numpy(inputs[name])[None] for name in ("state", "cell"))
    label = torch.from_numpy(np.concatenate(task.labels()))
    optimizer = torch.optim.SGD(parameters, lr=LEARNING_RATE)

    def run() -> None:
        optimizer.zero_grad()
        output = last(net(data, first)[0])
        (functional.cross_entropy(output.flatten(0, 1), label) * len(steps)).backward()
        optimizer.step()

    return run


def fit(task: str) -> Work:
    """Steps and their accuracy."""
    step_once, _, label = _training_step(TASKS[task])

    def run() -> float:
        right = 0
        for _ in range(FIT_BATCHES):
            right += int((step_once().argmax(1) == label).sum())
        return right / (FIT_BATCHES * len(label))

    return Work(run, FIT_BATCHES * TASKS[task].batch)


def _tanh_chain(x: Any) -> Any:
    for _ in range(10):
        x = torch.tanh(x * 1.1 + 0.1)
    return x


def chain(count: int, backward: bool) -> Work:
    return _unary(partial(scaled, count=count), torch.ones(16, 16), backward, count)


def tanh_chain(size: int) -> Work:
    values = torch.from_numpy(np.linspace(-1, 1, size, dtype=np.float32).reshape(-1, 1000))
    return _unary(_tanh_chain, values, True, 1)


def _unary(function: Callable[[Any], Any], x: Any, backward: bool, operations: int) -> Work:
    x.requires_grad_(backward)
    ones = torch.ones_like(x)

    def run() -> Any:
        if not backward:
            with torch.no_grad():
                return function(x)
        x.grad = None
        output = function(x)
        output.backward(ones)
        return output

    def check() -> dict[str, float]:
        found = {"output": run()}
        if backward:
            found["gradient"] = x.grad
        return {name: float(tensor.detach().abs().mean()) for name, tensor in found.items()}

    return Work(run, operations, check)


def dcgan() -> Work:
    """The discriminator learns from images and from the generator's, then the generator from it."""
    noise, images = (torch.from_numpy(value) for value in networks.dcgan_inputs())
    leaves = _leaves(networks.dcgan_parameters(), lambda name: True)
    layers = Layers(leaves)
    of_made, of_look = ([leaf for name, leaf in leaves.items() if name[0] == letter] for letter in "gd")
    optimizers = [torch.optim.SGD(some, lr=LEARNING_RATE / len(images)) for some in (of_look, of_made)]
    zeros, ones = torch.zeros(len(images), 1), torch.ones(len(images), 1)
    loss = partial(functional.binary_cross_entropy_with_logits, reduction="sum")

    def learn(optimizer: Any, leaves: list[Any], value: Any) -> None:
        # Of these alone, so that the generator's loss asks for none of the discriminator's gradients.
        for leaf, grad in zip(leaves, torch.autograd.grad(value, leaves)):  # noqa: B905 - as above
            leaf.grad = grad
        optimizer.step()

    def run() -> None:
        fake = networks.generator(layers, noise)
        value = loss(networks.discriminator(layers, fake.detach()), zeros)
        value = value + loss(networks.discriminator(layers, images), ones)
        learn(optimizers[0], of_look, value)
        learn(optimizers[1], of_made, loss(networks.discriminator(layers, fake), ones))

    return Work(run, check=partial(_moved, leaves, run))


def call(name: str) -> Work:
    """One small call, on 16x16 where nothing else is said."""
    x, y = torch.from_numpy(normal(16, 16)), torch.from_numpy(normal(16, 16))
    numbers = (0.5 * number for number in count())
    linear = [torch.ones(shape) for shape in ((32, 64), (64, 64), (64,))]
    calls: dict[str, Callable[[], Any]] = {
        "plus one": lambda: x + 1.0,
        "tanh": lambda: torch.tanh(x),
        "add": lambda: x + x,
        "scale": lambda: x * 2.5,
        "new number": lambda: x * next(numbers),
        "view": lambda: x[1:3],
        "out": lambda: torch.add(x, x, out=y),
        "sgd": lambda: y.add_(x, alpha=-0.1),
        "sgd, new rate": lambda: y.add_(x, alpha=-1 / (1 + next(numbers))),
        "dense": lambda: functional.linear(*linear),
        "astype": lambda: x.to(torch.int32),
        "sum": lambda: x.sum(),
        "zeros": lambda: torch.zeros(16, 16),
        "assign": lambda: y.fill_(1.0),
        "softmax": lambda: torch.softmax(x, -1),
    }
    return Work(repeated(chosen(calls, name), id, REPEATS), REPEATS)


def large_call(name: str) -> Work:
    """One call on arrays of a million elements, or small matrices that are turned."""
    x, half, small = (torch.from_numpy(normal(*shape)) for shape in ((1000, 1000), (1000, 500), (64, 64)))
    calls: dict[str, Callable[[], Any]] = {
        "normal": lambda: torch.randn(1000, 1000),
        "concat": lambda: torch.cat([half, half], 1),
        "transpose": lambda: small.T.contiguous(),
        "cumsum": lambda: x.cumsum(1),
    }
    return Work(repeated(chosen(calls, name), id, LARGE_REPEATS), LARGE_REPEATS)


def recorded(backward: bool) -> Work:
    leaf = torch.from_numpy(normal(16, 16)).requires_grad_()
    ones = torch.ones_like(leaf)

    def run() -> None:
        leaf.grad = None
        y = leaf
        for i in range(RECORDED):
            y = torch.tanh(y) if i % 2 else y + 1.0
        if backward:
            y.backward(ones)

    return Work(run, RECORDED)


def with_gradients(inputs: list[Any], head: Any, function: Callable[[], Any]) -> Work:
    for tensor in inputs:
        tensor.requires_grad_()

    def run() -> None:
        for tensor in inputs:
            tensor.grad = None
        function().backward(head)

    def check() -> dict[str, float]:
        run()
        return {str(i): float(tensor.grad.abs().mean()) for i, tensor in enumerate(inputs)}

    return Work(run, check=check)


def without_gradients(function: Callable[[], Any]) -> Work:
    def run() -> Any:
        with torch.no_grad():
            return function()

    return Work(run, check=lambda: {"output": float(run().abs().mean())})


def rowwise(op: str, shape: tuple[int, int], backward: bool) -> Work:
    data, columns = torch.from_numpy(normal(*shape)), shape[1]
    inputs = [data]
    if op == "LayerNorm":
        inputs += [torch.ones(columns), torch.zeros(columns)]
        function = partial(functional.layer_norm, data, (columns,), *inputs[1:])
    else:
        function = partial(getattr(torch, op), data, -1)
    if backward:
        return with_gradients(inputs, torch.from_numpy(normal(*shape)[::-1].copy()), function)

    return without_gradients(function)


def batch_norm(backward: bool) -> Work:
    shape = (32, 64, 28, 28)
    inputs = [torch.from_numpy(normal(*shape)), torch.ones(64), torch.zeros(64)]
    states = torch.zeros(64), torch.ones(64)

    def function() -> Any:
        return functional.batch_norm(inputs[0], *states, *inputs[1:], training=True, momentum=0.1, eps=1e-5)

    made = with_gradients(inputs, torch.from_numpy(normal(*shape)[::-1].copy()), function)
    return made if backward else Work(function)


def group_norm(shape: tuple[int, ...], backward: bool) -> Work:
    """With one gain for each group, as MXNet has them."""
    inputs = [torch.from_numpy(normal(*shape)), torch.ones(4), torch.zeros(4)]

    def function() -> Any:
        gain, offset = (each.repeat_interleave(shape[1] // 4) for each in inputs[1:])
        return functional.group_norm(inputs[0], 4, gain, offset, 1e-5)

    if backward:
        return with_gradients(inputs, torch.from_numpy(normal(*shape)[::-1].copy()), function)

    return without_gradients(function)


def rnn(sizes: tuple[Any, ...], backward: bool) -> Work:
    """`torch.nn`'s network of these sizes."""
    given = Sizes(*sizes)
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn_tanh": torch.nn.RNN}[given.mode]
    net = kind(given.features, given.state_size, given.num_layers, bidirectional=given.bidirectional)
    data = torch.from_numpy(0.1 * normal(given.steps, given.batch, given.features))
    leaves = list(net.parameters())

    def forward() -> None:
        with torch.no_grad():
            net(data)

    def both() -> None:
        for leaf in leaves:
            leaf.grad = None
        output, _ = net(data)
        output.backward(torch.ones_like(output))

    return Work(both if backward else forward)


def take() -> Work:
    table, places = torch.from_numpy(lookup_table()), _indices(1_000_000, 1024)
    return Work(lambda: table.index_select(0, places))


def _indices(below: int, count: int) -> Any:
    return torch.from_numpy(np.random.RandomState(1).randint(0, below, count))


def embedding_gradient(rows: int, looked_up: int) -> Work:
    grad, places, head = torch.zeros(rows, 64), _indices(rows, looked_up), torch.ones(looked_up, 64)
    return Work(lambda: grad.index_add_(0, places, head))


def topk() -> Work:
    data = torch.from_numpy(normal(64, 10_000))
    return Work(lambda: torch.topk(data, 10))
