"""Memory of `operad check`: which checks of which operators were red, or broken, the last time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, final

import msgspec

from operad import config
from operad.files import cache

_NAME: Final = "check-red"


@final
class LastRun:
    """Ids of red checks by operator, in a file of the folder that the setting `cache_dir` names.

    What cannot be read is as good as nothing, and what cannot be written is left: it only saves time.

    Args:
        scope: What the operators belong to: a program; "" for installed ones.
    """

    def __init__(self, scope: str = "") -> None:
        self._scope = scope
        self._path: Path = config.settings().cache_dir / _NAME

    def red(self) -> dict[str, list[str]]:
        """Ids by operator, for those that were red."""
        return {name: ids for name, ids in self._read().get(self._scope, {}).items() if ids}

    def note(self, found: Mapping[str, Sequence[str]]) -> None:
        """Remember the red checks of operators that were checked; none: it is green."""
        known = self._read()
        ours = {**known.get(self._scope, {}), **found}
        known[self._scope] = {name: list(ids) for name, ids in ours.items() if ids}
        cache.save(self._path, msgspec.json.encode(known))

    def _read(self) -> dict[str, dict[str, list[str]]]:
        text = cache.load(self._path)
        return {} if text is None else msgspec.json.decode(text, type=dict[str, dict[str, list[str]]])
