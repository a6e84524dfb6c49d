"""Kernels of `GroupNorm`, which are those of `InstanceNorm` for data of another shape.

(N, G * c, ...) is (N, G, c * ...) in memory, and there gains are for channels. No form says how one axis is
two; a program does, but prepares more in Python than small data takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from math import prod
from typing import Any, final

from operad.context import Context
from operad.operator import BackwardArrays, CallTemplate, ForwardArrays, Kernel
from operad_normalization.instance_norm import InstanceNorm
from operad_sdk import DType, KernelCall, OpContext, Operator, OpReq, Shape


@cache
def kernels_as_instances() -> list[Kernel]:
    """The kernels that follow from the functions of `InstanceNorm`, for calls of `GroupNorm`."""
    return [
        kernel._replace(
            name=kernel.name.replace("InstanceNorm", "GroupNorm"),
            factory=partial(_AsInstances, kernel),
            when=_AppliesToInstances(kernel),
            cost=partial(_of_instances, kernel.cost),
            scratch_bytes=partial(_of_instances, kernel.scratch_bytes),
        )
        for kernel in InstanceNorm().derived_kernels()
    ]


@lru_cache(maxsize=1024)
def _instance_norm(eps: float) -> InstanceNorm:
    found: InstanceNorm = InstanceNorm(eps=eps)
    return found


def _shape(prop: Any, shape: Shape) -> Shape:
    samples, groups, *inner = prop.groups(shape).shape
    return samples, groups, prod(inner)


def _as_instances(call: KernelCall) -> KernelCall:
    """The call of `InstanceNorm`."""
    data, *vectors = call.in_shapes
    shapes = [_shape(call.prop, data), *vectors]
    prop = _instance_norm(call.prop.eps)
    return KernelCall(prop, call.ctx, shapes, call.in_types, call.is_train, call.threads, call.is_bare)


def _of_instances(function: Any, call: KernelCall) -> Any:
    return function(_as_instances(call))


@final
class _AppliesToInstances:
    """Condition of a kernel, for the call of `InstanceNorm`."""

    def __init__(self, kernel: Kernel) -> None:
        self._when: Any = kernel.when
        self.ignores_values = kernel.ignores_values

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why the kernel is not used."""
        found: bool | str = _why_other_types(call) or self._when(_as_instances(call))
        return found

    def regardless_of_size(self, call: KernelCall) -> bool | str:
        """Same condition but for size and speed."""
        found: bool | str = _why_other_types(call) or self._when.regardless_of_size(_as_instances(call))
        return found

    def explained(self, call: KernelCall) -> str:
        """The kernel in words, where it is a program."""
        found: str = self._when.explained(_as_instances(call))
        return found

    @property
    def is_possible(self) -> bool:
        """True if the kernel can be used at all in this environment."""
        return bool(self._when.is_possible)


def _why_other_types(call: KernelCall) -> str:
    is_half = call.prop.output_mean_var and call.in_types[0] == "float16"
    return "mean and deviation that callers see are of float16" if is_half else ""


@final
class _AsInstances(Operator):
    """Operator of a kernel of `InstanceNorm`, which gets the arrays in its shapes."""

    def __init__(
        self, kernel: Kernel, prop: Any, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        call = _as_instances(KernelCall(prop, ctx, in_shapes, in_types))
        self._shape = call.in_shapes[0]
        self._given = in_shapes[0]
        self._operator = kernel.factory(call.prop, ctx, call.in_shapes, in_types)
        # A call of contiguous arrays asks for their addresses alone.
        self.direct = self._operator.direct
        self.direct_visible = self._operator.direct_visible
        self.lock_cost_limit_us = self._operator.lock_cost_limit_us

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs."""
        ins, outs = self._seen(arrays.in_data), self._seen(arrays.out_data)
        self._operator.forward(op_ctx, arrays._replace(in_data=ins, out_data=outs))

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients."""
        heads, ins, outs, req, grads, states = arrays
        heads, ins, outs, grads = map(self._seen, (heads, ins, outs, grads))
        self._operator.backward(op_ctx, BackwardArrays(heads, ins, outs, req, grads, states))

    def backward_templates(
        self, op_ctx: OpContext, req: Sequence[OpReq], num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The kernel's, where they are calls of contiguous arrays."""
        found = self._operator.backward_templates(op_ctx, req, num_outputs, num_states)
        if any(isinstance(arg, Operator) for template in found for arg in template.args):
            return super().backward_templates(op_ctx, req, num_outputs, num_states)
        return found

    def _seen(self, arrays: Sequence[Any]) -> list[Any]:
        """The arrays, data in the other shape; what is written is contiguous."""
        return [
            array if array is None or array.shape != self._given else array.reshape(self._shape)
            for array in arrays
        ]
