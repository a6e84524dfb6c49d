"""Stage: the network of `make demo`, trained both ways on the device and on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from unittest.mock import patch

import numpy as np

import operad as od
from examples import digits
from examples.data import load_digits

WAYS: Final = {"symbolic": digits.train_symbolic, "imperative": digits.train_imperative}
_SAME_EPOCHS: Final = 2
"""Beyond them, roundings in another order lead elsewhere."""


def names() -> list[str]:
    """Each way with equal losses, then each as the demo trains it."""
    return [f"{way}: {what}" for what in ("the CPU's losses", "the demo's accuracy") for way in WAYS]


def run(name: str) -> Mapping[str, object]:
    """Train one way."""
    way, _, what = name.partition(": ")
    return _losses(way) if what == "the CPU's losses" else _accuracy(way)


def _trained(way: str, ctx: od.Context, epochs: int) -> digits.Trained:
    net = digits.network()
    with ctx, patch.object(digits, "EPOCHS", epochs):
        return WAYS[way](net, load_digits(), lambda loss, accuracy: None)


def _losses(way: str) -> Mapping[str, object]:
    """Without what is drawn on the device: dropout, and the first weights."""
    with od.cpu():
        first = digits.initial_parameters(digits.network())

    def parameters(net: od.Symbol) -> dict[str, od.NDArray]:
        return {name: array.copyto(od.current_context()) for name, array in first.items()}

    with patch.object(digits, "initial_parameters", parameters), _no_dropout(od.sym), _no_dropout(od.nd):
        on_host, on_device = (_trained(way, ctx, _SAME_EPOCHS) for ctx in (od.cpu(), od.gpu(0)))
    np.testing.assert_allclose(on_device.losses, on_host.losses, rtol=1e-3)
    return {
        "loss": on_device.losses[-1], "loss on the CPU": on_host.losses[-1],
        "seconds": on_device.seconds, "seconds on the CPU": on_host.seconds,
    }  # fmt: skip


def _no_dropout(module: Any) -> Any:
    real = module.Dropout
    return patch.object(module, "Dropout", lambda *args, p, **keywords: real(*args, p=0.0, **keywords))


def _accuracy(way: str) -> Mapping[str, object]:
    found = _trained(way, od.gpu(0), digits.EPOCHS)
    assert found.accuracies[-1] >= digits.TARGET_ACCURACY, found.accuracies
    return {"accuracy": found.accuracies[-1], "seconds": found.seconds}
