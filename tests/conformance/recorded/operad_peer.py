"""operad, as the peer whose results are compared with the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import operad as od
from operad.operator import OperatorProperty
from tests.conformance.recorded.case import Array, Case


class Operad:
    """The peer under test."""

    autograd = od.autograd

    def array(self, values: Array) -> Any:
        """A new array."""
        return od.nd.array(values, ctx=od.cpu(), dtype=values.dtype)

    def invoke(
        self, op: str, arrays: Sequence[Any], params: Mapping[str, Any], out: Sequence[Any] | None = None
    ) -> list[Any]:
        """The visible outputs."""
        given = {} if out is None else {"out": out[0] if len(out) == 1 else list(out)}
        made = getattr(od.nd, op)(*arrays, **params, **given)
        return made if isinstance(made, list) else [made]

    def symbol(self, op: str, inputs: Sequence[str], params: Mapping[str, Any], name: str | None) -> Any:
        """An operator of variables."""
        return getattr(od.sym, op)(*map(od.sym.var, inputs), **params, name=name)

    def bind(self, symbol: Any, args: Any, grads: Any, aux: Any) -> Any:
        """An executor."""
        requests = {name: "write" if name in grads else "null" for name in args}
        return symbol.bind(od.cpu(), args, args_grad=grads, grad_req=requests, aux_states=aux)

    def scope(self, case: Case) -> Any:
        """Nothing: a length of 0 is a length."""
        return nullcontext()


def property_of(op: str) -> type[OperatorProperty]:
    """The class that declares an operator.

    Raises:
        OperatorNotFoundError: No installed plugin provides it.
    """
    return od.registry.get(op)


def aliases(op: str) -> list[str]:
    """Every other name of the operator."""
    own = od.registry.operators()[op]
    return [
        name
        for name, record in od.registry.operators().items()
        if name != op and (record.distribution, record.value) == (own.distribution, own.value)
    ]
