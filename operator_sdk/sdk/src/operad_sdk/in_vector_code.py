"""Condition for the choice of kernels in vector code, which imports the compiler when it is first asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from operad.first_use import import_module
from operad.operator import KernelCall


def reason_against() -> str | None:
    """Reason why there is no vector code in this process; None if there is."""
    reason: str | None = import_module("operad_sdk.vector.machine").reason_against()
    return reason


@final
class InVectorCode:
    """Condition of a kernel in vector code: the process can compile it, and no reason speaks against it.

    Args:
        refusal: `refusal(call, is_large)` says why a call is computed otherwise, or gives None; with
            `is_large`, as if the call were large enough to be worth a compilation.
    """

    def __init__(self, refusal: Callable[[KernelCall, bool], str | None]) -> None:
        self._refusal = refusal

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why the kernel is not used."""
        reason = self._refusal(call, False)
        if reason is None:
            if "vector" not in call.memo:
                call.memo["vector"] = reason_against()
            reason = call.memo["vector"]
        return reason or True

    def regardless_of_size(self, call: KernelCall) -> bool | str:
        """Same condition as if every call were large enough: checks try kernels on small arrays."""
        return self._refusal(call, True) or reason_against() or True

    @property
    def is_possible(self) -> bool:
        """True if the kernel can be used at all in this environment."""
        return reason_against() is None
