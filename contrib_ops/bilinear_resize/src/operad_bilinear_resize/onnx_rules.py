"""Bilinear interpolation as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def resize(node: Any) -> Any:
    """Resize to the size of the output."""
    batch = node.add("Shape", node.inputs[0], start=0, end=2)
    sizes = node.add("Concat", batch, node.ints(*node.fixed_lengths(None, 2)), axis=0)
    mode = "align_corners" if node.op.align_corners else "half_pixel"
    return node.add(
        "Resize", node.inputs[0], "", "", sizes, mode="linear", coordinate_transformation_mode=mode
    )


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"_contrib_BilinearResize2D": resize}
