"""Operators as functions of JAX's arrays, with a gradient.

A function calls back into Python (`jax.pure_callback`) with shapes and types that are inferred when it is
traced, so errors about those are raised there, as they are. Its gradient (`jax.custom_vjp`) keeps what the
operator declares to read for the gradients that are asked for, and nothing else; it calls back likewise.

Under `vmap` the callback runs once for each item. An operator whose scalar form says that it computes each
element from the elements in the same place runs once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from operad.dtypes import DType, as_dtype
from operad.errors import ArgumentError, OperadError, UnsupportedError
from operad.operator import ScalarForm
from operad_export.parameters import parsed, values
from operad_export.plain import PlainOperator
from operad_export.signature import OperatorSignature, signature_of

_REDUCTIONS: Final = ("sum", "max", "min", "length", "position")
_BATCH: Final = 2
"""Items of a batch on which inference is tried."""


@final
@jax.tree_util.register_static
class _Kept(NamedTuple):
    """Shapes and types of the arguments, and flags of the gradients that are wanted: no arrays."""

    shapes: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]
    wanted: tuple[bool, ...]


def function(name: str, params: Mapping[str, Any]) -> Callable[..., Any]:
    """The function behind `operad.export.jax`."""
    signature = signature_of(name)
    given = parsed(signature, params)

    def call(*arrays: Any, is_train: bool = False, key: Any = None, **more: Any) -> Any:
        chosen = parsed(signature, {**given, **more}) if more else given
        return _call(signature, values(signature, chosen), arrays, is_train, key)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = signature.op.__doc__
    return call


def _call(
    signature: OperatorSignature, given: tuple[Any, ...], arrays: Sequence[Any], is_train: bool, key: Any
) -> Any:
    name = signature.op.name
    if signature.tensors is not None:
        arrays = [*arrays, *[None] * (len(signature.tensors) - len(arrays))]
    elif arrays and isinstance(arrays[0], (list, tuple)):
        arrays = arrays[0]
    operator = signature.operator(given, len(arrays))
    arguments, states = signature.sorted(operator, [None if x is None else jnp.asarray(x) for x in arrays])
    if operator.prop.is_shaped_by_values:
        raise UnsupportedError(
            f"{name}: shapes of its outputs depend on values, which JAX has no place for; "
            f"compute it with od.nd.{name}"
        )
    if key is None and operator.draws([x.shape for x in arguments], _types(arguments)):
        raise ArgumentError(f"{name}: key is missing; it draws random numbers, give one of jax.random.key")
    if key is not None and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    found = _differentiable(operator, bool(is_train))(tuple(arguments), tuple(states), key)
    outputs, new_states = found[: operator.num_visible], found[operator.num_visible :]
    shown = outputs[0] if len(outputs) == 1 else outputs
    return (shown, new_states) if states else shown


@lru_cache(1024)
def _differentiable(operator: PlainOperator, is_train: bool) -> Callable[..., Any]:
    """A function of arguments, states and key that gives visible outputs and new states."""

    def shown(outputs: Sequence[Any]) -> tuple[Any, ...]:
        return (*outputs[: operator.num_visible], *outputs[len(operator.outputs) :])

    def compute(arguments: Sequence[Any], states: Sequence[Any], key: Any) -> Any:
        return shown(_forward(operator, is_train, arguments, states, key))

    def forward(arguments: Sequence[Any], states: Sequence[Any], key: Any) -> Any:
        plain = [primal.value for primal in arguments]
        outputs = _forward(
            operator, is_train, plain, [s.value for s in states], None if key is None else key.value
        )
        kinds = _types(plain)
        wanted = tuple([
            flows and bool(primal.perturbed) and kind.kind == "f"
            for flows, primal, kind in zip(operator.flows, arguments, kinds, strict=True)
        ])  # fmt: skip
        entries = operator.reads(wanted) if any(wanted) else []
        sources = {"in_data": plain, "out_data": outputs}
        kept = [sources[kind][index] for kind, index in entries if kind in sources]
        about = _Kept(tuple([x.shape for x in plain]), tuple([kind.name for kind in kinds]), wanted)
        return shown(outputs), (kept, outputs[len(operator.outputs) :], about)

    def backward(saved: Any, heads: Sequence[Any]) -> Any:
        kept, states, about = saved
        nothing = (None,) * len(operator.arguments), (None,) * len(operator.states), None
        if not any(about.wanted):
            return nothing
        rest = iter(kept)
        arrays = [
            _head(heads[index]) if kind == "out_grad" else next(rest)
            for kind, index in operator.reads(about.wanted)
        ]
        found = iter(_backward(operator, is_train, about, arrays, states))
        return tuple([next(found) if flag else None for flag in about.wanted]), *nothing[1:]

    run: Callable[..., Any] = jax.custom_vjp(compute)
    run.defvjp(forward, backward, symbolic_zeros=True)  # type: ignore[attr-defined]  # JAX's own class
    return run


def _forward(
    operator: PlainOperator, is_train: bool, arguments: Sequence[Any], states: Sequence[Any], key: Any
) -> Any:
    """All outputs and the new states."""
    specs = operator.infer([x.shape for x in arguments], _types(arguments), [state.shape for state in states])
    results = [_result(shape, dtype) for shape, dtype in specs]
    results += [jax.ShapeDtypeStruct(state.shape, state.dtype) for state in states]
    compute = _Forward(operator, is_train, tuple([like.dtype for like in results]))
    shapes = tuple([x.shape for x in arguments])
    is_one = key is None and not states and len({*shapes, *[shape for shape, _ in specs]}) == 1
    whole = is_one and _is_elementwise(operator, shapes, tuple(_types(arguments)), ["forward"])
    method = "broadcast_all" if whole else "sequential"
    return jax.pure_callback(compute, results, list(arguments), list(states), key, vmap_method=method)


@final
@dataclass(frozen=True, slots=True)
class _Forward:
    """Computes outputs and new states on arrays that JAX hands over.

    JAX compiles a call for each callback that is new to it, so equal callbacks are equal.

    Attributes:
        operator: The operator.
        is_train: Whether for training.
        types: Element types of the results.
    """

    operator: PlainOperator
    is_train: bool
    types: tuple[Any, ...]

    def __call__(self, arguments: Sequence[Any], states: Sequence[Any], key: Any) -> list[Any]:
        operator, ins = self.operator, [np.asarray(x) for x in arguments]
        after = [np.array(state) for state in states]
        specs = operator.infer([x.shape for x in ins], [x.dtype for x in ins], [x.shape for x in after])
        outputs = [np.empty(shape, dtype) for shape, dtype in specs]
        operator.forward(ins, after, outputs, is_train=self.is_train, seed=_seed(key))
        return [x.astype(dtype, copy=False) for x, dtype in zip([*outputs, *after], self.types, strict=True)]


def _backward(
    operator: PlainOperator, is_train: bool, about: _Kept, arrays: Sequence[Any], states: Sequence[Any]
) -> Any:
    """The gradients that are wanted."""
    kinds = list(map(np.dtype, about.types))
    described = list(zip(about.shapes, kinds, strict=True))
    results = [
        jax.ShapeDtypeStruct(*like) for like, flag in zip(described, about.wanted, strict=True) if flag
    ]
    compute = _Backward(operator, is_train, about, arrays[0].ndim if arrays else 0)
    names = [f"{n}_grad" for n, flag in zip(operator.arguments, about.wanted, strict=True) if flag]
    is_one = bool(arrays) and not states and len({*about.shapes, *[x.shape for x in arrays]}) == 1
    whole = is_one and _is_elementwise(operator, about.shapes, tuple(kinds), names)
    method = "broadcast_all" if whole else "sequential"
    return jax.pure_callback(compute, results, list(arrays), list(states), vmap_method=method)


@final
@dataclass(frozen=True, slots=True)
class _Backward:
    """Computes gradients on arrays that JAX hands over; equal ones are equal, as those of `_Forward`.

    Attributes:
        operator: The operator.
        is_train: Whether for training.
        about: What else is known of the call.
        num_axes: Of the first array of one item; a batch has one more, in front.
    """

    operator: PlainOperator
    is_train: bool
    about: _Kept
    num_axes: int

    def __call__(self, arrays: Sequence[Any], states: Sequence[Any]) -> list[Any]:
        about, ins = self.about, [np.asarray(x) for x in arrays]
        batch = ins[0].shape[:1] if ins and ins[0].ndim > self.num_axes else ()
        shapes, kinds = [(*batch, *shape) for shape in about.shapes], list(map(np.dtype, about.types))
        likes = zip(shapes, kinds, about.wanted, strict=True)
        gradients = [np.empty(shape, kind) for shape, kind, flag in likes if flag]
        after = [np.array(state) for state in states]
        self.operator.backward(about.wanted, ins, after, shapes, kinds, gradients, is_train=self.is_train)
        return gradients


def _is_elementwise(
    operator: PlainOperator, shapes: tuple[Any, ...], kinds: tuple[DType, ...], parts: Sequence[str]
) -> bool:
    """Return whether each element of some parts follows from the elements in the same place, also in a batch.

    Their scalar forms then go over no axis, and read every input where it lies. They must be the same for a
    batch, which has one axis more: `Flatten` changes nothing of two axes, and something of three. Without
    arguments there is no batch.
    """
    if not shapes:
        return False
    batch = tuple([(_BATCH, *shape) for shape in shapes])
    try:
        outputs = operator.prop.infer_shape(list(batch))[1]
    except OperadError:
        return False  # it takes no axis more
    if any(shape != batch[0] for shape in outputs):
        return False
    for part in parts:
        form = operator.prop.scalar_form(part, shapes, kinds)
        if not isinstance(form, ScalarForm) or form != operator.prop.scalar_form(part, batch, kinds):
            return False
        if any(one.op in _REDUCTIONS or one.axes is not None for one in form.instructions):
            return False
    return True


def _types(arrays: Sequence[Any]) -> list[DType]:
    return [as_dtype(np.dtype(x.dtype)) for x in arrays]


def _result(shape: Sequence[int], dtype: DType) -> Any:
    """Shape and type of a result; without 64-bit types (`jax_enable_x64`) JAX has the 32-bit ones."""
    return jax.ShapeDtypeStruct(tuple(shape), jax.dtypes.canonicalize_dtype(dtype))


def _head(head: Any) -> Any:
    """The gradient of an output as an array; zeros where JAX knows that it is zero."""
    return jnp.zeros(head.shape, head.dtype) if isinstance(head, SymbolicZero) else head


def _seed(key: Any) -> int:
    return 0 if key is None else int.from_bytes(np.asarray(key).tobytes(), "little")
