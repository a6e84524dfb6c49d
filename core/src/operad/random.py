"""Random numbers: seeding, and the functions that a plugin adds, such as `od.random.uniform`.

Source: python/mxnet/random.py.
"""

from __future__ import annotations

from typing import Any, Literal

from operad import faces, registry, resource
from operad.context import Context


def seed(seed_state: int, ctx: Context | Literal["all"] = "all") -> None:
    """Seed the random generators of every device, or of one.

    Takes effect in push order, so a seeded program draws the same numbers under every engine and
    number of workers.

    Args:
        seed_state: Any integer; taken modulo 2**64.
        ctx: The device, or "all". Under "all" each device number has its own stream; for one device
            it is the stream that "all" gives to number 0.

    Raises:
        ParamError: `seed_state` is not an integer.
        ContextError: `ctx` is neither a context nor "all".
    """
    resource.get().seed(seed_state, ctx)


def __getattr__(name: str) -> Any:
    """What plugins add."""
    return faces.on_face("random", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *registry.names_on_face("random")})
