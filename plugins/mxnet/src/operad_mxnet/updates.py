"""Update operators of `mx.nd.contrib` whose `rescale_grad` may be a number, or whose arrays come as lists.

Source: python/mxnet/ndarray/contrib.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from operad import NDArray, nd, sym
from operad.errors import ArgumentError

Arrays = Sequence[NDArray]


def _rescaling(rescale_grad: Any, weight: NDArray) -> NDArray:
    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(weight.context)
    made: NDArray = nd.full((1,), rescale_grad, ctx=weight.context)
    return made


def adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: Any, lr: float, eta: float,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1,
    out: Any = None, name: str | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_adamw_update`, with an array of one element or a number as `rescale_grad`."""
    return nd._adamw_update(
        weight, grad, mean, var, _rescaling(rescale_grad, weight), lr=lr, eta=eta, beta1=beta1, beta2=beta2,
        epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs,
    )  # fmt: skip


def mp_adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: Any,
    lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
    clip_gradient: float = -1, out: Any = None, name: str | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_mp_adamw_update`, with an array of one element or a number as `rescale_grad`."""
    return nd._mp_adamw_update(
        weight, grad, mean, var, weight32, _rescaling(rescale_grad, weight), lr=lr, eta=eta, beta1=beta1,
        beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs,
    )  # fmt: skip


def sym_adamw_update(
    weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: float, eta: float, beta1: float = 0.9,
    beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1, out: Any = None,
    name: str | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_adamw_update`, with a symbol or a number as `rescale_grad`; `out` means nothing."""
    return sym._adamw_update(
        weight, grad, mean, var, _symbol_of(rescale_grad), lr=lr, eta=eta, beta1=beta1, beta2=beta2,
        epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, name=name, **kwargs,
    )  # fmt: skip


def sym_mp_adamw_update(
    weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: float, eta: float,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1,
    out: Any = None, name: str | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_mp_adamw_update`, with a symbol or a number as `rescale_grad`; `out` means nothing."""
    return sym._mp_adamw_update(
        weight, grad, mean, var, weight32, _symbol_of(rescale_grad), lr=lr, eta=eta, beta1=beta1, beta2=beta2,
        epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, name=name, **kwargs,
    )  # fmt: skip


def _symbol_of(rescale_grad: Any) -> Any:
    return rescale_grad if isinstance(rescale_grad, sym.Symbol) else sym.full((1,), rescale_grad)


def multi_adamw_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, rescale_grad: Any, lrs: Any, wds: Any,
    etas: Any, out: Any = None, name: str | None = None, size: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_multi_adamw_update` of lists; `size` is their length, or 0."""
    arrays = _in_turn("multi_adamw_update", size, weights, grads, mean, var)
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": len(weights)}
    rescaling = _rescaling(rescale_grad, weights[0])
    return nd._multi_adamw_update(*arrays, rescaling, out=out, name=name, **rates, **kwargs)


def multi_mp_adamw_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, weights32: Arrays, rescale_grad: Any, lrs: Any,
    wds: Any, etas: Any, out: Any = None, name: str | None = None, size: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_multi_mp_adamw_update` of lists; `size` is their length, or 0."""
    arrays = _in_turn("multi_mp_adamw_update", size, weights, grads, mean, var, weights32)
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": len(weights)}
    rescaling = _rescaling(rescale_grad, weights[0])
    return nd._multi_mp_adamw_update(*arrays, rescaling, out=out, name=name, **rates, **kwargs)


def multi_lamb_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, step_count: Any, lrs: Any, wds: Any,
    out: Any = None, num_tensors: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_multi_lamb_update` of lists; `num_tensors` is their length, or 0."""
    arrays = _in_turn("multi_lamb_update", num_tensors, weights, grads, mean, var)
    return _lamb(nd._multi_lamb_update, arrays, weights, out, step_count, lrs, wds, kwargs)


def multi_mp_lamb_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, weights32: Arrays, step_count: Any, lrs: Any,
    wds: Any, out: Any = None, num_tensors: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """The operator `_multi_mp_lamb_update` of lists; `num_tensors` is their length, or 0."""
    arrays = _in_turn("multi_mp_lamb_update", num_tensors, weights, grads, mean, var, weights32)
    return _lamb(nd._multi_mp_lamb_update, arrays, weights, out, step_count, lrs, wds, kwargs)


def _lamb(
    operator: Callable[..., Any], arrays: list[NDArray], weights: Arrays, out: Any, step_count: Any, lrs: Any,
    wds: Any, kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    rates = {"learning_rates": lrs, "wds": wds, "step_count": step_count, "num_tensors": len(weights)}
    return operator(*arrays, out=out, **rates, **kwargs)


def _in_turn(call: str, count: int, *groups: Arrays) -> list[NDArray]:
    """The first of each group, then the second of each, and so on."""
    lengths = {len(group) for group in groups} | ({count} if count else set())
    if len(lengths) != 1:
        raise ArgumentError(f"{call}: the lists have lengths {sorted(lengths)}, expected one length")
    return [array for each in zip(*groups, strict=True) for array in each]
