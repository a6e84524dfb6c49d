"""Recurrent networks, beside PyTorch's of the same sizes: forward, and forward with backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, final

import numpy as np

import operad as od
from tests.benchmarks.case import Case, optional_module


@final
class Sizes(NamedTuple):
    """Of a network and its data."""

    mode: str
    steps: int
    batch: int
    features: int
    state_size: int
    num_layers: int = 1
    bidirectional: bool = False

    def __str__(self) -> str:
        both = ", both directions" if self.bidirectional else ""
        return (
            f"{self.mode}, {self.steps} steps of {self.batch}x{self.features}, "
            f"{self.num_layers}x{self.state_size} units{both}"
        )

    @property
    def params(self) -> dict[str, Any]:
        """Of `RNN`."""
        names = ("mode", "state_size", "num_layers", "bidirectional")
        return {name: getattr(self, name) for name in names}


_SIZES: Final = (
    Sizes("lstm", 35, 32, 200, 200, 2),
    Sizes("lstm", 100, 16, 512, 512),
    Sizes("lstm", 35, 32, 200, 200, 1, bidirectional=True),
    Sizes("lstm", 20, 1, 64, 64),
    Sizes("gru", 35, 32, 200, 200, 2),
    Sizes("rnn_tanh", 35, 32, 200, 200, 2),
)
_MODULES: Final = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN"}


def cases() -> list[Case]:
    """In milliseconds a pass."""
    torch = optional_module("torch")
    found = []
    for sizes in _SIZES:
        ours = _network(sizes)
        theirs = (None, None) if torch is None else _torch_network(torch, sizes)
        for run, peer, words in zip(ours, theirs, ("forward", "forward + backward"), strict=True):
            found.append(Case(f"{sizes}: {words}", run, peer=peer, unit="ms"))
    return found


def _network(sizes: Sizes) -> tuple[Callable[[], None], Callable[[], None]]:
    shapes, _, _ = od.registry.get("RNN")(**sizes.params).infer_shape(
        [(sizes.steps, sizes.batch, sizes.features), *[None] * (3 if sizes.mode == "lstm" else 2)]
    )
    rng = np.random.default_rng(0)
    arrays = [od.nd.array(0.1 * rng.standard_normal(shape)) for shape in shapes]
    for array in arrays:
        array.attach_grad()

    def forward() -> None:
        od.nd.RNN(*arrays, **sizes.params).wait_to_read()

    def both() -> None:
        with od.autograd.record():
            output = od.nd.RNN(*arrays, **sizes.params)
        output.backward()
        arrays[1].grad.wait_to_read()

    return forward, both


def _torch_network(torch: Any, sizes: Sizes) -> tuple[Callable[[], None], Callable[[], None]]:
    net = getattr(torch.nn, _MODULES[sizes.mode])(
        sizes.features, sizes.state_size, sizes.num_layers, bidirectional=sizes.bidirectional
    )
    data = torch.randn(sizes.steps, sizes.batch, sizes.features, requires_grad=True)
    leaves = [data, *net.parameters()]

    def forward() -> None:
        with torch.no_grad():
            net(data)

    def both() -> None:
        for leaf in leaves:
            leaf.grad = None
        output, _ = net(data)
        output.backward(torch.ones_like(output))

    return forward, both
