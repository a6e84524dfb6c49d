"""`operad check --watch`: the checks run again whenever the operators' source changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Final, final

from operad import registry
from operad.cli import Mark, Page
from operad_check.commands.check.records import CheckRun
from operad_check.commands.check.source import Source

POLL_S: Final = 0.3
"""Seconds between two looks at the files."""


@final
class Files:
    """Python files below some folders, and what they were when they were last looked at."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = list(folders)
        self._seen = self._look()

    def changed(self) -> list[Path]:
        """Files that came, went or changed since the last call, or since this was made."""
        before, self._seen = self._seen, self._look()
        either = before.keys() | self._seen.keys()
        return sorted(path for path in either if before.get(path) != self._seen.get(path))

    def _look(self) -> dict[Path, tuple[int, int]]:
        found = {}
        for folder in self._folders:
            for path in folder.rglob("*.py") if folder.is_dir() else [folder]:
                try:
                    state = path.stat()
                except OSError:  # between two steps of an editor that replaces it
                    continue
                found[path] = (state.st_mtime_ns, state.st_size)
        return found


def folders_of(names: Iterable[str], source: Source | None) -> list[Path]:
    """The packages, or modules, that the operators are in; imports none of them."""
    records = [record for name in names if (record := registry.find(name)) is not None]
    values = [record.value for record in records] if source is None else [source.module]
    found: dict[Path, None] = {}
    for name in {value.partition(":")[0].partition(".")[0] for value in values}:
        spec = find_spec(name) if source is None else PathFinder.find_spec(name, [source.folder])
        if spec is not None and spec.submodule_search_locations:
            found |= dict.fromkeys(map(Path, spec.submodule_search_locations))
        elif spec is not None and spec.origin is not None:
            found[Path(spec.origin)] = None
    return list(found)


@final
@dataclass(frozen=True, slots=True)
class WatchedRuns:
    """Result of `operad check --watch`, when it is interrupted.

    Attributes:
        rounds: How often the checks ran.
        passed: Whether the last round found nothing wrong, and no check broke.
        code: Exit code of the last round.
    """

    rounds: int
    passed: bool
    code: int = 0

    @property
    def exit_code(self) -> int:
        """Exit code of the last round."""
        return self.code

    def show(self, page: Page) -> None:
        """Write nothing: each round was shown when it was over."""


def watched(run: Callable[[Callable[[], bool]], CheckRun], files: Files, page: Page) -> WatchedRuns:
    """Run the checks now, and again after each change, until Ctrl-C.

    Args:
        run: Runs the checks, up to the end or until what it is given says that a file has changed.
        files: Looked at, during a round as well.
        page: Where each round is shown.
    """
    rounds, passed, code = 0, True, 0
    changed: list[Path] = []

    def is_stale() -> bool:
        changed.extend(files.changed())
        return bool(changed)

    try:
        while True:
            changed.clear()
            found = run(is_stale)
            if not changed:
                rounds, passed, code = rounds + 1, found.passed, found.exit_code
                found.show(page)
                page.text(Mark(f"{datetime.now():%H:%M:%S}: waiting for a change; Ctrl-C ends", "quiet"))
            while not is_stale():
                time.sleep(POLL_S)
            page.heading(f"changed: {', '.join(sorted({path.name for path in changed}))}")
    except KeyboardInterrupt:
        return WatchedRuns(rounds, passed, code)
