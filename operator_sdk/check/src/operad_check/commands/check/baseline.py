"""Baselines: `operad check --baseline FILE` fails for what is not known yet.

A package that is checked for the first time may have findings that cannot all be fixed at once. The file
has a row for each operator with the ids that are known; it stands beside the source, and shrinks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from operad.errors import ArgumentError
from operad.files import read_bytes, write_atomically
from operad_check.commands.check.records import CheckRun, judged


def with_baseline(run: CheckRun, path: Path) -> CheckRun:
    """The run without the rows that a baseline knows; the file is written where there is none.

    Raises:
        ArgumentError: The file is no baseline.
    """
    found = {op.operator: op.failing_ids(strict=run.strict) for op in run.operators}
    if not path.exists():
        rows = _filled(found)
        write_atomically(path.absolute(), msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n")
        return judged(replace(run, known=rows))
    try:
        rows = msgspec.json.decode(read_bytes(path.absolute(), "baseline"), type=dict[str, list[str]])
    except msgspec.DecodeError as error:
        raise ArgumentError(
            f"check: --baseline {path}: expected ids by operator, as it is written where there is no file: "
            f"{error}"
        ) from error
    known = _filled({name: [id for id in ids if id in found.get(name, ())] for name, ids in rows.items()})
    gone = {name: [id for id in ids if id not in found[name]] for name, ids in rows.items() if name in found}
    return judged(replace(run, known=known, gone=_filled(gone)))


def _filled(rows: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: ids for name, ids in rows.items() if ids}
