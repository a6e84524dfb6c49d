"""Names of the profiler's functions before MXNet 1.2, for programs of that time."""

from __future__ import annotations

from operad.errors import ParamError
from operad_profiler.recording import set_config, set_state
from operad_profiler.trace import dump


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """Choose where `dump_profile` writes.

    Args:
        mode: "symbolic" or "all"; what is recorded does not depend on it.
        filename: The file.

    Raises:
        ParamError: The mode is neither.
    """
    if mode not in ("symbolic", "all"):
        raise ParamError(f"profiler_set_config: mode is {mode!r}, expected 'symbolic' or 'all'")
    set_config(filename=filename)


def profiler_set_state(state: str = "stop") -> None:
    """`set_state`."""
    set_state(state)


def dump_profile() -> None:
    """`dump`, after which nothing is recorded."""
    dump(finished=True)
