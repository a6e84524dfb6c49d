"""Printed table of a block's layers.

Source: Block.summary, python/mxnet/gluon/block.py.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from operad import NDArray
from operad_gluon.errors import ParameterError
from operad_gluon.parameter import Parameter

_ROW = "{:>20}  {:>42} {:>15}\n"
_WIDTH = 80


class _Row(NamedTuple):
    layer: str
    shape: str
    params: int = 0
    trainable: int = 0
    shared: int = 0


def summarize(block: Any, inputs: Any) -> None:
    """Print the layers that a forward pass of some inputs goes through."""
    rows = [_Row("Input", _shapes(inputs))]
    seen: set[Parameter] = set()
    handles: list[Any] = []

    def note(one: Any, _: Any, outputs: Any) -> None:
        own = list(one._reg_params.values())
        sizes = [param.data().size for param in own]
        learnt = [size for param, size in zip(own, sizes, strict=True) if param.grad_req != "null"]
        shared = [size for param, size in zip(own, sizes, strict=True) if param in seen]
        seen.update(own)
        layer = f"{type(one).__name__}-{len(rows)}"
        rows.append(_Row(layer, _shapes(outputs), sum(sizes), sum(learnt), sum(shared)))

    def register(one: Any) -> None:
        if getattr(one, "_active", False):
            raise ParameterError(
                f'"{one.name}" must not be hybridized to print summary; call hybridize(False) before'
            )
        if not one._is_container:
            handles.append(one.register_forward_hook(note))

    try:
        block.apply(register)
        block(*inputs)
        sys.stdout.write(_table(rows))
    finally:
        for handle in handles:
            handle.detach()


def _table(rows: list[_Row]) -> str:
    line = "-" * _WIDTH + "\n"
    text = line + _ROW.format("Layer (type)", "Output Shape", "Param #") + "=" * _WIDTH + "\n"
    text += "".join(_ROW.format(*row[:3]) for row in rows) + "=" * _WIDTH + "\n"
    total, trainable, shared = (
        sum(getattr(row, name) for row in rows) for name in ("params", "trainable", "shared")
    )
    return (
        f"{text}Parameters in forward computation graph, duplicate included\n"
        f"   Total params: {total}\n   Trainable params: {trainable}\n"
        f"   Non-trainable params: {total - trainable}\n"
        f"Shared params in forward computation graph: {shared}\n"
        f"Unique parameters in model: {total - shared}\n{line}"
    )


def _shapes(values: Any) -> str:
    text = str(_nested(values)).replace("'", "")
    return text[1:-1] if isinstance(values, (list, tuple)) and len(values) != 1 else text.strip("[]")


def _nested(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return [_nested(one) for one in values]
    return str(values.shape) if isinstance(values, NDArray) else str(values)
