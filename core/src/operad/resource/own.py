"""Resources of one operator that runs executors, or of one caller.

An operation must not wait for another one's turn at a resource of the device: it would hold a worker, and
the other one may stand behind it. So executors that an operator binds get resources that nothing else uses.
What runs inside an operation runs in order, in its thread, so these are seeded and given back here and now,
not in push order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from operad.device import Context
from operad.resource.base import Resource, ResourceRequest
from operad.resource.manager import ResourceManager, get
from operad.resource.random import StreamSeed
from operad.scopes import Exit, Levels


@final
class OwnResources:
    """`with own:` operators of executors that the thread binds inside get their resources here.

    All methods are called in operations of which no two run at once, as those of a stateful operator.
    """

    __slots__ = ("_manager",)

    def __init__(self) -> None:
        self._manager = ResourceManager()

    def __enter__(self) -> None:
        _scopes.top = self._manager, _scopes.top

    __exit__ = Exit(lambda _: _scopes.ending)

    def request(self, ctx: Context, kinds: Sequence[ResourceRequest]) -> tuple[Resource, ...]:
        """The resources of one operation, which names the `var` of each among its mutable variables."""
        return self._manager.request_all(ctx, kinds)

    def seed(self, seed_state: int) -> None:
        """Start the random streams again; the same number gives the same draws."""
        self._manager.restart(StreamSeed(seed_state))

    def release_spaces(self) -> None:
        """Give the memory of temp spaces back."""
        for space in self._manager.spaces():
            space.release()


_scopes: Final[Levels[ResourceManager | None]] = Levels(lambda: None)


def current() -> ResourceManager:
    """The manager of the thread's innermost scope, or else the process's."""
    return _scopes.top[0] or get()
