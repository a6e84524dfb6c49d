"""Images as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

_RANDOM: Final = "it changes images at random, before they are given to a model"


def _to_tensor(node: Any) -> Any:
    """Channels first, over 255."""
    rank = len(node.shapes[0])
    order = (*range(rank - 3), rank - 1, rank - 3, rank - 2)
    turned = node.add("Transpose", node.cast(node.inputs[0], "float32"), perm=order)
    return node.add("Div", turned, node.const(255.0, "float32"))


def _normalize(node: Any) -> Any:
    """The images less a mean, over a deviation, by channel."""
    channels = node.fixed_lengths(0, len(node.shapes[0]) - 3)[0]
    mean, std = (
        np.resize(values[:1] if values in ((0.0,) * 4, (1.0,) * 4) else values, channels).reshape(-1, 1, 1)
        for values in (node.op.mean, node.op.std)
    )
    return node.add("Div", node.add("Sub", node.inputs[0], node.const(mean)), node.const(std))


def _crop(node: Any) -> Any:
    op = node.op
    return node.slice(node.inputs[0], [op.y, op.x], [op.y + op.height, op.x + op.width], [-3, -2])


def _flipped(axis: int) -> Callable[[Any], Any]:
    return lambda node: node.slice(node.inputs[0], [-1], [-(2**62)], [axis], [-1])


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "_image_to_tensor": _to_tensor,
    "_image_normalize": _normalize,
    "_image_crop": _crop,
    "_image_flip_left_right": _flipped(-2),
    "_image_flip_top_bottom": _flipped(-3),
}
ABSENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "_image_random_brightness", "_image_random_color_jitter", "_image_random_contrast",
            "_image_random_flip_left_right", "_image_random_flip_top_bottom", "_image_random_hue",
            "_image_random_lighting", "_image_random_saturation",
        ),
        _RANDOM,
    ),
}  # fmt: skip
