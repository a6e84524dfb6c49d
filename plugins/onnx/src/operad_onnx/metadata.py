"""Inputs and outputs of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, final

import onnx

Shaped = tuple[str, tuple[int | str, ...]]


@final
class Metadata(NamedTuple):
    """Names and shapes; a length that differs from run to run is its name, or 0.

    Attributes:
        inputs: Without those that have an array in the model.
        outputs: In order.
    """

    inputs: list[Shaped]
    outputs: list[Shaped]


def metadata(model: onnx.ModelProto) -> Metadata:
    """Inputs and outputs of a model."""
    known = {tensor.name for tensor in model.graph.initializer}
    return Metadata(
        _shapes(info for info in model.graph.input if info.name not in known), _shapes(model.graph.output)
    )


def _shapes(infos: Iterable[onnx.ValueInfoProto]) -> list[Shaped]:
    return [
        (info.name, tuple(length.dim_param or length.dim_value for length in info.type.tensor_type.shape.dim))
        for info in infos
    ]
