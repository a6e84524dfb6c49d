"""Work that a library makes of a row: a function to run, or a number.

Everything that a worker imports is for Python 3.8 and later, because MXNet has no newer one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Work(NamedTuple):
    """A row's work, ready to be timed.

    Attributes:
        run: Does it once and waits until it is done.
        operations: How many operations one `run` performs; a row's figure is of one.
        check: Numbers by name that every library must agree on. Asked for once, before anything is timed.
        beside: The same work, or a yardstick for it, done otherwise by this library; by name.
    """

    run: Callable[[], object]
    operations: int = 1
    check: Callable[[], dict[str, float]] | None = None
    beside: dict[str, Callable[[], object]] = {}  # noqa: RUF012 - never changed


class Fact(NamedTuple):
    """A row's figure where nothing is timed, such as planned memory; in the row's unit."""

    value: float


class AbsentError(Exception):
    """A library has nothing of the kind."""


def chosen(calls: dict[str, Callable[[], Any]], name: str) -> Callable[[], Any]:
    """The call of that name.

    Raises:
        AbsentError: There is none.
    """
    if name not in calls:
        raise AbsentError(name)
    return calls[name]


def repeated(call: Callable[[], Any], wait: Callable[[Any], object], times: int) -> Callable[[], None]:
    """`call`, so many times; then `wait` for the last result."""

    def run() -> None:
        for _ in range(times):
            result = call()
        wait(result)

    return run
