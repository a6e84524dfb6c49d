"""Functions that loops and modules of a program's own take from MXNet's files, under their names there.

A module of a program's own, such as one whose inputs change their shapes, is mostly a copy of `Module` that
imports these: `from mxnet.model import _create_kvstore`. `Module` itself does not use them; see `updates`.

Source: python/mxnet/model.py and module/base_module.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from operad import NDArray, Symbol
from operad.errors import BindError
from operad_module.inputs import check_described, check_names, described
from operad_module.updates import runs_optimizer, store_of

_LARGEST: Final = 1 << 24
"""Elements of an array above which a store called `local` does not move the weights."""

Arrays = Sequence[Sequence[NDArray]]
"""For each parameter its arrays, one per context."""

Grads = Sequence[Sequence[NDArray | None]]
"""Likewise; None where a gradient is not computed."""


def _as_list(obj: Any) -> Any:
    """A list or tuple as it is, and anything else in a list."""
    return obj if isinstance(obj, (list, tuple)) else [obj]


def _create_kvstore(kvstore: Any, num_device: int, arg_params: Mapping[str, NDArray]) -> tuple[Any, bool]:
    """A store, or None where one device needs none, and whether it moves the weights."""
    store = store_of(kvstore, num_device)
    is_large = kvstore == "local" and any(array.size > _LARGEST for array in arg_params.values())
    return store, runs_optimizer(store) and not is_large


def _initialize_kvstore(
    kvstore: Any,
    param_arrays: Arrays,
    arg_params: Mapping[str, NDArray],
    param_names: Sequence[str],
    update_on_kvstore: bool,
) -> None:
    """Give a store the parameters, and the devices those that the store has, if it moves them."""
    for i, (name, weights) in enumerate(zip(param_names, param_arrays, strict=False)):
        kvstore.init(name, arg_params[name])
        if update_on_kvstore:
            kvstore.pull(name, weights, priority=-i)


def _update_params_on_kvstore(
    param_arrays: Arrays, grad_arrays: Grads, kvstore: Any, param_names: Sequence[str]
) -> None:
    """Move weights by a store that has an optimizer."""
    for i, (name, weights, grads) in enumerate(zip(param_names, param_arrays, grad_arrays, strict=False)):
        if grads[0] is not None:
            kvstore.push(name, grads, priority=-i)
            kvstore.pull(name, weights, priority=-i)


def _update_params(
    param_arrays: Arrays,
    grad_arrays: Grads,
    updater: Callable[[Sequence[int], Sequence[NDArray], Sequence[NDArray]], object],
    num_device: int,
    kvstore: Any = None,
    param_names: Sequence[str] | None = None,
) -> None:
    """Move weights by a local updater, called once for each device with all of its weights.

    Args:
        updater: Knows parameter `i` of device `k` as `i * num_device + k`.
        kvstore: Sums the gradients first, under `param_names`.
    """
    calls: list[list[tuple[int, Any, NDArray]]] = [[] for _ in range(num_device)]
    for i, (weights, grads) in enumerate(zip(param_arrays, grad_arrays, strict=False)):
        if grads[0] is None:
            continue
        if kvstore is not None:
            name = i if param_names is None else param_names[i]
            kvstore.push(name, grads, priority=-i)
            kvstore.pull(name, grads, priority=-i)
        for k, (weight, grad) in enumerate(zip(weights, grads, strict=True)):
            calls[k].append((i * num_device + k, grad, weight))
    for call in filter(None, calls):
        updater(*zip(*call, strict=True))


def _check_input_names(symbol: Symbol, names: Sequence[str], typename: str, throw: bool) -> None:
    """Check that a symbol has the arguments of some names.

    Raises:
        BindError: It has not, and `throw` says so; else there is a warning.
    """
    if message := check_names(f"{typename}_names", names, symbol.list_arguments()):
        if throw:
            raise BindError(message)
        warnings.warn(message, stacklevel=2)


def _parse_data_desc(
    data_names: Sequence[str],
    label_names: Sequence[str],
    data_shapes: Iterable[Any],
    label_shapes: Iterable[Any] | None,
) -> tuple[list[Any], list[Any] | None]:
    """Descriptions of data and labels, which may be given as pairs of a name and a shape.

    Raises:
        BindError: Their names are others.
    """
    data, labels = described(data_shapes), described(label_shapes)
    check_described("data_shapes", data, data_names)
    if label_shapes is None:
        return data, None
    if labels:
        check_described("label_shapes", labels, label_names)
    return data, labels
