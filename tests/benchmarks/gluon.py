"""Gluon's networks, hybridized and not, beside MXNet's.

    python -m tests.benchmarks.gluon [--threads N ...] [--seconds S] [--processor] [NETWORK ...]

A step is forward, loss, backward and `Trainer.step` by SGD with momentum; a prediction is one forward pass.
Both libraries run the program below, each in a process of its own. The processes take turns, some calls each,
and the table has the lower quartiles of all turns. `--processor` takes the least processor time instead, for
machines that do other work meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from tests.benchmarks.environments import FOLDER

NETWORKS: Final = ("mlp 64-64", "lenet", "lstm", "lstm cells", "resnet20")
WAYS: Final = (("operad", True), ("operad", False), ("mxnet", True), ("mxnet", False))
LEAST_ROUNDS: Final = 4
TURN_S: Final = 0.1
"""Seconds that one way runs before the next one does."""


def network(gluon: Any, name: str) -> tuple[Any, tuple[int, ...], int]:
    """A network, the shape of its data, and the number of its classes."""
    nn = gluon.nn
    if name == "mlp 64-64":
        net = nn.HybridSequential()
        net.add(nn.Dense(64, activation="relu"), nn.Dense(64, activation="relu"), nn.Dense(10))
        return net, (32, 64), 10
    if name == "lenet":
        net = nn.HybridSequential()
        net.add(
            nn.Conv2D(20, kernel_size=5, activation="tanh"), nn.MaxPool2D(2, 2),
            nn.Conv2D(50, kernel_size=5, activation="tanh"), nn.MaxPool2D(2, 2),
            nn.Dense(500, activation="tanh"), nn.Dense(10),
        )  # fmt: skip
        return net, (32, 1, 28, 28), 10
    if name == "resnet20":
        return resnet20(gluon), (32, 3, 32, 32), 10
    cells = name == "lstm cells"

    class Recurrent(gluon.HybridBlock):  # type: ignore[misc]  # a module of either library
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                if cells:
                    self.lstm = gluon.rnn.LSTMCell(64)
                else:
                    self.lstm = gluon.rnn.LSTM(64, layout="NTC")
                self.out = nn.Dense(10)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            if not cells:
                return self.out(self.lstm(x))
            return self.out(self.lstm.unroll(12, x, layout="NTC", merge_outputs=True)[0])

    return Recurrent(), (32, 12, 32), 10


def resnet20(gluon: Any) -> Any:
    """The residual network of 20 layers for pictures of 32 x 32."""
    nn = gluon.nn

    class Unit(gluon.HybridBlock):  # type: ignore[misc]  # a module of either library
        def __init__(self, channels: int, stride: int, widens: bool) -> None:
            super().__init__()
            with self.name_scope():
                self.body = nn.HybridSequential(prefix="")
                self.body.add(
                    nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(),
                    nn.Activation("relu"), nn.Conv2D(channels, 3, 1, 1, use_bias=False), nn.BatchNorm(),
                )  # fmt: skip
                self.short = nn.HybridSequential(prefix="short_") if widens else None
                if self.short is not None:
                    self.short.add(nn.Conv2D(channels, 1, stride, use_bias=False), nn.BatchNorm())

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.relu(self.body(x) + (x if self.short is None else self.short(x)))

    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, 1, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for stage, channels in enumerate((16, 32, 64)):
        for unit in range(3):
            first = stage > 0 and unit == 0
            net.add(Unit(channels, 2 if first else 1, first))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    return net


def prepared(mx: Any, name: str, hybrid: bool) -> tuple[Callable[[], None], Callable[[], None]]:
    """A prediction and a step, which end when their results are there."""
    mx.random.seed(1)
    net, shape, classes = network(mx.gluon, name)
    net.initialize(mx.init.Xavier())
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    if hybrid:
        settings = {"static_alloc": True, "static_shape": True}
        net.hybridize(**settings)
        loss_of.hybridize(**settings)
    data = mx.nd.random.uniform(-1, 1, shape=shape)
    label = mx.nd.array([i % classes for i in range(shape[0])])
    net(data)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-3, "momentum": 0.9})
    last = list(net.collect_params().values())[-1]

    def predict() -> None:
        net(data).wait_to_read()

    def step() -> None:
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(shape[0])
        last.data().wait_to_read()
        loss.wait_to_read()

    return predict, step


def serve(library: str, uses_processor_time: bool) -> None:
    """Run what the lines on the standard input ask for, and answer each by a line of seconds."""
    if library == "mxnet":
        import mxnet as mx
    else:
        import operad as mx
    known: dict[Any, tuple[Callable[[], None], Callable[[], None]]] = {}
    clock = time.process_time if uses_processor_time else time.perf_counter
    for line in sys.stdin:
        name, hybrid, kind = json.loads(line)
        if (name, hybrid) not in known:
            known[name, hybrid] = prepared(mx, name, hybrid)
            for function in known[name, hybrid] * 5:
                function()
        function = known[name, hybrid][kind]
        times: list[float] = []
        while sum(times) < TURN_S:
            begun = clock()
            function()
            times.append(clock() - begun)
        print(json.dumps(times), flush=True)


def pythons() -> dict[str, str]:
    """The interpreters of the libraries that are there."""
    found = {"operad": sys.executable, "mxnet": str(FOLDER / "mxnet" / "bin" / "python")}
    return {name: python for name, python in found.items() if os.path.exists(python)}


def lower_quartile(times: list[float]) -> float:
    return statistics.quantiles(times, n=4)[0]


def row(
    servers: dict[str, subprocess.Popen[str]],
    name: str,
    kind: int,
    seconds: float,
    of: Callable[[list[float]], float],
) -> list[float]:
    """Value of `of` for the times of each way, in seconds; NaN where a library is not there."""
    times: list[list[float]] = [[] for _ in WAYS]
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < LEAST_ROUNDS or time.perf_counter() < end:
        rounds += 1
        for (library, hybrid), found in zip(WAYS, times, strict=True):
            if library in servers:
                server = servers[library]
                assert server.stdin is not None
                assert server.stdout is not None
                print(json.dumps([name, hybrid, kind]), file=server.stdin, flush=True)
                found += json.loads(server.stdout.readline())
    return [of(found) if found else float("nan") for found in times]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=[*NETWORKS])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--processor", action="store_true", help="measure processor time")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.processor)
        return
    flags = ["--processor"] if options.processor else []
    titles = [f"{library} {'hybridized' if hybrid else 'eager'}" for library, hybrid in WAYS]
    of, unit = (
        (min, "ms of processors, least") if options.processor else (lower_quartile, "ms, lower quartile")
    )
    for threads in options.threads:
        print(f"\n{threads} threads, load {os.getloadavg()[0]:.1f}; {unit}\n")
        print(f"| network | | {' | '.join(titles)} | of MXNet |\n|---|---|{'---|' * (len(WAYS) + 1)}")
        counts = {key: str(threads) for key in ("OPERAD_NUM_THREADS", "OMP_NUM_THREADS")}
        servers = {
            library: subprocess.Popen(
                [python, "-m", "tests.benchmarks.gluon", "--serve", library, *flags],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **counts},
            )
            for library, python in pythons().items()
        }  # fmt: skip
        for name in options.networks:
            for kind, what in enumerate(("predict", "step")):
                found = row(servers, name, kind, options.seconds, of)
                cells = [f"{value * 1e3:.3f}" for value in found]
                print(f"| {name} | {what} | {' | '.join(cells)} | {found[0] / found[2]:.2f} |", flush=True)
        for server in servers.values():
            server.communicate()


if __name__ == "__main__":
    main()
