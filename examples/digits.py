"""Handwritten digits: one network, trained symbolically and imperatively.

The data are scikit-learn's digits, 1797 scans of 8x8 pixels; a fifth is held out. The network is
LeNet's shape at this size: two convolutions with pooling, two fully connected layers. It is trained
once as a bound symbol and once as recorded array calls, saved, loaded again, and drawn.

Run it with `make demo`; pictures and files go to `build/demo/`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import operad as od
from examples.data import Digits, load_digits
from examples.pictures import draw_curves
from operad import autograd, nd, sym

BATCH = 64
EPOCHS = 30
TARGET_ACCURACY = 0.97
OUT = Path("build/demo")

console = Console()


class Trained(NamedTuple):
    """What one way of training gave."""

    parameters: dict[str, od.NDArray]
    losses: list[float]
    accuracies: list[float]
    seconds: float


def batches(images: Any, labels: Any, epoch: int) -> Iterator[tuple[Any, Any]]:
    """Full batches in an order that depends on the epoch alone."""
    order = np.random.default_rng(epoch).permutation(len(images))
    for start in range(0, len(order) - BATCH + 1, BATCH):
        chosen = order[start : start + BATCH]
        yield images[chosen], labels[chosen]


def network() -> od.Symbol:
    """The network as a symbol."""
    net = sym.var("data")
    for number, filters in ((1, 16), (2, 32)):
        net = sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}")
        net = sym.Activation(net, act_type="relu", name=f"relu{number}")
        net = sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{number}")
    net = sym.FullyConnected(sym.Flatten(net, name="flatten"), num_hidden=64, name="fc1")
    net = sym.Activation(net, act_type="tanh", name="tanh1")
    net = sym.Dropout(net, p=0.1, name="dropout1")
    net = sym.FullyConnected(net, num_hidden=10, name="fc2")
    return sym.SoftmaxOutput(net, name="softmax", normalization="batch")


def forward(parameters: dict[str, od.NDArray], data: od.NDArray, label: od.NDArray) -> od.NDArray:
    """The same network as array calls."""
    net = data
    for number, filters in ((1, 16), (2, 32)):
        weight, bias = parameters[f"conv{number}_weight"], parameters[f"conv{number}_bias"]
        net = nd.Convolution(net, weight, bias, kernel=(3, 3), pad=(1, 1), num_filter=filters)
        net = nd.Activation(net, act_type="relu")
        net = nd.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = nd.Flatten(net)
    net = nd.FullyConnected(net, parameters["fc1_weight"], parameters["fc1_bias"], num_hidden=64)
    net = nd.Dropout(nd.Activation(net, act_type="tanh"), p=0.1)
    net = nd.FullyConnected(net, parameters["fc2_weight"], parameters["fc2_bias"], num_hidden=10)
    return nd.SoftmaxOutput(net, label, normalization="batch")


def initial_parameters(net: od.Symbol) -> dict[str, od.NDArray]:
    """Xavier weights and zero biases, the same on every run."""
    od.random.seed(0)
    shapes, _, _ = net.infer_shape(data=(BATCH, 1, 8, 8))
    initializer = od.init.Xavier(magnitude=2.0)
    parameters = {}
    for name, shape in zip(net.list_arguments(), shapes, strict=True):
        if name not in ("data", "softmax_label"):
            parameters[name] = nd.empty(shape)
            initializer(name, parameters[name])
    return parameters


def optimizer_for(
    parameters: dict[str, od.NDArray], steps: int
) -> Callable[[str, od.NDArray, od.NDArray], None]:
    """An updater of SGD with momentum whose learning rate falls along a cosine."""
    schedule = od.lr_scheduler.CosineScheduler(max_update=steps, base_lr=0.15, final_lr=0.005)
    sgd = od.optimizer.SGD(momentum=0.9, wd=1e-4, learning_rate=0.15, lr_scheduler=schedule)
    return od.optimizer.get_updater(sgd)


def cross_entropy(probabilities: Any, labels: Any) -> float:
    """Mean of -log p(label); shapes (N, 10) and (N,)."""
    picked = probabilities[np.arange(len(labels)), labels.astype(int)]
    return float(-np.log(np.maximum(picked, 1e-12)).mean())


def accuracy(predict: Callable[[Any], Any], digits: Digits) -> float:
    """Share of held-out images whose most probable class is right."""
    return float((predict(digits.test_images).argmax(axis=1) == digits.test_labels).mean())


def train_symbolic(net: od.Symbol, digits: Digits, report: Callable[[float, float], None]) -> Trained:
    """Train the symbol in a bound executor."""
    start = time.perf_counter()
    executor = net.simple_bind(od.current_context(), data=(BATCH, 1, 8, 8))
    parameters = initial_parameters(net)
    executor.copy_params_from(parameters)
    update = optimizer_for(parameters, EPOCHS * (len(digits.train_images) // BATCH))
    losses, accuracies = [], []
    for epoch in range(EPOCHS):
        loss = []
        for images, labels in batches(digits.train_images, digits.train_labels, epoch):
            executor.forward(is_train=True, data=images, softmax_label=labels)
            executor.backward()
            for name in parameters:
                update(name, executor.grad_dict[name], executor.arg_dict[name])
            loss.append(cross_entropy(executor.outputs[0].asnumpy(), labels))
        trained = {name: executor.arg_dict[name] for name in parameters}
        losses.append(float(np.mean(loss)))
        accuracies.append(accuracy(symbolic_predictor(net, trained), digits))
        report(losses[-1], accuracies[-1])
    return Trained(
        {name: array.copy() for name, array in trained.items()},
        losses,
        accuracies,
        time.perf_counter() - start,
    )


def train_imperative(net: od.Symbol, digits: Digits, report: Callable[[float, float], None]) -> Trained:
    """Train the same network with recorded array calls."""
    start = time.perf_counter()
    parameters = initial_parameters(net)
    for array in parameters.values():
        array.attach_grad()
    update = optimizer_for(parameters, EPOCHS * (len(digits.train_images) // BATCH))
    losses, accuracies = [], []
    for epoch in range(EPOCHS):
        loss = []
        for images, labels in batches(digits.train_images, digits.train_labels, epoch):
            with autograd.record():
                output = forward(parameters, nd.array(images), nd.array(labels))
            output.backward()
            for name, array in parameters.items():
                update(name, array.grad, array)
            loss.append(cross_entropy(output.asnumpy(), labels))
        losses.append(float(np.mean(loss)))
        accuracies.append(accuracy(imperative_predictor(parameters), digits))
        report(losses[-1], accuracies[-1])
    return Trained(parameters, losses, accuracies, time.perf_counter() - start)


def symbolic_predictor(net: od.Symbol, parameters: dict[str, od.NDArray]) -> Callable[[Any], Any]:
    """Probabilities by a bound executor, as a function of images."""

    def predict(images: Any) -> Any:
        executor = net.simple_bind(od.current_context(), grad_req="null", data=images.shape)
        executor.copy_params_from(parameters)
        return executor.forward(data=images)[0].asnumpy()

    return predict


def imperative_predictor(parameters: dict[str, od.NDArray]) -> Callable[[Any], Any]:
    """Probabilities by array calls, as a function of images."""

    def predict(images: Any) -> Any:
        return forward(parameters, nd.array(images), nd.array(np.zeros(len(images)))).asnumpy()

    return predict


def save_and_reload(net: od.Symbol, trained: Trained, digits: Digits) -> bool:
    """Whether the network, written to MXNet's files and read again, predicts the same bits."""
    net.save(OUT / "digits-symbol.json")
    nd.save(OUT / "digits-0000.params", {f"arg:{name}": array for name, array in trained.parameters.items()})
    loaded = nd.load(OUT / "digits-0000.params")
    parameters = {name.removeprefix("arg:"): array for name, array in loaded.items()}
    before = symbolic_predictor(net, trained.parameters)(digits.test_images)
    after = symbolic_predictor(sym.load(OUT / "digits-symbol.json"), parameters)(digits.test_images)
    return bool((before == after).all())


def providers(net: od.Symbol) -> Table:
    """Which installed distribution provides each operator of the network."""
    table = Table("operator", "installed distribution", title="Operators used", title_justify="left")
    operators = {node.op.name for node in net.graph.op_nodes} | {"sgd_mom_update"}
    for name in sorted(operators):
        record = od.registry.find(name)
        table.add_row(name, f"{record.distribution} {record.version}")
    return table


def train(title: str, how: Callable[..., Trained], net: od.Symbol, digits: Digits) -> Trained:
    """Train with a progress bar."""
    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  held-out accuracy {task.fields[accuracy]:.2%}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=EPOCHS, loss=float("nan"), accuracy=0.0)
        return how(net, digits, lambda loss, acc: progress.update(task, advance=1, loss=loss, accuracy=acc))


def main() -> int:
    """Train both ways, check, save, draw; 0 if everything held."""
    OUT.mkdir(parents=True, exist_ok=True)
    digits, net = load_digits(), network()
    console.print(f"{len(digits.train_images)} images to train on, {len(digits.test_images)} held out\n")
    symbolic = train("symbolic  ", train_symbolic, net, digits)
    imperative = train("imperative", train_imperative, net, digits)
    console.print()
    console.print(providers(net))
    reloaded = save_and_reload(net, symbolic, digits)
    od.viz.plot_network(net, shape={"data": (BATCH, 1, 8, 8)}, save_format="svg").render(OUT / "network")
    draw_curves({"symbolic": symbolic, "imperative": imperative}, OUT / "training.png")
    for name, result in (("symbolic", symbolic), ("imperative", imperative)):
        console.print(
            f"{name:11s} held-out accuracy {result.accuracies[-1]:.2%} after {result.seconds:.1f} s"
        )
    console.print(f"saved, loaded again: {'same predictions' if reloaded else 'DIFFERENT predictions'}")
    console.print(f"written to {OUT}/: network.svg, training.png, digits-symbol.json, digits-0000.params")
    console.print(
        "next: docs/first-steps.md trains a network of yours, docs/authoring/index.md writes an operator"
    )
    reached = min(symbolic.accuracies[-1], imperative.accuracies[-1]) >= TARGET_ACCURACY
    if not reached:
        console.print(f"[red]accuracy below {TARGET_ACCURACY:.0%}[/red]")
    return 0 if reached and reloaded else 1


if __name__ == "__main__":
    sys.exit(main())
