"""Parts that the programs of this folder share: data, weights to start from, a loop, losses.

A program is a function of the library, MXNet 1.9.1 or operad, and of `Data`. It trains a network and returns
its loss on rows that it did not train on. Weights and noise are drawn by NumPy, by name, so both libraries
start from the same numbers. Needs NumPy alone, of any version; `data.py` makes the file that `Data` reads.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

Program = Callable[[Any, "Data"], float]
PROGRAMS: Final[dict[str, Program]] = {}
RECORD: Final = Path(__file__).parents[1] / "recorded" / "held_out.json"
BATCH: Final = 32


class Data:
    """Arrays by name: those of a file, each with its first four fifths to train on and the rest held out."""

    def __init__(self, path: str | Path) -> None:
        with np.load(path) as found:
            self._arrays = dict(found)

    def __getitem__(self, name: str) -> Any:
        """All rows."""
        return self._arrays[name]

    def train(self, *names: str) -> list[Any]:
        """The rows to train on."""
        return [self[name][: len(self[name]) * 4 // 5] for name in names]

    def held_out(self, *names: str) -> list[Any]:
        """The others."""
        return [self[name][len(self[name]) * 4 // 5 :] for name in names]


def program(function: Program) -> Program:
    """Add a program under its function's name."""
    PROGRAMS[function.__name__] = function
    return function


def draws(name: str) -> np.random.RandomState:
    """Random numbers that belong to a name, in every process and under every NumPy."""
    return np.random.RandomState(zlib.crc32(name.encode()))


def start(name: str, array: Any) -> None:
    """An initializer: normal weights by what a unit reads, and zeros or ones by the ends of names."""
    shape, name = array.shape, str(name)
    if name.endswith(("_bias", "_beta", "_moving_mean")):
        array[:] = 0
    elif name.endswith(("_gamma", "_moving_var")):
        array[:] = 1
    else:
        scale = (1.0 / max(1, int(np.prod(shape[1:])))) ** 0.5
        array[:] = draws(name).normal(0, scale, shape).astype(np.float32)


def fitted(
    mx: Any,
    net: Any,
    inputs: Mapping[str, Any],
    labels: Mapping[str, Any] | None = None,
    epochs: int = 5,
    optimizer: str = "adam",
    each: Callable[[Any], None] | None = None,
    **options: Any,
) -> Any:
    """A `Module` that is trained on arrays, in their order.

    Args:
        inputs: Data by name; `labels` likewise.
        each: Called with the module behind every step.
        options: Of the optimizer.
    """
    batches = mx.io.NDArrayIter(dict(inputs), dict(labels or {}), BATCH, last_batch_handle="discard")
    module = mx.mod.Module(net, list(inputs), list(labels or {}) or None, context=mx.cpu())
    module.bind(batches.provide_data, batches.provide_label or None)
    module.init_params(start)
    module.init_optimizer(optimizer=optimizer, optimizer_params=options or {"learning_rate": 0.01})
    for _ in range(epochs):
        batches.reset()
        for batch in batches:
            module.forward_backward(batch)
            module.update()
            if each is not None:
                each(module)
    return module


def outputs(mx: Any, module: Any, inputs: Mapping[str, Any]) -> list[Any]:
    """Outputs of a module for arrays, an array for each."""
    found = module.predict(mx.io.NDArrayIter(dict(inputs), None, BATCH), always_output_list=True)
    return [each.asnumpy() for each in found]


def dense(mx: Any, net: Any, *sizes: int, act: str = "tanh", name: str = "fc") -> Any:
    """Layers with an activation between them."""
    for number, size in enumerate(sizes):
        if number:
            net = mx.sym.Activation(net, act_type=act)
        net = mx.sym.FullyConnected(net, num_hidden=size, name=f"{name}{number}")
    return net


def cross_entropy(probabilities: Any, classes: Any) -> float:
    """Mean of `-log p` of the right classes, which are along the last axis."""
    rows = probabilities.reshape(-1, probabilities.shape[-1])
    chosen = rows[np.arange(len(rows)), classes.astype(int).ravel()]
    return float(-np.log(np.maximum(chosen, 1e-8)).mean())


def squared(found: Any, wanted: Any) -> float:
    """Mean squared difference."""
    return float(np.square(found - wanted.reshape(found.shape)).mean())


def batches_of(rows: int, epochs: int) -> Iterator[slice]:
    """Slices of whole batches, again and again."""
    for _ in range(epochs):
        for begin in range(0, rows - BATCH + 1, BATCH):
            yield slice(begin, begin + BATCH)


def descend(mx: Any, executor: Any, fixed: set[str], optimizer: Any, sign: float = 1.0) -> Callable[[], None]:
    """Start an executor's parameters, and give the function that runs it and moves them.

    Args:
        fixed: Arguments that are no parameters.
    """
    update = mx.optimizer.get_updater(optimizer)
    names = sorted(name for name in executor.arg_dict if name not in fixed)
    for name in names:
        start(name, executor.arg_dict[name])

    def step() -> None:
        executor.forward(is_train=True)
        executor.backward()
        for number, name in enumerate(names):
            update(number, executor.grad_dict[name] * sign, executor.arg_dict[name])

    return step


def run(mx: Any, path: str | Path, only: Sequence[str] | None = None) -> dict[str, float]:
    """The loss of each program, or of some."""
    data, found = Data(path), {}
    for name in only or PROGRAMS:
        np.random.seed(7)
        mx.random.seed(7)
        with mx.name.NameManager():
            found[name] = PROGRAMS[name](mx, data)
    return found


def record() -> dict[str, float]:
    """Losses under MXNet."""
    found: dict[str, float] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found
