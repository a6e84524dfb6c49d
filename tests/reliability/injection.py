"""Failures injected at every operator run, and at every allocation, of a training step in turn.

Run as a program of its own, because it changes how operators are made before the first one is. It
prints one JSON object for each injected failure, which `test_injected_failures` reads.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import operad as od
from operad.op.choice import Choice
from operad.operator import Operator
from operad.storage.cpu import CpuDevice
from tests.reliability.training import Training, digest

STEPS = 3


class InjectedError(Exception):
    """What an injected failure raises."""


class Fuse:
    """Counts runs of what burns it, and blows at one of them, and at as many after it as are its retries."""

    def __init__(self, retries: int = 0) -> None:
        self.runs: list[str] = []
        self.blows_at: int | None = None
        self._retries = retries
        self._lock = threading.Lock()

    def burn(self, what: str, error: type[Exception] = InjectedError) -> None:
        with self._lock:
            number = len(self.runs)
            self.runs.append(what)
        if self.blows_at is not None and 0 <= number - self.blows_at <= self._retries:
            raise error(what)

    def reset(self, blows_at: int | None = None) -> None:
        self.runs, self.blows_at = [], blows_at


class Fused(Operator):
    """An operator that asks the fuse before it computes."""

    def __init__(self, name: str, operator: Operator, fuse: Fuse) -> None:
        self._name, self._operator, self._fuse = name, operator, fuse

    def forward(self, *args: Any) -> None:
        self._fuse.burn(f"forward of {self._name}")
        self._operator.forward(*args)

    def backward(self, *args: Any) -> None:
        self._fuse.burn(f"backward of {self._name}")
        self._operator.backward(*args)


def fuse_operators() -> Fuse:
    """Every operator of a kernel made from now on burns the fuse that is returned.

    What kernels compute is made by their choice, for a call, a program and a gradient alike, and
    `create_operator` ends there too. `Fused` says nothing of `direct`, so no way leads past its `forward`.
    """
    fuse = Fuse()
    make = Choice.operator

    def make_fused(self: Choice) -> Operator:
        return Fused(self.call.prop.name, make(self), fuse)

    Choice.operator = make_fused  # type: ignore[method-assign]
    return fuse


def fuse_allocations() -> Fuse:
    """Every allocation from the system burns the fuse that is returned; needs OPERAD_POOL=0."""
    fuse = Fuse(retries=1)  # a pool asks again after it has given back what was idle
    allocate = CpuDevice.allocate

    def allocate_fused(self: CpuDevice, capacity_bytes: int) -> Any:
        fuse.burn(f"{capacity_bytes} bytes", MemoryError)
        return allocate(self, capacity_bytes)

    CpuDevice.allocate = allocate_fused  # type: ignore[method-assign]
    return fuse


def bound() -> tuple[Callable[[], None], Callable[[], dict[str, Any]], Callable[[dict[str, Any]], None]]:
    """A bound training step, the state it changes, and how to put that back."""
    training = Training()
    training.feed()

    def step() -> None:
        od.random.seed(3)
        training.step()

    return step, training.state, training.restore


def recorded() -> tuple[Callable[[], None], Callable[[], dict[str, Any]], Callable[[dict[str, Any]], None]]:
    """The same of a step that is recorded imperatively, all of whose results are allocated."""
    rng = np.random.RandomState(0)
    weight, bias = od.nd.array(rng.randn(4, 6)), od.nd.zeros((4,))
    data = od.nd.array(rng.randn(5, 6))
    weights = {"weight": weight, "bias": bias}
    for array in weights.values():
        array.attach_grad()

    def step() -> None:
        with od.autograd.record():
            hidden = od.nd.tanh(od.nd.FullyConnected(data, weight, bias, num_hidden=4))
            loss = od.nd.sum(od.nd.square(hidden - 0.5) * 2.0)
        loss.backward()
        for array in weights.values():
            od.nd.sgd_update(array, array.grad, lr=0.1, out=array)

    def state() -> dict[str, Any]:
        return {name: array.asnumpy() for name, array in weights.items()}

    def restore(saved: dict[str, Any]) -> None:
        for name, array in weights.items():
            array[:] = saved[name]

    return step, state, restore


def inject(fuse: Fuse, program: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    """One failure after another, at every burn of one step.

    Raises:
        RuntimeError: A step burns nothing, or a step that should have failed did not come to its failure.
    """
    step, state, restore = program()
    apart = od.nd.ones((3,))
    start = state()
    fuse.reset()
    for _ in range(STEPS):
        step()
    expected = digest(state())
    restore(start)
    od.nd.waitall()
    fuse.reset()
    step()
    od.nd.waitall()
    places = list(fuse.runs)
    if not places:
        raise RuntimeError("a step runs nothing that could fail")
    for number in range(len(places)):
        restore(start)
        od.nd.waitall()
        fuse.reset(number)
        seen: dict[str, Any] = {
            "place": None,
            "at_call": None,
            "at_wait": None,
            "apart": True,
            "recovered": False,
        }
        try:
            step()
        except Exception as error:  # noqa: BLE001 - reported, and judged by the test
            seen["at_call"] = _described(error)
        try:
            apart[:] = number  # runs no operator, which would burn the fuse
            seen["apart"] = apart.asnumpy().tolist() == [number] * 3
            od.nd.waitall()
        except Exception as error:  # noqa: BLE001 - as above
            seen["at_wait"] = _described(error)
        if len(fuse.runs) <= number:
            raise RuntimeError(f"failure {number} of {len(places)} did not happen; there ran {fuse.runs}")
        seen["place"] = fuse.runs[number]  # the order of operators that run side by side is not fixed
        fuse.reset()
        restore(start)
        for _ in range(STEPS):
            step()
        seen["recovered"] = digest(state()) == expected
        yield seen


def _described(error: BaseException) -> dict[str, Any]:
    lines = [str(error), *getattr(error, "__notes__", [])]
    bases = [base.__name__ for base in type(error).__mro__]
    return {"bases": bases, "text": "\n".join(lines)}


def main(what: str, style: str) -> None:
    """`operators` or `allocations`, in a `bound` or a `recorded` step."""
    fuse = fuse_operators() if what == "operators" else fuse_allocations()
    for seen in inject(fuse, bound if style == "bound" else recorded):
        print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
