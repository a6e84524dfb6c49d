"""Operators of updates, which are the same from step to step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import operad
from operad.imperative import ABSENT, Invoker, find_invoker
from operad.operator import OperatorProperty


@final
class KnownCall:
    """Operator of one weight's updates; looked up again only where a step says something else."""

    def __init__(self) -> None:
        self._op: type[OperatorProperty] | None = None
        self._invoker: Invoker | None = None
        self._names: Collection[str] = ()
        self._fixed: Sequence[tuple[str, Any]] = ()

    def of(self, operator: str, params: Mapping[str, Any]) -> tuple[Invoker, tuple[Any, ...]]:
        """The operator with these parameters, and the values of its run-time parameters."""
        op = operad.registry.get(operator)
        run_time = op.params.run_time
        values = tuple([params.get(name, ABSENT) for name in run_time])
        if (
            op is self._op
            and self._invoker is not None
            and params.keys() == self._names
            and all(params[name] is value for name, value in self._fixed)
            and None not in values
        ):
            return self._invoker, values
        self._op, self._names = op, {*params}
        self._fixed = [(name, value) for name, value in params.items() if name not in run_time]
        self._invoker, values = find_invoker(op, params)
        return self._invoker, values
