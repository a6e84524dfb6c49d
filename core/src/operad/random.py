"""Random numbers: seeding, and the functions that a plugin adds, such as `od.random.uniform`.

Source: python/mxnet/random.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from operad import registry, resource
from operad.device import Context
from operad.imperative import refuse_traced


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
    refuse_traced("random numbers are seeded", "seed them outside")
    resource.get().seed(seed_state, ctx)


def get_state() -> dict[str, Any]:
    """Positions of the random streams of every device, after all draws that were pushed before.

    Made of dicts, lists, texts, numbers and NumPy's arrays, so that a file can hold it. Waits for the draws.

    Raises:
        UnsupportedError: A GPU has drawn random numbers, whose streams cannot be saved.

    Example:
        >>> import operad as od
        >>> before = od.random.get_state()
        >>> first = od.nd.random.uniform(shape=3).asnumpy()
        >>> od.random.set_state(before)
        >>> bool((od.nd.random.uniform(shape=3).asnumpy() == first).all())
        True
    """
    return resource.get().get_state()


def set_state(state: Mapping[str, Any]) -> None:
    """Go on where the random streams were when `get_state` returned `state`; in push order, like `seed`.

    Raises:
        FormatError: `state` is something else.
    """
    refuse_traced("random numbers are seeded", "seed them outside")
    resource.get().set_state(state)


def __getattr__(name: str) -> Any:
    """An attribute that a plugin adds."""
    return registry.get_attribute("random", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *registry.attribute_names("random")})
