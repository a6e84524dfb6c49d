"""Arrays of one parameter: its values on each context, and their gradients.

They stay the same objects while a parameter is trained, so that compiled blocks may hold them. Where they
become others (`initialize`, `cast`, `reset_ctx`, another request), `replacements` counts on.
"""

from __future__ import annotations

from operator import eq
from typing import Any

import operad as od
from operad import Context, NDArray, autograd
from operad.imperative import version_of
from operad_gluon.errors import DeferredInitializationError, UninitializedError

_replaced = [0]


def replacements() -> int:
    """Number of times that arrays of any parameter became other objects."""
    return _replaced[0]


class HeldArrays:
    """Arrays of a parameter, by context."""

    name: str
    _shape: tuple[int, ...] | None

    def __init__(self) -> None:
        self._data: list[NDArray] | None = None
        self._grad: list[NDArray] | None = None
        self._grad_req = "null"
        self._noted: list[int] = []
        self._deferred_init: tuple[Any, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Its arrays, of which copies have versions of their own: what is kept is how old gradients are."""
        return vars(self) | {"_noted": self._ages(self._noted)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._data is not None and self._grad is not None:
            autograd.mark_variables(self._data, self._grad, self._grad_req)
        self._noted = self._ages(self._noted)

    def _ages(self, other: list[int]) -> list[int]:
        """Differences between the gradients' versions and others."""
        return [version_of(grad) - old for grad, old in zip(self._grad or (), other, strict=True)]

    def _hold(self, arrays: list[NDArray]) -> None:
        """Have other arrays as the values, with gradients as requested."""
        self._data, self._grad = arrays, None
        if self._grad_req != "null":
            self._grad = [od.nd.zeros(x.shape, dtype=x.dtype, ctx=x.context) for x in arrays]
            autograd.mark_variables(arrays, self._grad, self._grad_req)
            self._note_gradients()
        _replaced[0] += 1

    def _note_gradients(self) -> None:
        """Take gradients for old until they are written again."""
        self._noted = list(map(version_of, self._grad or ()))

    def _has_new_gradients(self) -> bool:
        """Return whether all gradients were written since they were noted."""
        return not any(map(eq, map(version_of, self._grad or ()), self._noted))

    def _take_gradients(self) -> bool:
        """Note gradients that were all written since they were noted; returns whether they were."""
        versions = [*map(version_of, self._grad or ())]
        if any(map(eq, versions, self._noted)):
            return False
        self._noted = versions
        return True

    def _found(self, arrays: list[NDArray] | None, ctx: Any) -> NDArray:
        """The one of its arrays that is on `ctx`."""
        if arrays is None:
            raise self._absence()
        if ctx is None and len(arrays) == 1:
            return arrays[0]
        ctx = od.current_context() if ctx is None else ctx
        for array in arrays:
            if array.context == ctx:
                return array
        raise UninitializedError(
            f"parameter {self.name!r} was not initialized on context {ctx}, only on {self.list_ctx()}; "
            "name all "
            "contexts in initialize(ctx=[...]), or call reset_ctx"
        )

    def _absence(self) -> Exception:
        """Why there are no values."""
        if self._deferred_init:
            return DeferredInitializationError(
                f"parameter {self.name!r} of shape {self._shape} has not been initialized yet: the first "
                "forward pass "
                "tells its shape and does so. Pass one batch through the network before, or give the layer "
                "its sizes "
                "(in_units, in_channels, ...)"
            )
        return UninitializedError(
            f"parameter {self.name!r} has not been initialized; call initialize() of the block, and make "
            "the Trainer "
            "of Block.collect_params(): Block.params lacks the parameters of children"
        )

    def _gradients(self) -> list[NDArray] | None:
        if self._data is not None and self._grad is None:
            raise UninitializedError(
                f"parameter {self.name!r} has no gradient because grad_req='null'; set grad_req='write' "
                "before"
            )
        return self._grad

    def data(self, ctx: Context | None = None) -> NDArray:
        """Its values on one context.

        Args:
            ctx: The context; may be left out where there is one only, else the current context is meant.
        Raises:
            DeferredInitializationError: The first forward pass has yet to tell the shape.
            UninitializedError: It was not initialized, or not there.
        """
        return self._found(self._data, ctx)

    def grad(self, ctx: Context | None = None) -> NDArray:
        """Its gradient on one context; see `data`."""
        return self._found(self._gradients(), ctx)

    def list_data(self) -> list[NDArray]:
        """Its values on all contexts."""
        if self._data is None:
            raise self._absence()
        return self._data

    def list_grad(self) -> list[NDArray]:
        """Its gradients on all contexts."""
        found = self._gradients()
        if found is None:
            raise self._absence()
        return found

    def list_ctx(self) -> list[Context]:
        """The contexts that it is, or will be, initialized on."""
        if self._data is not None:
            return [array.context for array in self._data]
        if not self._deferred_init:
            raise self._absence()
        found: list[Context] = self._deferred_init[1]
        return found

    def zero_grad(self) -> None:
        """Set its gradients to 0."""
        for array in self._grad or ():
            array[:] = 0

    def _mean(self) -> NDArray:
        """The mean of the values on all contexts, on the CPU."""
        found = [array.copyto(od.cpu()) for array in self.list_data()]
        return found[0] if len(found) == 1 else od.nd.add_n(*found) / len(found)

    def row_sparse_data(self, row_id: NDArray) -> NDArray:
        """Refuse: values are dense here."""
        raise self._not_sparse()

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """Refuse: values are dense here."""
        raise self._not_sparse()

    def _not_sparse(self) -> Exception:
        return UninitializedError(
            f"parameter {self.name!r} has dense values; read them by data() or list_data()"
        )
