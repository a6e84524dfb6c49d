"""Executors of one program over other arrays, for the steps of a loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operad import NDArray
from operad.errors import BindError
from operad.executor import Executor


def rebound(
    self: Executor,
    args: Mapping[str, NDArray],
    args_grad: Mapping[str, NDArray],
    aux_states: Mapping[str, NDArray],
) -> Executor:
    """Another executor of the same program, over other arrays; all are given by name.

    Raises:
        BindError: An array is missing, or has another shape, type or context than this executor's.
    """
    arrays = _alike("rebound", self.arg_dict, args)
    grads = _alike("rebound: args_grad", self.grad_dict, args_grad)
    states = _alike("rebound: aux_states", self.aux_dict, aux_states)
    how = (arrays, grads, self.grad_req, states, self.group2ctx)
    return Executor(self.graph, self.ctx, self.program, *how)


def _alike(call: str, arrays: Mapping[str, NDArray | None], others: Mapping[str, NDArray]) -> dict[str, Any]:
    """Of `others`, those that stand for `arrays`, by name; None for None.

    Raises:
        BindError: One is missing, or has another shape, type or context.
    """
    found: dict[str, Any] = {}
    for name, array in arrays.items():
        other = found[name] = None if array is None else others.get(name)
        if array is not None and (other is None or other._spec != array._spec):
            got = "missing" if other is None else f"{other.dtype}{other.shape} on {other.context!r}"
            wanted = f"{array.dtype}{array.shape} on {array.context!r}"
            raise BindError(f"{call}: {name!r} is {got}, expected {wanted}")
    return found
