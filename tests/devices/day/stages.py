"""The stages of a day on a device, in order of their value."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NamedTuple

_HERE: Final = "tests.devices.day"


class Stage(NamedTuple):
    """A module with `names()`, which touches no device, and `run(name)`, which gives figures or raises.

    Attributes:
        shows: What it is for, in a line.
        seconds: Its share of the time; what it leaves is for those behind.
        workers: Processes among which its cases are divided.
    """

    name: str
    shows: str
    seconds: float
    workers: int = 1
    module: str = ""

    def load(self) -> Any:
        """The module."""
        return import_module(self.module or f"{_HERE}.{self.name}")


STAGES: Final = (
    Stage("operators", "every operator: forward and gradients are those of the CPU", 200, 4),
    Stage("digits", "a network trained both ways: losses are those of the CPU", 70),
    Stage("streams", "with delayed kernels, what depends on an operation waits for it", 50),
    Stage("memory", "steps do not take more and more memory, and what is freed goes back", 30),
    Stage("programs", "the tests that need a device, and programs of a user", 50),
    Stage("benchmarks", "times beside the CPU's, and PyTorch's where it is installed", 70),
)
"""480 seconds in all, on a device. Kernels are compiled once, in several processes, by the first stage."""
