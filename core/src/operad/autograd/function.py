"""Calls on the tape that no plugin's operator made: copies, and functions with gradients of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, final

from operad.graph import CrossDeviceCopy
from operad.imperative import (
    Array,
    ArraySpec,
    Plan,
    Recordable,
    TapeNode,
    is_recording,
    record,
    refuse_aliases,
    refuse_traced,
)

Gradients = Callable[[Sequence[Any]], Sequence[Any]]


@final
class FunctionCall(Recordable):
    """A call whose gradients a program computes with arrays.

    Attributes:
        gradients: Gives those of the inputs, as these are, from one for each output.
    """

    __slots__ = ("gradients",)

    def __init__(self, name: str, out_specs: Sequence[ArraySpec], gradients: Gradients) -> None:
        super().__init__(name, out_specs)
        self.gradients = gradients


def record_function(
    name: str, inputs: Sequence[Array], outputs: Sequence[Array], gradients: Gradients
) -> Sequence[Array]:
    """Record that a function computed `outputs` from `inputs`, if recording is on and a gradient may flow.

    A backward pass calls `gradients` in its own thread, unrecorded.

    Args:
        name: What errors call the function.
        inputs: Its arguments.
        outputs: Its results, on the tape or not.
        gradients: Gives the gradients of the inputs, as these are, from one for each output.
    Returns:
        The results; where the call was recorded, new arrays over the same memory.
    Raises:
        BindError: An input shares memory with a recorded result that it is not.
    """
    if not is_recording():
        return outputs
    refuse_traced(f"{name} computes its gradients with arrays", "call it outside")
    refuse_aliases(name, inputs)
    entries = tuple([x._autograd for x in inputs])
    if not any(entries):
        return outputs
    made = [output.detach() for output in outputs]
    node = TapeNode(FunctionCall(name, [x._spec for x in made], gradients), entries)
    for i, output in enumerate(made):
        output._autograd = (node, i)
    return made


def record_copy(source: Array, target: Array) -> None:
    """Record that `target` holds a copy of `source`, perhaps on another device or of another type."""
    record(_copy_plan(source._spec, target._spec), [source], [target])


@lru_cache(maxsize=256)
def _copy_plan(source: ArraySpec, target: ArraySpec) -> Plan:
    ctx = target.ctx
    prop = CrossDeviceCopy(device_type=ctx.device_type, device_id=ctx.device_id, dtype=target.dtype.name)
    return Plan(prop, [source], ctx, is_train=False)
