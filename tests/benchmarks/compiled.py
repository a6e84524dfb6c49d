"""Compiled functions beside eager calls, an executor, PyTorch and JAX.

    python -m tests.benchmarks.compiled [NETWORK ...] [--threads N ...] [--seconds S] [--page]
        [--leave-out WAY ...]

`--page` writes `docs/measurements/compiled.md` besides. A step is forward and backward with given head
gradients, of all parameters. Ways of one library take turns in one process, a step each, and the table has
medians. PyTorch and JAX are measured where `make bench-peers` has made their environment. Behind the times
stand the first call of each way, which compiles, and the memory in use between forward and backward.
torch.compile takes minutes for the larger networks, so `--leave-out torch.compile` is for short runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.environments import ENVIRONMENTS, FOLDER
from tests.benchmarks.libraries import symbols
from tests.benchmarks.networks import TASKS, Task, transformer

NETWORKS: Final = {
    "mlp 64-64": TASKS["mlp 64-64"],
    "lstm": TASKS["lstm"],
    "lenet": TASKS["lenet"],
    "resnet20": TASKS["resnet20"],
    "transformer": Task(transformer, {"data": (8 * 32, 64)}),
}
WAYS: Final = ("eager", "compiled", "executor", "torch", "torch.compile", "jax")
MOST_ROUNDS: Final = 400
left_out: Final[list[str]] = []
"""Ways that are not measured, as the command line has them."""
PAGE: Final = Path("docs/measurements/compiled.md")
_HEAD: Final = f"""\
# Compiled functions beside other ways

`python -m tests.benchmarks.compiled --page` writes this page. Milliseconds of time on the wall, medians.
A step is forward and backward with given head gradients, of all parameters; the first step compiles.
*MiB kept* is what stays in use between forward and backward. Ways of one library take turns in one process.
What torch.compile and operad keep on disk is there; without it, first steps of torch.compile take 4 to 35 s.
Machine: {os.cpu_count()} cores, {platform.machine()}.
"""


def measured(ways: dict[str, tuple[Callable[[], Any], Callable[[], Any]]], seconds: float) -> dict[str, Any]:
    """Medians of all ways.

    Args:
        ways: For each a prediction and a step, which end when their results are there.
        seconds: How long the ways take turns, for predictions and for steps.
    """
    ways = {way: ways[way] for way in ways if way not in left_out}
    found: dict[str, Any] = {way: {} for way in ways}
    for number, kind in enumerate(("forward", "step")):
        times: dict[str, list[float]] = {way: [] for way in ways}
        for way, functions in ways.items():
            begun = time.perf_counter()
            functions[number]()
            found[way][f"first {kind}"] = time.perf_counter() - begun
            for _ in range(3):
                functions[number]()
        end = time.perf_counter() + seconds
        for _ in range(MOST_ROUNDS):
            for way, functions in ways.items():
                begun = time.perf_counter()
                functions[number]()
                times[way].append(time.perf_counter() - begun)
            if time.perf_counter() > end:
                break
        for way in ways:
            found[way][kind] = statistics.median(times[way])
    return found


class OperadLayers(symbols.Layers):
    """The layers as functions of arrays or of symbols, over variables by name."""

    def __init__(self, namespace: Any, variables: dict[str, Any]) -> None:
        self._sym, self._variables = namespace, variables

    def batch_norm(self, data: Any, name: str, channels: int) -> Any:
        ends = ("gamma", "beta", "mean", "var")
        given = [self._variables[f"{name}_{end}"] for end in ends]
        return self._sym.BatchNorm(data, *given, fix_gamma=False, eps=1e-5, momentum=0.9)

    def layer_norm(self, data: Any, name: str, channels: int) -> Any:
        return self._sym.LayerNorm(data, *[self._variables[f"{name}_{end}"] for end in ("gamma", "beta")])

    def attention(self, q: Any, k: Any, v: Any, heads: int, length: int) -> Any:
        f = self._sym
        split = [f.Reshape(x, shape=(-1, length, heads, 16)) for x in (q, k, v)]
        q, k, v = (f.Reshape(f.transpose(x, axes=(0, 2, 1, 3)), shape=(-1, length, 16)) for x in split)
        weights = f.softmax(f.batch_dot(q, k, transpose_b=True) * 0.25)
        found = f.Reshape(f.batch_dot(weights, v), shape=(-1, heads, length, 16))
        return f.Reshape(f.transpose(found, axes=(0, 2, 1, 3)), shape=(-1, heads * 16))


def of_operad(task: Task, seconds: float) -> dict[str, Any]:  # noqa: PLR0915 - the ways share arrays
    """Eager calls, a compiled function and an executor over the same arrays."""
    import operad as od

    inputs = {name: od.nd.array(value) for name, value in task.inputs().items()}
    parameters = {name: od.nd.array(value) for name, value in task.parameters.items()}
    for array in parameters.values():
        array.attach_grad()
    gammas = {name: x for name, x in parameters.items() if name.endswith("_gamma") and "norm" not in name}
    states = {name.replace("_gamma", "_mean"): od.nd.zeros(x.shape) for name, x in gammas.items()}
    states |= {name.replace("_gamma", "_var"): od.nd.ones(x.shape) for name, x in gammas.items()}

    def network(given: dict[str, Any]) -> list[Any]:
        return task.network(OperadLayers(od.nd, {**parameters, **states}), **given)

    named = {name: od.sym.var(name) for name in (*inputs, *parameters, *states)}
    outputs = task.network(OperadLayers(od.sym, named), **{name: named[name] for name in inputs})
    symbol = outputs[0] if len(outputs) == 1 else od.sym.Group(outputs)
    names = symbol.list_arguments()
    executor = symbol.bind(
        od.cpu(), {**inputs, **parameters}, args_grad={name: x.grad for name, x in parameters.items()},
        grad_req={name: "write" if name in parameters else "null" for name in names}, aux_states=states,
    )  # fmt: skip
    heads = [od.nd.ones(x.shape) for x in executor.outputs]
    last = next(reversed(parameters.values())).grad
    kept: dict[str, int] = {}

    def in_use() -> int:
        od.waitall()
        return int(od.storage.get().stats(od.cpu()).in_use_bytes)

    def ways(function: Callable[..., list[Any]], way: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
        def forward() -> None:
            for each in function(inputs):
                each.wait_to_read()

        def step() -> None:
            with od.autograd.record():
                found = function(inputs)
            od.autograd.backward(found, heads)
            last.wait_to_read()

        def memory() -> None:
            before = in_use()
            with od.autograd.record():
                found = function(inputs)
            kept[way] = in_use() - before
            od.autograd.backward(found, heads)

        memories[way] = memory
        return forward, step

    def predicted() -> None:
        for each in executor.forward(is_train=False):
            each.wait_to_read()

    def stepped() -> None:
        executor.forward(is_train=True)
        executor.backward(heads)
        last.wait_to_read()

    memories: dict[str, Callable[[], None]] = {}
    runs = {"eager": ways(network, "eager"), "compiled": ways(od.compile(network), "compiled")}
    found = measured({**runs, "executor": (predicted, stepped)}, seconds)
    for way, memory in memories.items():
        memory()
        found[way]["kept"] = kept[way]
    return found


def of_torch(task: Task, seconds: float) -> dict[str, Any]:
    """PyTorch, eager and compiled."""
    import torch
    from torch.nn import functional

    from tests.benchmarks.libraries import torch_rows

    torch.set_num_threads(int(os.environ["OPERAD_NUM_THREADS"]))

    class Layers(torch_rows.Layers):
        def layer_norm(self, data: Any, name: str, channels: int) -> Any:
            ends = (self._of[f"{name}_gamma"], self._of[f"{name}_beta"])
            return functional.layer_norm(data, (channels,), *ends)

        def attention(self, q: Any, k: Any, v: Any, heads: int, length: int) -> Any:
            q, k, v = (x.reshape(-1, length, heads, 16).transpose(1, 2) for x in (q, k, v))
            weights = (q @ k.transpose(2, 3) * 0.25).softmax(-1)
            return (weights @ v).transpose(1, 2).reshape(-1, heads * 16)

    parameters = {k: torch.from_numpy(v).clone().requires_grad_() for k, v in task.parameters.items()}
    inputs = {name: torch.from_numpy(value) for name, value in task.inputs().items()}
    layers = Layers(parameters)

    def network(given: dict[str, Any]) -> list[Any]:
        return task.network(layers, **given)

    heads = [torch.ones_like(x) for x in network(inputs)]

    def ways(function: Callable[..., list[Any]]) -> tuple[Callable[[], Any], Callable[[], Any]]:
        def forward() -> Any:
            with torch.no_grad():
                return function(inputs)

        return forward, lambda: torch.autograd.grad(function(inputs), [*parameters.values()], heads)

    return measured({"torch": ways(network), "torch.compile": ways(torch.compile(network))}, seconds)


def of_jax(task: Task, seconds: float) -> dict[str, Any]:
    """JAX, compiled."""
    import jax
    import jax.numpy as jnp

    from tests.benchmarks.libraries import jax_rows

    class Layers(jax_rows.Layers):
        def layer_norm(self, data: Any, name: str, channels: int) -> Any:
            mean, var = data.mean(-1, keepdims=True), data.var(-1, keepdims=True)
            scaled = (data - mean) * jax.lax.rsqrt(var + 1e-5)
            return scaled * self._of[f"{name}_gamma"] + self._of[f"{name}_beta"]

        def attention(self, q: Any, k: Any, v: Any, heads: int, length: int) -> Any:
            q, k, v = (x.reshape(-1, length, heads, 16).swapaxes(1, 2) for x in (q, k, v))
            weights = jax.nn.softmax(q @ k.swapaxes(2, 3) * 0.25)
            return (weights @ v).swapaxes(1, 2).reshape(-1, heads * 16)

    parameters = {name: jnp.asarray(value) for name, value in task.parameters.items()}
    inputs = {name: jnp.asarray(value) for name, value in task.inputs().items()}
    states = jax_rows._first_states(task.parameters)

    def network(parameters: Any, inputs: Any) -> list[Any]:
        return task.network(Layers(parameters, states), **inputs)

    heads = [jnp.ones_like(x) for x in network(parameters, inputs)]
    forward = jax.jit(network)
    step = jax.jit(lambda p, inputs: jax.vjp(lambda p: network(p, inputs), p)[1](heads))
    ways = tuple([partial(_waited, jax, each, parameters, inputs) for each in (forward, step)])
    return measured({"jax": ways}, seconds)  # type: ignore[dict-item]


def _waited(jax: Any, function: Callable[..., Any], *args: Any) -> None:
    jax.block_until_ready(function(*args))


LIBRARIES: Final = {"operad": of_operad, "torch": of_torch, "jax": of_jax}


def pythons() -> dict[str, str]:
    """The interpreters of the libraries that are there."""
    found = {"operad": sys.executable}
    for environment in ENVIRONMENTS:
        python = FOLDER / environment.folder / "bin" / "python"
        found.update({name: str(python) for name in environment.libraries if python.exists()})
    return {name: python for name, python in found.items() if name in LIBRARIES}


def row(name: str, threads: int, seconds: float) -> dict[str, Any]:
    """Figures of all libraries for one network."""
    found: dict[str, Any] = {}
    for library, python in pythons().items():
        one = "--xla_cpu_multi_thread_eigen=false" if threads == 1 else ""
        counts = {key: str(threads) for key in ("OPERAD_NUM_THREADS", "OMP_NUM_THREADS")}
        words = [python, "-m", "tests.benchmarks.compiled", name, "--library", library]
        words += ["--seconds", str(seconds), "--leave-out", *left_out]
        done = subprocess.run(
            words, check=False, capture_output=True, text=True,
            env={**os.environ, **counts, "XLA_FLAGS": one},
        )  # fmt: skip
        if done.returncode:
            print(f"{library}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        else:
            found.update(json.loads(done.stdout.splitlines()[-1]))
    return found


def _cell(found: dict[str, Any], way: str, what: str, scale: float = 1e3) -> str:
    value = found.get(way, {}).get(what)
    return "-" if value is None else f"{value * scale:.3f}" if value * scale < 100 else f"{value * scale:.0f}"


def tables(networks: Sequence[str], threads: int, seconds: float) -> Iterator[str]:
    """Lines of one table."""
    yield f"\n## Threads: {threads}\n\nLoad {os.getloadavg()[0]:.1f} at the start.\n"
    yield f"| network | | {' | '.join(WAYS)} |\n|---|---|{'---:|' * len(WAYS)}"
    for name in networks:
        found = row(name, threads, seconds)
        for what in ("forward", "step", "first step"):
            yield f"| {name} | {what} | {' | '.join(_cell(found, way, what) for way in WAYS)} |"
        kept = [_cell(found, way, "kept", 1 / 2**20) for way in WAYS[:2]]
        yield f"| {name} | MiB kept | {' | '.join(kept)} | | | | |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", choices=[*NETWORKS, []])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--leave-out", nargs="*", choices=WAYS[3:], default=[])
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    options = parser.parse_args()
    left_out[:] = options.leave_out
    if options.library:
        print(json.dumps(LIBRARIES[options.library](NETWORKS[options.networks[0]], options.seconds)))
        return
    begun, lines = time.monotonic(), list[str]()
    for threads in options.threads:
        for line in tables(options.networks or [*NETWORKS], threads, options.seconds):
            print(line, flush=True)
            lines.append(line)
    if options.page:
        took = (
            f"Taken in {(time.monotonic() - begun) / 60:.1f} minutes, {options.seconds:g} s for each cell.\n"
        )
        PAGE.write_text("\n".join([_HEAD, took, *lines, ""]))


if __name__ == "__main__":
    main()
