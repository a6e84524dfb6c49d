"""Training steps: forward, backward and SGD update, beside PyTorch eager on the same batch."""

from __future__ import annotations

from tests.benchmarks.case import Case, optional_module
from tests.benchmarks.networks import lenet, mlp, torch_lenet, torch_mlp, torch_step, training_step

_MLPS = (
    ("MLP 784-64-64-10, batch 64", (64, 64, 10), 64),
    ("MLP 784-512-256-10, batch 64", (512, 256, 10), 64),
    ("MLP 784-1024-1024-10, batch 512", (1024, 1024, 10), 512),
)


def cases() -> list[Case]:
    """In milliseconds a step."""
    torch = optional_module("torch")
    found = []
    for name, sizes, batch in _MLPS:
        shape = (batch, 784)
        peer = None if torch is None else torch_step(torch, torch_mlp(torch, 784, sizes), shape)
        found.append(Case(name, training_step(mlp(sizes), shape), peer=peer, unit="ms"))
    shape = (64, 1, 28, 28)
    peer = None if torch is None else torch_step(torch, torch_lenet(torch), shape)
    found.append(Case("LeNet, batch 64", training_step(lenet(), shape), peer=peer, unit="ms"))
    return found
