"""The networks of the training benchmarks, ours and PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import operad as od
from operad import sym

LEARNING_RATE = 0.01


def mlp(sizes: Sequence[int]) -> od.Symbol:
    """Fully connected layers with relu between them, and a softmax loss."""
    net = sym.var("data")
    for i, size in enumerate(sizes):
        net = sym.FullyConnected(net, num_hidden=size, name=f"fc{i}")
        if i < len(sizes) - 1:
            net = sym.Activation(net, act_type="relu", name=f"relu{i}")
    return sym.SoftmaxOutput(net, name="softmax", normalization="batch")


def lenet() -> od.Symbol:
    """LeNet on 28x28 images: 20 and 50 filters of 5x5, 500 hidden."""
    net = sym.var("data")
    for i, filters in enumerate((20, 50)):
        net = sym.Convolution(net, kernel=(5, 5), num_filter=filters, name=f"conv{i}")
        net = sym.Activation(net, act_type="tanh", name=f"tanh{i}")
        net = sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{i}")
    net = sym.FullyConnected(sym.Flatten(net), num_hidden=500, name="fc0")
    net = sym.FullyConnected(sym.Activation(net, act_type="tanh", name="tanh2"), num_hidden=10, name="fc1")
    return sym.SoftmaxOutput(net, name="softmax", normalization="batch")


def lstm(steps: int, hidden: int) -> od.Symbol:
    """An unrolled LSTM with a softmax loss at every step; each weight is read once per step."""
    state, cell = sym.var("state"), sym.var("cell")
    weights = {name: sym.var(name) for name in ("w_x", "b_x", "w_h", "b_h", "w_y", "b_y")}

    def dense(given: od.Symbol, end: str, size: int) -> od.Symbol:
        return sym.FullyConnected(given, weights[f"w_{end}"], weights[f"b_{end}"], num_hidden=size)

    outputs = []
    for t in range(steps):
        gates = dense(sym.var(f"x{t}"), "x", 4 * hidden) + dense(state, "h", 4 * hidden)
        gates = sym.SliceChannel(gates, num_outputs=4)
        keep, add, show = (sym.Activation(gates[i], act_type="sigmoid") for i in range(3))
        cell = keep * cell + add * sym.tanh(gates[3])
        state = show * sym.tanh(cell)
        outputs.append(sym.SoftmaxOutput(dense(state, "y", 10), sym.var(f"label{t}")))
    return sym.Group(outputs)


def training_step(net: od.Symbol, data_shape: tuple[int, ...]) -> Callable[[], None]:
    """One step in a bound executor: forward, backward and `sgd_update` of every parameter."""
    rng = np.random.default_rng(0)
    executor = net.simple_bind(od.cpu(), data=data_shape)
    parameters = [name for name in executor.arg_dict if name not in ("data", "softmax_label")]
    for name in parameters:
        executor.arg_dict[name][:] = rng.standard_normal(executor.arg_dict[name].shape) * 0.05
    executor.arg_dict["data"][:] = rng.random(data_shape)
    executor.arg_dict["softmax_label"][:] = rng.integers(0, 10, data_shape[0])
    pairs = [(executor.arg_dict[name], executor.grad_dict[name]) for name in parameters]

    def step() -> None:
        executor.forward(is_train=True)
        executor.backward()
        for weight, grad in pairs:
            od.nd.sgd_update(weight, grad, lr=LEARNING_RATE, out=weight)
        od.waitall()

    return step


def torch_mlp(torch: Any, inputs: int, sizes: Sequence[int]) -> Any:
    """PyTorch's `mlp`."""
    layers: list[Any] = []
    for i, size in enumerate(sizes):
        layers.append(torch.nn.Linear(inputs, size))
        if i < len(sizes) - 1:
            layers.append(torch.nn.ReLU())
        inputs = size
    return torch.nn.Sequential(*layers)


def torch_lenet(torch: Any) -> Any:
    """PyTorch's `lenet`."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.Tanh(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(800, 500), nn.Tanh(), nn.Linear(500, 10),
    )  # fmt: skip


def torch_step(torch: Any, net: Any, data_shape: tuple[int, ...]) -> Callable[[], None]:
    """One step in PyTorch eager mode with the same batch and SGD."""
    data = torch.rand(data_shape)
    label = torch.randint(0, 10, (data_shape[0],))
    optimizer = torch.optim.SGD(net.parameters(), lr=LEARNING_RATE)
    loss = torch.nn.CrossEntropyLoss()

    def step() -> None:
        optimizer.zero_grad()
        loss(net(data), label).backward()
        optimizer.step()

    return step
