"""PyTorch's tensors and NumPy's arrays over one memory, and element types of either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import torch

from operad.dtypes import DType
from operad.errors import DTypeError, UnsupportedError

_NAMES: Final = (
    "float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16", "uint32",
    "uint64",
)  # fmt: skip
"""Element types that both have, which are all of operad's."""
_TORCH: Final[dict[DType, Any]] = {np.dtype(name): getattr(torch, name) for name in _NAMES}
_NUMPY: Final[dict[Any, DType]] = {kind: dtype for dtype, kind in _TORCH.items()}


def types(operator: str, names: Sequence[str], tensors: Iterable[Any]) -> list[DType]:
    """NumPy's element types of tensors.

    Args:
        operator: For messages; `names`, of the tensors, likewise.
    Raises:
        DTypeError: A tensor has an element type that operad has not.
    """
    found = []
    for name, tensor in zip(names, tensors, strict=True):
        dtype = _NUMPY.get(tensor.dtype)
        if dtype is None:
            raise DTypeError(
                f"{operator}: {name} is {tensor.dtype}, expected one of {', '.join(_NAMES)}; "
                "convert it with tensor.to(torch.float32)"
            )
        found.append(dtype)
    return found


def arrays(operator: str, names: Sequence[str], tensors: Iterable[Any]) -> list[Any]:
    """Arrays over the memory of tensors, with their strides; nothing is copied.

    Raises:
        DTypeError: A tensor has an element type that operad has not.
        UnsupportedError: A tensor is not in the memory of the CPU.
    """
    tensors = list(tensors)
    types(operator, names, tensors)
    for name, tensor in zip(names, tensors, strict=True):
        if tensor.device.type != "cpu":
            raise UnsupportedError(
                f"{operator}: {name} is on {tensor.device}, and exported operators compute on the CPU; "
                "move it with tensor.cpu()"
            )
    # `force` resolves what PyTorch has put off, such as a change of sign; else it copies nothing.
    return [tensor.numpy(force=True) for tensor in tensors]


def empty(specs: Iterable[tuple[Sequence[Any], DType]], device: Any = "cpu") -> list[Any]:
    """New tensors of these shapes and types, with undefined contents."""
    return [torch.empty(tuple(shape), dtype=_TORCH[dtype], device=device) for shape, dtype in specs]


def type_name(value: Any) -> Any:
    """The name of an element type that is one of PyTorch's; anything else as it is."""
    found = _NUMPY.get(value) if isinstance(value, torch.dtype) else None
    return value if found is None else found.name
