"""What the environment says of recomputation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple, final

from operad.errors import ConfigError

MODE: Final = "OPERAD_RECOMPUTE"
BYTES: Final = "OPERAD_RECOMPUTE_BYTES"
MODES: Final = ("off", "free", "memory")


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
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> RecomputeSettings:
        """What `OPERAD_RECOMPUTE` and `OPERAD_RECOMPUTE_BYTES` say.

        Raises:
            ConfigError: A value cannot be used, or the bytes are given in another mode than `memory`.
        """
        mode, text = environ.get(MODE, "free"), environ.get(BYTES)
        if mode not in MODES:
            raise ConfigError(f"{MODE} is {mode!r}, expected one of {', '.join(MODES)}")
        if text is None:
            return cls(mode)
        if not text.isdecimal() or not int(text):
            raise ConfigError(f"{BYTES} is {text!r}, expected a whole number of bytes above 0")
        if mode != "memory":
            raise ConfigError(f"{BYTES} is set, but {MODE} is {mode!r}; set {MODE}=memory")
        return cls(mode, int(text))
