"""Checks of exported operators by PyTorch's own means."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch._dynamo

from operad_export.torch_operators import registered
from tests.exports.examples import Example

torch._dynamo.config.capture_dynamic_output_shape_ops = True
warnings.simplefilter("ignore")


def tensors(example: Example, grad: bool = False) -> list[Any]:
    """Arguments of the exported function; floating ones require gradients."""

    def one(array: Any, is_state: bool = False) -> Any:
        if array is None:
            return None
        tensor = torch.from_numpy(np.array(array))
        return tensor.requires_grad_(grad and not is_state and tensor.is_floating_point())

    arrays, signature = example.arrays, example.signature
    if signature.tensors is None:
        return [[one(a, bool(place)) for a in group] for place, group in enumerate(arrays)]
    return [one(a, t.is_state) for a, t in zip(arrays, signature.tensors, strict=True)]


def keywords(example: Example) -> dict[str, Any]:
    """Parameters, mode and seed."""
    seed = {"seed": 7} if example.signature.draws else {}
    return {**example.params, "is_train": example.case.is_train, **seed}


def flat(values: Any) -> list[Any]:
    """Tensors of a result, or of arguments."""
    if values is None:
        return []
    if isinstance(values, torch.Tensor):
        return [values]
    return [one for value in values for one in flat(value)]


def values(example: Example) -> bool:
    """The exported function gives the operator's own outputs and states, bit for bit."""
    if example.signature.draws:
        return _seeded(example)
    arguments = tensors(example)
    found = flat(registered(example.subject.name).op(*arguments, **keywords(example)))
    trial = example.trial
    own = trial.written(trial.result.outputs)[: trial.visible]
    for ours, theirs in zip(own, found, strict=True):
        if ours is not None:
            np.testing.assert_array_equal(theirs.numpy(), ours)
    states = _states(example, arguments)
    for ours, theirs in zip(trial.result.aux, states, strict=True):
        np.testing.assert_array_equal(theirs.numpy(), ours)
    return True


def _seeded(example: Example) -> bool:
    """A seed, and PyTorch's generator, decide what is drawn."""
    op, given = registered(example.subject.name).op, keywords(example)
    free = {name: value for name, value in given.items() if name != "seed"}
    for words in (given, free):
        runs = []
        for _ in range(2):
            torch.manual_seed(0)
            runs.append(flat(op(*tensors(example), **words)))
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
    return True


def _states(example: Example, arguments: list[Any]) -> list[Any]:
    signature, trial = example.signature, example.trial
    if signature.tensors is None:
        return list(arguments[1]) if signature.has_states else []
    named = {t.name: a for t, a in zip(signature.tensors, arguments, strict=True)}
    return [named[name] for name in trial.states]


def opcheck(example: Example) -> bool:
    """`torch.library.opcheck`: schema, autograd, fake evaluation, AOT autograd, dynamic shapes."""
    found = registered(example.subject.name)
    # It adds up outputs in the first one's type, so gradients beside integers are left to `compiled`.
    has_integers = any(kind.kind != "f" for kind in example.trial.out_types)
    for op in {found.op, found.differentiable}:
        torch.library.opcheck(op, tuple(tensors(example, grad=not has_integers)), keywords(example))
    return True


def compiled(example: Example) -> bool:
    """`torch.compile(fullgraph=True)` gives the values and gradients of the eager call."""
    op, given = registered(example.subject.name).op, keywords(example)

    def call(*arguments: Any) -> Any:
        return op(*arguments, **given)

    torch._dynamo.reset()
    made = torch.compile(call, fullgraph=True, backend="aot_eager")
    for eager, other in zip(_run(call, example), _run(made, example), strict=True):
        np.testing.assert_array_equal(other, eager)
    return True


def gradients(example: Example) -> bool:
    """Gradients are the operator's own, bit for bit."""
    trial = example.trial
    if example.signature.draws or not any(trial.differentiable()):
        return False
    arguments = tensors(example, grad=True)
    outputs = flat(registered(example.subject.name).op(*arguments, **keywords(example)))
    heads = [torch.from_numpy(np.array(g)) for g in trial.out_grads[: trial.visible]]
    pairs = [(o, h) for o, h in zip(outputs, heads, strict=True) if o.requires_grad]
    if not pairs:  # of integers, through which PyTorch has no gradient
        return False
    torch.autograd.backward([o for o, _ in pairs], [h for _, h in pairs])
    named = dict(zip(_names(example), flat_or_none(arguments), strict=True))
    for name, own in zip(trial.arguments, trial.backward(), strict=True):
        if own is not None:
            np.testing.assert_array_equal(named[name].grad.numpy(), own)
    return True


def _names(example: Example) -> list[str]:
    signature, trial = example.signature, example.trial
    if signature.tensors is not None:
        return [tensor.name for tensor in signature.tensors]
    return [*trial.arguments, *trial.states] if signature.has_states else trial.prop.list_inputs()


def flat_or_none(arguments: list[Any]) -> list[Any]:
    """Tensors of arguments, with None where one is absent."""
    return [a for group in arguments for a in (group if isinstance(group, list) else [group])]


def gradcheck(example: Example) -> bool:
    """`torch.autograd.gradcheck`, of the arguments to which a gradient flows."""
    trial, op, given = example.trial, registered(example.subject.name).op, keywords(example)
    flows = dict(zip(trial.arguments, trial.differentiable(), strict=True))
    names, arguments = _names(example), tensors(example, grad=True)
    everything = flat_or_none(arguments)
    inputs = [t for n, t in zip(names, everything, strict=True) if flows.get(n)]
    for name, tensor in zip(names, everything, strict=True):
        if tensor is not None and not flows.get(name):
            tensor.requires_grad_(False)

    def call(*wanted: Any) -> Any:
        rest = iter(wanted)
        chosen = [next(rest) if flows.get(n) else t for n, t in zip(names, everything, strict=True)]
        chosen = [(t + t.mT) / 2 if n in example.symmetric else t for n, t in zip(names, chosen, strict=True)]
        chosen = [t.clone() if n in trial.states else t for n, t in zip(names, chosen, strict=True)]
        if example.signature.tensors is None:
            count = len(trial.arguments)
            chosen = [chosen[:count], chosen[count:]] if example.signature.has_states else [chosen]
        found = flat(op(*chosen, **given))
        return tuple([f for f in found if f.requires_grad])

    torch.autograd.gradcheck(call, inputs, eps=1e-6, atol=1e-4, rtol=1e-3)
    return True


def _run(function: Callable[..., Any], example: Example) -> list[Any]:
    arguments = tensors(example, grad=True)
    outputs = flat(function(*arguments))
    heads = [o for o in outputs if o.requires_grad]
    if heads:
        torch.autograd.backward(heads, [torch.ones_like(o) for o in heads])
    grads = [t.grad for t in flat_or_none(arguments) if t is not None and t.grad is not None]
    states = _states(example, arguments)
    return [t.detach().numpy() for t in [*outputs, *grads, *states]]


def timed(example: Example) -> Callable[[], Any]:
    """A call of the exported function without gradients, for its time."""
    op, arguments, given = registered(example.subject.name).op, tensors(example), keywords(example)
    return lambda: op(*arguments, **given)
