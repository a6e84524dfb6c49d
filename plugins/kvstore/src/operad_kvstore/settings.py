"""The settings of stores that carry values between processes, as the environment has them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Self, final

from operad.errors import ConfigError

PREFIX: Final = "OPERAD_KV_"


@final
class StoreSettings(NamedTuple):
    """One field per variable: `rank` is `OPERAD_KV_RANK`.

    Attributes:
        engine: What carries values, `ray` or `mpi`; empty to choose by the process's surroundings.
        rank: The number of this worker; what starts the workers sets it.
        num_workers: How many there are; likewise.
        num_servers: How many servers share the keys.
        job: The name under which workers find their servers.
        timeout_s: How long a worker waits for others, in seconds.
        silence_s: A worker that was not heard of for so many seconds is lost.
        on_loss: What happens where a worker is lost that others wait for: they get an error (`raise`), go on
            without it (`shrink`), or wait until a process takes over its rank (`wait`).
        snapshots: The folder for what servers write to come back after a crash; empty for a temporary one.
        snapshot_every: A server writes after so many rounds: pushes of all it stores by every worker.
        allow_pickle: 1: functions of `set_updater`, and optimizers that are not operad's, may travel as
            pickled code, which runs in the servers.
    """

    engine: str = ""
    rank: int = 0
    num_workers: int = 1
    num_servers: int = 1
    job: str = "operad"
    timeout_s: float = 300.0
    silence_s: float = 10.0
    on_loss: str = "raise"
    snapshots: str = ""
    snapshot_every: int = 4
    allow_pickle: int = 0

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Self:
        """The settings that variables give, and the defaults of the others.

        Raises:
            ConfigError: A variable with the prefix is unknown, or its value cannot be used.
        """
        found: dict[str, Any] = {}
        for name, text in (os.environ if environ is None else environ).items():
            if not name.startswith(PREFIX):
                continue
            field = name.removeprefix(PREFIX).lower()
            if field not in cls._fields:
                known = ", ".join(PREFIX + one.upper() for one in cls._fields)
                raise ConfigError(f"unknown setting {name}; known settings: {known}")
            found[field] = _parsed(name, text, type(cls._field_defaults[field]))
        return cls(**found)._checked()

    def _checked(self) -> Self:
        if self.on_loss not in {"raise", "shrink", "wait"}:
            raise ConfigError(f"{PREFIX}ON_LOSS is {self.on_loss!r}, expected 'raise', 'shrink' or 'wait'")
        for field in ("num_workers", "num_servers", "timeout_s", "silence_s", "snapshot_every"):
            if not getattr(self, field) > 0:
                raise ConfigError(f"{PREFIX}{field.upper()} is {getattr(self, field)}, expected more than 0")
        if not 0 <= self.rank < self.num_workers:
            raise ConfigError(
                f"{PREFIX}RANK is {self.rank}, expected one of the {self.num_workers} workers, from 0 on; "
                f"set {PREFIX}NUM_WORKERS as well, or start with operad launch"
            )
        return self


def _parsed(name: str, text: str, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(text)
    except ValueError as error:
        raise ConfigError(f"{name} is {text!r}, expected a number") from error
