"""What a benchmark module offers: a list of cases, each a callable to be timed, perhaps with a peer's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, final

_PER_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


@final
@dataclass(frozen=True, slots=True)
class Case:
    """One thing to time.

    Attributes:
        name: Unique within its module, for example "imperative add, 16x16".
        run: Does the work once and waits until it is done.
        operations: How many operations one `run` performs; the figure is the time of one.
        peer: The same work done by another library; None where there is none or it is not installed.
        unit: What a figure is shown in: "s", "ms", "us", "ns", or "ops/s" for a throughput.
        peer_name: Whose work `peer` does.
    """

    name: str
    run: Callable[[], object]
    operations: int = 1
    peer: Callable[[], object] | None = None
    unit: str = "us"
    peer_name: str = "torch"

    def figure(self, seconds: float) -> float:
        """The time of one `run` as this case reports it, in `unit`."""
        if self.unit == "ops/s":
            return self.operations / seconds
        return seconds / self.operations * _PER_SECOND[self.unit]


def optional_module(name: str) -> ModuleType | Any | None:
    """The module `name` where it is installed, else None: how a case finds its peer."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
