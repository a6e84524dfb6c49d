"""Pictures of a network and of its training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from operad.graph import Entry, OpNode

if TYPE_CHECKING:
    import operad as od

_COLOURS = {
    "Convolution": "#c6dbef", "FullyConnected": "#c7e9c0", "Pooling": "#fdd0a2", "Activation": "#fee391",
    "Dropout": "#e0e0e0", "SoftmaxOutput": "#fcbba1",
}  # fmt: skip


def draw_network(net: od.Symbol, shapes: Mapping[str, tuple[int, ...]], path: Path) -> None:
    """Draw the operators of `net` from input to output, each with its parameters and output shape.

    Args:
        net: The network.
        shapes: Shapes of the inputs.
        path: Where the PNG goes.
    """
    internals = net.get_internals()
    _, found, _ = internals.infer_shape(**shapes)
    shape_of = dict(zip(internals.entries, found, strict=True))
    nodes = net.graph.op_nodes
    rows = {node: len(nodes) - i for i, node in enumerate(nodes)}
    figure, axes = plt.subplots(figsize=(6.5, 0.85 * (len(nodes) + 1)))
    data = next(iter(shapes))
    _box(axes, len(nodes) + 1, data, "input", shapes[data], "#ffffff")
    for node, row in rows.items():
        params = ", ".join(f"{key}={value}" for key, value in _shown(node).items())
        _box(axes, row, f"{node.op.name}  {node.name}", params, shape_of[Entry(node, 0)],
             _COLOURS.get(node.op.name, "#f0f0f0"))  # fmt: skip
        source = rows.get(node.inputs[0].node, len(nodes) + 1)
        axes.annotate("", (0.5, row + 0.3), (0.5, source - 0.3), arrowprops={"arrowstyle": "->", "lw": 1.2})
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(0.5, len(nodes) + 1.6)
    axes.axis("off")
    figure.savefig(path, dpi=130, bbox_inches="tight")
    plt.close(figure)


def _shown(node: OpNode) -> dict[str, str]:
    """The parameters that differ from their defaults."""
    declared = type(node.op).params
    return {
        name: text for name, text in node.op.get_params().items()
        if declared[name].is_required or getattr(node.op, name) != declared[name].default
    }  # fmt: skip


def _box(axes: Any, row: float, title: str, detail: str, shape: Any, colour: str) -> None:
    axes.add_patch(plt.Rectangle((0.0, row - 0.3), 1.0, 0.6, facecolor=colour, edgecolor="#555555"))
    axes.text(0.02, row + 0.08, title, va="center", weight="bold", fontsize=10)
    axes.text(0.02, row - 0.14, detail, va="center", fontsize=8, color="#444444")
    axes.text(0.98, row, "x".join(map(str, shape)), va="center", ha="right", fontsize=9, family="monospace")


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
