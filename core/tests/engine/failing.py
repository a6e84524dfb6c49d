"""Operations that fail."""

from __future__ import annotations

from collections.abc import Callable

from operad.device import cpu
from operad.engine import Engine
from operad.engine.var import Var

CTX = cpu()


def raising(error: BaseException) -> Callable[..., None]:
    """A function of anything that raises this error."""

    def fn(*_: object) -> None:
        raise error

    return fn


def chain(engine: Engine, error: BaseException) -> tuple[Var, Var, Var]:
    """Three operations, each reading what the one before wrote; the first fails."""
    a, b, c = (engine.new_variable(name) for name in "abc")
    engine.push_sync(raising(error), CTX, (), (a,), name="a")
    engine.push_sync(lambda _: None, CTX, (a,), (b,), name="b")
    engine.push_sync(lambda _: None, CTX, (b,), (c,), name="c")
    return a, b, c
