"""Checks of exported operators by JAX's own means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.test_util import check_grads

import operad as od
from tests.exports.examples import Example

jax.config.update("jax_enable_x64", True)


def function(example: Example) -> tuple[Callable[..., Any], list[Any]]:
    """A function of the arrays that there are, which gives a flat list, and those arrays."""
    exported = od.export.jax(example.subject.name, **example.params)
    trial, signature = example.trial, example.signature
    more: dict[str, Any] = {"is_train": example.case.is_train}
    if signature.draws:
        more["key"] = jax.random.key(7)
    if signature.tensors is None:
        named = {**dict(zip(trial.arguments, trial.inputs, strict=True)),
                 **dict(zip(trial.states, trial.aux, strict=True))}  # fmt: skip
        arrays: list[Any] = [named[name] for name in trial.prop.list_inputs()]
    else:
        arrays = example.arrays
    there = [place for place, array in enumerate(arrays) if array is not None]

    def call(*given: Any) -> list[Any]:
        placed: list[Any] = [None] * len(arrays)
        for place, array in zip(there, given, strict=True):
            placed[place] = array
        return list(jax.tree.leaves(exported(*placed, **more)))

    return call, [jnp.asarray(arrays[place]) for place in there]


def _names(example: Example) -> list[str]:
    trial, signature = example.trial, example.signature
    if signature.tensors is None:
        return trial.prop.list_inputs()
    return [t.name for t, a in zip(signature.tensors, example.arrays, strict=True) if a is not None]


def values(example: Example) -> bool:
    """The operator's own outputs and states, bit for bit."""
    call, arrays = function(example)
    if example.signature.draws:  # a key decides what is drawn
        for one, other in zip(call(*arrays), call(*arrays), strict=True):
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
        return True
    trial = example.trial
    own = [*trial.written(trial.result.outputs)[: trial.visible], *trial.result.aux]
    for ours, theirs in zip(own, call(*arrays), strict=True):
        if ours is not None:
            np.testing.assert_array_equal(np.asarray(theirs), ours)
    return True


def jit(example: Example) -> bool:
    """`jax.jit` gives what the call gives."""
    call, arrays = function(example)
    for plain, other in zip(call(*arrays), jax.jit(call)(*arrays), strict=True):
        np.testing.assert_array_equal(np.asarray(other), np.asarray(plain))
    return True


def vmap(example: Example) -> bool:
    """`jax.vmap` over all arrays gives what the items give."""
    if example.signature.draws:
        return False
    call, arrays = function(example)
    if not arrays:
        return False
    plain = [np.asarray(a) for a in arrays]  # each step on arrays of JAX would be compiled
    other = [np.flip(a) if a.dtype.kind == "f" else a for a in plain]
    both = jax.vmap(call)(*[np.stack([a, b]) for a, b in zip(plain, other, strict=True)])
    for index, items in enumerate((call(*plain), call(*other))):
        for whole, item in zip(both, items, strict=True):
            np.testing.assert_allclose(np.asarray(whole)[index], np.asarray(item), rtol=1e-6, atol=1e-7)
    return True


def gradients(example: Example) -> bool:
    """Gradients are the operator's own, bit for bit."""
    trial = example.trial
    flows = dict(zip(trial.arguments, trial.differentiable(), strict=True))
    if example.signature.draws or not any(flows.values()):
        return False
    call, arrays = function(example)
    places = [i for i, name in enumerate(_names(example)) if flows.get(name)]
    heads = [jnp.asarray(g) for g in trial.out_grads[: trial.visible]]

    def wanted(*given: Any) -> list[Any]:
        chosen = list(arrays)
        for place, array in zip(places, given, strict=True):
            chosen[place] = array
        return [o for o in call(*chosen)[: trial.visible] if o.dtype.kind == "f"]

    _, back = jax.vjp(wanted, *[arrays[place] for place in places])
    floating = [h for h in heads if h.dtype.kind == "f"]
    found = dict(zip([_names(example)[place] for place in places], back(floating), strict=True))
    for name, own in zip(trial.arguments, trial.backward(), strict=True):
        if own is not None:
            np.testing.assert_array_equal(np.asarray(found[name]), own)
    return True


def grads(example: Example) -> bool:
    """`jax.test_util.check_grads`, in reverse, of the arguments to which a gradient flows."""
    trial = example.trial
    flows = dict(zip(trial.arguments, trial.differentiable(), strict=True))
    call, arrays = function(example)
    places = [i for i, name in enumerate(_names(example)) if flows.get(name)]

    def wanted(*given: Any) -> list[Any]:
        chosen = list(arrays)
        for place, array in zip(places, given, strict=True):
            is_half = _names(example)[place] in example.symmetric
            chosen[place] = (array + array.mT) / 2 if is_half else array
        return [o for o in call(*chosen)[: trial.visible] if o.dtype.kind == "f"]

    check_grads(wanted, [arrays[p] for p in places], order=1, modes=["rev"], rtol=1e-3, atol=1e-4, eps=1e-6)
    return True


def timed(example: Example) -> Callable[[], Any]:
    """A call of the compiled function, for its time."""
    call, arrays = function(example)
    made = jax.jit(call)
    return lambda: jax.block_until_ready(made(*arrays))
