"""Command line of tools that write files, or with `--check` say whether these are what would be written."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.workspace import ROOT


def parser_of(description: str | None, what: str, *, has_root: bool = True) -> argparse.ArgumentParser:
    """A parser with the options that these tools share.

    Args:
        description: What the tool does.
        what: What `--check` compares, such as "the table".
        has_root: Whether the tool can read and write another checkout than this one.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help=f"change nothing; fail where {what} is stale")
    if has_root:
        parser.add_argument("--root", type=Path, default=ROOT, help="checkout to read and write")
    return parser


def keep_current(file: Path, wanted: str, stale: str, *, is_check: bool) -> int:
    """Write `wanted` where the file is something else; the exit status.

    Args:
        file: The file, which need not exist.
        wanted: What it should hold.
        stale: What is printed where it holds something else and `is_check` forbids to write it.
        is_check: Whether nothing is written.
    """
    if file.exists() and file.read_text() == wanted:
        return 0
    if is_check:
        print(stale, file=sys.stderr)
        return 1
    file.write_text(wanted)
    return 0
