"""Files of data sets and weights, which users put where they belong; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from operad.errors import OperadError, class_of_both

MissingFileError = class_of_both(OperadError, FileNotFoundError)


def existing(who: str, root: str, names: Sequence[str], advice: str = "put it there") -> Path:
    """The first of some names under a folder that is there.

    Args:
        who: The dataset or model, for the error.
        root: The folder; `~` is the user's.
        names: Paths below it.
        advice: What to do about a missing file.
    Raises:
        OperadError: None of them is there; a `FileNotFoundError` too.
    """
    folder = Path(root).expanduser()
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise MissingFileError(
        f"{who}: no {names[0]!r} in {str(folder)!r}, and operad downloads nothing; {advice}, or give "
        "another root"
    )
