"""Gradients of exported operators in PyTorch, of any order.

A backward pass is a function of PyTorch's too. It is given the arrays that the operator declares to read for
those gradients that are wanted, the states, lengths of the arguments, and a text with everything else: the
operator, the gradients, element types, the mode. Nothing else is kept, and a graph that holds the call can
be written to a file.

The gradient of a backward pass is that of the operator that `gradient_operator` gives. That is for shapes
that are known, so compiled code of second order is for them alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, final

import numpy as np
import torch

from operad.context import cpu
from operad.dtypes import DType
from operad.errors import GradientError
from operad_export import torch_arrays as memory
from operad_export.plain import PlainOperator
from operad_export.signature import signature_of

_SCHEMA: Final = "(Tensor[] arrays, Tensor[] states, SymInt[] lengths, str call) -> Tensor[]"


@final
class _Kept(NamedTuple):
    """Facts that a call keeps for its gradient beside tensors.

    Attributes:
        operator: What is differentiated.
        about: The operator as text.
        wanted: Flags of the arguments whose gradients may be asked for.
        entries: Arguments and outputs that are kept.
        likes: Shape and type of each argument.
        is_train: Whether for training.
    """

    operator: PlainOperator
    about: str
    wanted: list[bool]
    entries: list[Any]
    likes: list[tuple[tuple[Any, ...], DType]]
    is_train: bool


def keep(
    ctx: Any, operator: PlainOperator, about: str, arguments: Sequence[Any], outputs: Sequence[Any],
    states: Sequence[Any], *, is_train: bool,
) -> None:  # fmt: skip
    """Keep, in PyTorch's context of a call, what `gradients` needs.

    Args:
        ctx: The context.
        operator: What was called.
        about: The operator as text, for `described`.
        arguments: Tensors; `outputs` and `states` likewise, as they are behind the call.
        is_train: Whether for training.
    """
    wanted = [
        flows and tensor.requires_grad and tensor.is_floating_point()
        for flows, tensor in zip(operator.flows, arguments, strict=True)
    ]
    sources = {"in_data": arguments, "out_data": outputs}
    entries = [entry for entry in operator.reads(wanted) if entry.kind in sources] if any(wanted) else []
    kinds = memory.types(operator.prop.name, operator.arguments, arguments)
    likes = [(tuple(tensor.shape), kind) for tensor, kind in zip(arguments, kinds, strict=True)]
    ctx.save_for_backward(
        *[sources[kind][index] for kind, index in entries], *(states if any(wanted) else ())
    )
    ctx.operad = _Kept(operator, about, wanted, entries, likes, is_train)


def gradients(ctx: Any, backward: Any, heads: Sequence[Any], needed: Sequence[bool]) -> list[Any]:
    """Gradients of the arguments, None where there is none or none is needed.

    Args:
        ctx: Where `keep` has kept things.
        backward: The function that computes them.
        heads: Gradients of the outputs.
        needed: One flag for each argument.
    """
    kept: _Kept = ctx.operad
    wanted = [flag and need for flag, need in zip(kept.wanted, needed, strict=True)]
    if not any(wanted):
        return [None] * len(wanted)
    tensors = ctx.saved_tensors  # once: checkpointing gives each tensor one time
    saved = dict(zip(kept.entries, tensors, strict=False))
    arrays = [
        heads[entry.index] if entry.kind == "out_grad" else saved[entry]
        for entry in kept.operator.reads(wanted)
    ]
    likes = tuple([(len(shape), kind.name) for shape, kind in kept.likes])
    call = _call_text(kept.about, tuple(wanted), kept.is_train, likes)
    lengths = [length for shape, _ in kept.likes for length in shape]
    rest = iter(backward(arrays, list(tensors[len(kept.entries) :]), lengths, call))
    return [next(rest) if flag else None for flag in wanted]


@lru_cache(4096)
def described(name: str, values: tuple[Any, ...]) -> str:
    """An operator with values of its parameters, as text."""
    return json.dumps([name, values])


@lru_cache(4096)
def _call_text(about: str, wanted: tuple[bool, ...], is_train: bool, likes: tuple[Any, ...]) -> str:
    return json.dumps([json.loads(about), wanted, is_train, likes])


@final
class _Backward(NamedTuple):
    """A backward call, as its text describes it."""

    operator: PlainOperator
    wanted: list[bool]
    is_train: bool
    ranks: list[int]
    types: list[DType]

    def shapes(self, lengths: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Shapes of the arguments from all their lengths."""
        rest = iter(lengths)
        return [tuple([next(rest) for _ in range(rank)]) for rank in self.ranks]

    def results(self, lengths: Sequence[Any], device: Any) -> list[Any]:
        """New tensors for the gradients."""
        likes = zip(self.shapes(lengths), self.types, self.wanted, strict=True)
        return memory.empty([(shape, kind) for shape, kind, flag in likes if flag], device)


@lru_cache(4096)
def _read(call: str) -> _Backward:
    about, wanted, is_train, likes = json.loads(call)
    operator = _operator(about, len(likes))
    kinds = [np.dtype(kind) for _, kind in likes]
    return _Backward(operator, wanted, is_train, [rank for rank, _ in likes], kinds)


def _operator(about: Any, count: int) -> PlainOperator:
    """The operator of a text: one of a name, or that which computes the gradients of a call."""
    if isinstance(about, dict):
        return _gradient_operator(_read(about["gradients of"]), about["lengths"])
    name, values = about
    return signature_of(name).operator([tuple(v) if isinstance(v, list) else v for v in values], count)


def _gradient_operator(of: _Backward, lengths: Sequence[int]) -> PlainOperator:
    prop = of.operator.prop
    try:
        return PlainOperator(prop.gradient_operator(cpu(), of.shapes(lengths), of.types, of.wanted))
    except GradientError as error:
        raise GradientError(f"the gradient of {prop.name} cannot be differentiated: {error}") from error


def register_backward(library: Any, name: str) -> Any:
    """Define the function `operad::<name>` that computes gradients; returns it."""

    def autograd(ctx: Any, *heads: Any) -> Any:
        if ctx.operad_refusal is not None:
            raise ctx.operad_refusal
        needed = ctx.needs_input_grad[0]
        grads = gradients(ctx, backward, heads[0], needed)
        return grads, [None] * len(ctx.needs_input_grad[1]), None, None

    library.define(name + _SCHEMA)
    library.impl(name, _kernel, "CompositeExplicitAutograd")
    torch.library.register_fake(f"operad::{name}", _fake, lib=library)
    torch.library.register_autograd(f"operad::{name}", autograd, setup_context=_setup, lib=library)
    backward = getattr(torch.ops.operad, name).default
    return backward


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    arrays, _, lengths, call = inputs
    about = {"gradients of": call, "lengths": list(map(int, lengths))}
    ctx.operad_refusal = None
    try:
        operator = _gradient_operator(_read(call), about["lengths"])
    except GradientError as error:
        ctx.operad_refusal = error  # raised if it is ever asked for
        return
    keep(ctx, operator, json.dumps(about), arrays, output, [], is_train=_read(call).is_train)


def _device(arrays: Sequence[Any]) -> Any:
    return next((array.device for array in arrays), "cpu")


def _fake(arrays: list[Any], states: list[Any], lengths: Sequence[Any], call: str) -> list[Any]:
    return _read(call).results(lengths, _device(arrays))


def _kernel(arrays: list[Any], states: list[Any], lengths: Sequence[Any], call: str) -> list[Any]:
    found = _read(call)
    operator, results = found.operator, found.results(lengths, _device(arrays))
    title = operator.prop.name
    names = [f"{kind}[{index}]" for kind, index in operator.reads(found.wanted)]
    operator.backward(
        found.wanted, memory.arrays(title, names, arrays), memory.arrays(title, operator.states, states),
        found.shapes(lengths), found.types, [result.numpy() for result in results], is_train=found.is_train,
    )  # fmt: skip
    return results
