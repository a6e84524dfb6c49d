"""PyTorch: tensors of NumPy's memory, gradients by autograd."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
import torch

from operad_check.foreign.backend import Array, Function, Pull, TransformingBackend
from operad_check.foreign.transforms import TRANSFORMATIONS, replaced
from operad_check.trials.violation import Refusal
from operad_check_torch.checks import OWN
from operad_check_torch.syntax import TorchSyntax

COMPILER: Final = "OPERAD_CHECK_TORCH_COMPILER"
"""Environment variable with the compiler of L901, such as `inductor`."""
_DECOMPOSED: Final = "aot_eager_decomp_partition"
"""Compiler that traces, infers shapes and decomposes, and then runs what it has made as it is: quick."""
_INTERNAL: Final = ("INTERNAL ASSERT", "please report a bug", "Please report")
"""Words of an exception by which PyTorch says that it is wrong itself."""


@final
class TorchBackend(TransformingBackend):
    """Functions of tensors on the CPU."""

    name = "torch"
    imports = {
        "torch": "import torch",
        "F": "import torch.nn.functional as F",
        "math": "import math",
    }
    narrow_types = {"bfloat16": 2.0**-7}
    checks = (*TRANSFORMATIONS, *OWN)
    syntax = TorchSyntax()

    @property
    def version(self) -> str:
        """PyTorch's version."""
        return str(torch.__version__)

    def array(self, value: Array, dtype: str = "") -> torch.Tensor:
        """A tensor of the array's memory where it can be; expanded, of a copy, where elements repeat."""
        if dtype:
            return self.array(value).to(getattr(torch, dtype))
        repeats = [stride == 0 and size > 1 for stride, size in zip(value.strides, value.shape, strict=True)]
        if any(repeats):
            once = value[tuple(slice(1) if repeat else slice(None) for repeat in repeats)]
            return torch.from_numpy(once.copy()).expand(value.shape)
        is_usual = value.flags.aligned and value.flags.writeable and value.dtype.isnative
        if any(stride < 0 for stride in value.strides) or not is_usual:
            value = value.copy()
        return torch.from_numpy(value)

    def numpy(self, value: Any) -> Array:
        """The tensor's elements."""
        if not isinstance(value, torch.Tensor):
            return np.asarray(value)
        value = value.float() if value.dtype == torch.bfloat16 else value
        found: Array = value.numpy(force=True)
        return found

    def call(self, function: Function, arrays: Sequence[torch.Tensor]) -> Any:
        """Call the function while nothing is recorded."""
        with torch.no_grad():
            return function(*arrays)

    def vjp(
        self, function: Function, arrays: Sequence[torch.Tensor], wanted: Sequence[int]
    ) -> tuple[Any, Pull]:
        """Record the call."""
        leaves = [array.detach().requires_grad_() if i in wanted else array for i, array in enumerate(arrays)]
        with torch.enable_grad():
            result = function(*leaves)
        several = result if isinstance(result, (tuple, list)) else (result,)

        def pull(heads: Sequence[torch.Tensor | None]) -> list[Any]:
            pairs = [
                (output, head)
                for output, head in zip(several, heads, strict=False)
                if head is not None and isinstance(output, torch.Tensor) and output.requires_grad
            ]
            if not pairs:
                return [None] * len(wanted)
            outputs, given = zip(*pairs, strict=True)
            return list(torch.autograd.grad(outputs, [leaves[i] for i in wanted], given, allow_unused=True))

        return result, pull

    def gradient(self, function: Function, wanted: Sequence[int], count: int) -> Function:
        """Autograd's gradient, recorded."""

        def gradient(*arrays: torch.Tensor) -> tuple[torch.Tensor, ...]:
            heads, leaves = arrays[:count], list(arrays[count:])
            with torch.enable_grad():
                for i in wanted:
                    leaves[i] = leaves[i] if leaves[i].requires_grad else leaves[i].detach().requires_grad_()
                result = function(*leaves)
                several = result if isinstance(result, (tuple, list)) else (result,)
                pairs = [
                    (one, head)
                    for one, head in zip(several, heads, strict=False)
                    if isinstance(one, torch.Tensor) and one.requires_grad
                ]
                inputs = [leaves[i] for i in wanted]
                if not pairs:
                    return tuple(torch.zeros_like(one) for one in inputs)
                outputs, given = zip(*pairs, strict=True)
                found: tuple[torch.Tensor, ...] = torch.autograd.grad(
                    outputs,
                    inputs,
                    [_recorded(head) for head in given],
                    create_graph=True,
                    materialize_grads=True,
                )
                if any(_refuses(one) for one in found):
                    raise Refusal("the function is marked with once_differentiable")
                return found

        return gradient

    def compiled(self, function: Function) -> Function:
        """`torch.compile`, by the compiler that the environment names, without earlier compilations."""
        torch.compiler.reset()
        made: Function = torch.compile(function, backend=os.environ.get(COMPILER, _DECOMPOSED), dynamic=False)
        return made

    def mapped(self, function: Function) -> Function:
        """`torch.func.vmap`; a draw at random has no meaning there."""
        made: Function = torch.func.vmap(function)
        return made

    def jvp(
        self, function: Function, arrays: Sequence[torch.Tensor], tangents: Sequence[torch.Tensor]
    ) -> tuple[Any, Any]:
        """`torch.func.jvp`."""
        real = [i for i, array in enumerate(arrays) if array.is_floating_point()]

        primals, moved = (tuple(each[i] for i in real) for each in (arrays, tangents))
        found: tuple[Any, Any] = torch.func.jvp(
            lambda *values: function(*replaced(arrays, real, values)), primals, moved
        )
        return found

    def is_refusal(self, error: BaseException) -> bool:
        """Any exception but one by which PyTorch reports a fault of its own."""
        return super().is_refusal(error) and not any(word in str(error) for word in _INTERNAL)


def _recorded(head: torch.Tensor) -> torch.Tensor:
    """The head gradient, recorded: else `once_differentiable` gives a constant, and not a refusal."""
    return head if head.requires_grad else head.detach().requires_grad_()


def _refuses(gradient: torch.Tensor) -> bool:
    """Return whether a backward pass along the graph raises because a function is differentiable once.

    Asking: `torch.autograd.grad` passes over that node where it does not lead to its inputs, and gives zero.
    """
    nodes, seen = [gradient.grad_fn], set[Any]()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        if node.name() == "torch::autograd::Error":
            return True
        seen.add(node)
        nodes += [following for following, _ in node.next_functions]
    return False
