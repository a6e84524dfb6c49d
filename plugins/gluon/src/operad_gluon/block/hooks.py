"""Handles of hooks, which take the hook away again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from operad_gluon.errors import ParameterError


@final
class HookHandle:
    """A hook that hangs in a dictionary; usable in a with statement, which detaches it.

    Source: HookHandle, python/mxnet/gluon/utils.py.
    """

    def __init__(self) -> None:
        self._hooks: dict[Any, Any] | None = None

    def attach(self, hooks_dict: dict[Any, Any], hook: Callable[..., Any]) -> None:
        """Put the hook into the dictionary."""
        if self._hooks is not None:
            raise ParameterError("attach: the handle has a hook already; detach it, or make another one")
        self._hooks = hooks_dict
        hooks_dict[self] = hook

    def detach(self) -> None:
        """Take the hook out of its dictionary."""
        if self._hooks is not None:
            self._hooks.pop(self, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *raised: object) -> None:
        self.detach()
