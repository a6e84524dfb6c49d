"""Settings of recomputation in the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, final

from operad.config import at_least, one_of, plugin_setting
from operad.errors import ConfigError

MODE: Final = plugin_setting(
    "OPERAD_RECOMPUTE",
    one_of("off", "free", "memory"),
    "free",
    "What backward computes again: nothing, what costs next to nothing, or whatever saves memory.",
)
BYTES: Final = plugin_setting(
    "OPERAD_RECOMPUTE_BYTES",
    at_least(1),
    None,
    "Bytes that a memory plan is brought down to with OPERAD_RECOMPUTE=memory; default: as few as can be.",
)


@final
class RecomputeSettings(NamedTuple):
    """The settings in force when a graph is bound.

    Attributes:
        mode: `off`: nothing is computed again. `free`: what costs next to nothing. `memory`: what brings the
            plan down to `budget_bytes`.
        budget_bytes: Of the memory plan, in mode `memory`; None: as little as can be.
    """

    mode: str = "free"
    budget_bytes: int | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> RecomputeSettings:
        """Values of `OPERAD_RECOMPUTE` and `OPERAD_RECOMPUTE_BYTES`.

        Raises:
            ConfigError: A value cannot be used, or the bytes are given in another mode than `memory`.
        """
        mode, budget_bytes = MODE.read(environ), BYTES.read(environ)
        if budget_bytes is not None and mode != "memory":
            raise ConfigError(
                f"{BYTES.variable} is set, but {MODE.variable} is {mode!r}; set {MODE.variable}=memory"
            )
        return cls(mode, budget_bytes)
