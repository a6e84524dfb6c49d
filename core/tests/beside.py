"""A program in a process that finds one more distribution."""

from __future__ import annotations

import os
import subprocess
import sys


def printed_beside(folder, group, entry, source, program):
    """What a program prints, errors too, where `acme-extras` in `folder` provides an entry of a group.

    Args:
        group: Of entry points, without `operad.`.
        entry: `name = acme_extras:attribute`.
        source: Of the module `acme_extras`.
    """
    (folder / "acme_extras.py").write_text(source)
    info = folder / "acme_extras-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: acme-extras\nVersion: 1.0\nRequires-Dist: operad\n")
    (info / "entry_points.txt").write_text(f"[operad.{group}]\n{entry}\n")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr
