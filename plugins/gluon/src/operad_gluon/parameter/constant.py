"""Values that a block has and does not learn."""

from __future__ import annotations

import warnings
from typing import Any, final

import operad as od
from operad import NDArray
from operad_gluon.parameter.parameter import Parameter


@final
class Constant(Parameter):
    """A parameter without a gradient, whose initial values are given.

    >>> import operad as od
    >>> scale = od.gluon.Constant("scale", [[1, 2]])
    >>> scale.initialize()
    >>> scale.data().shape
    (1, 2)
    """

    def __init__(self, name: str, value: Any) -> None:
        if not isinstance(value, NDArray):
            value = od.nd.array(value)
        self.value = value
        super().__init__(
            name, "null", value.shape, value.dtype.type, init=_Given(value), differentiable=False
        )

    @property
    def grad_req(self) -> str:
        """Always "null"."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(
                f'Constant parameter "{self.name}" does not support grad_req other than "null", and new '
                "value "
                f'"{req}" is ignored.',
                stacklevel=2,
            )


@final
class _Given(od.init.Initializer):  # type: ignore[misc]  # a plugin's class is not known here
    """Initializer of the values themselves."""

    def __init__(self, value: NDArray) -> None:
        super().__init__(value=value)
        self._value = value

    def _init_weight(self, desc: str, arr: NDArray) -> None:
        self._value.copyto(arr)
