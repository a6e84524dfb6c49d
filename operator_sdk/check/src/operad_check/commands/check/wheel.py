"""`operad check --into-wheel`: a wheel is checked as it is, and carries the report of it.

The wheel's files lie in a folder that stands first on the path of the process that checks, so nothing is
installed, and an installed version of the plugin plays no part. The report names the digest of what was
checked; a wheel that was changed afterwards carries a report that does not count.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from base64 import urlsafe_b64encode
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Final

import click
import msgspec

from operad import files
from operad.cli.search import IndexedChecks
from operad.cli.wheels import REPORT, open_wheel
from operad.errors import OperadError, OperatorNotFoundError
from operad_check.commands.check.records import CheckRun

_GROUPS: Final = ("operad.operators", "operad.kernels")


def checked_into(path: Path, *options: str) -> CheckRun:
    """Check the plugin in a wheel, and write the report into it.

    Args:
        options: Further words of `operad check`.
    Raises:
        FormatError: It is no wheel.
        OperatorNotFoundError: It provides no operator.
        OperadError: The checks could not run.
    """
    with open_wheel(path) as wheel:
        if not any(wheel.entry_points.get(group) for group in _GROUPS):
            raise OperatorNotFoundError(
                f"{path.name} provides no operator and no kernel, so there is nothing to check"
            )
        digest, name, info = wheel.digest(), wheel.metadata["Name"], wheel.info
        record = wheel.text(f"{info}/RECORD").splitlines()
    run = _run(path, name, options)
    report = msgspec.json.encode({"digest": digest, "checks": _brief(run)})
    files.write_atomically(path.absolute(), _with_report(path, info, record, report))
    return run


def _run(path: Path, name: str, options: tuple[str, ...]) -> CheckRun:
    with tempfile.TemporaryDirectory(prefix="operad-wheel-") as folder:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        command = [sys.executable, "-P", "-m", "operad", "check", "--plugin", name, "--json", *options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        done = subprocess.run(command, check=False, env=environment, stdout=subprocess.PIPE)
    try:
        return msgspec.json.decode(done.stdout, type=CheckRun)
    except msgspec.MsgspecError as error:
        raise OperadError(
            f"the checks of {path.name} ended with code {done.returncode} and no report; what they need "
            "beside the wheel has to be installed"
        ) from error


def _brief(run: CheckRun) -> IndexedChecks:
    red = {op.operator: [*op.red_ids, *op.broken_ids, *op.undeclared_ids] for op in run.operators}
    red |= {name: ["unusable"] for name in run.unusable}
    profile = next((op.profile for op in run.operators), "")
    passed = [name for name, ids in red.items() if not ids]
    return IndexedChecks(
        version("operad-check"), profile, passed, {name: ids for name, ids in red.items() if ids}
    )


def _with_report(path: Path, info: str, lines: list[str], report: bytes) -> bytes:
    """The wheel's bytes with a report in place of one it may have, which RECORD lists."""
    place, record = f"{info}/{REPORT}", f"{info}/RECORD"
    lines = [line for line in lines if not line.startswith(f"{place},")]
    sum_of_it = urlsafe_b64encode(hashlib.sha256(report).digest()).decode().rstrip("=")
    lines.append(f"{place},sha256={sum_of_it},{len(report)}\n")
    target = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(files.read_bytes(path, f"wheel {path.name}"))) as old,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for one in old.infolist():
            if one.filename != place:
                new.writestr(one, "\n".join(lines) if one.filename == record else old.read(one))
        added = zipfile.ZipInfo(place, old.getinfo(record).date_time)
        added.external_attr = old.getinfo(record).external_attr
        new.writestr(added, report)
    return target.getvalue()


def refuse_beside(given: dict[str, object]) -> None:
    """Refuse what does not go with --into-wheel."""
    if others := [name for name, value in given.items() if value]:
        raise click.UsageError(f"--into-wheel takes no {', '.join(others)}: it checks the wheel's operators")
