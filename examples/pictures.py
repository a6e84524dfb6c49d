"""Pictures of a training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt


def draw_curves(results: Mapping[str, Any], path: Path) -> None:
    """Draw loss and held-out accuracy by epoch for each way of training."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
    for style, (name, result) in zip(("-", "--"), results.items(), strict=False):
        epochs = range(1, len(result.losses) + 1)
        left.plot(epochs, result.losses, style, label=name)
        right.plot(epochs, result.accuracies, style, label=name)
    left.set(title="training loss", xlabel="epoch", ylabel="cross-entropy", yscale="log")
    right.set(title="held-out accuracy", xlabel="epoch", ylabel="share right", ylim=(0.9, 1.0))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)
