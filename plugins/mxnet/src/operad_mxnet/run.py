"""`operad run-mxnet`: a program written for MXNet, run with operad in its place."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

import click


@click.command(
    "run-mxnet", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run_mxnet(script: Path, args: tuple[str, ...]) -> None:
    """Run SCRIPT with ARGS; `import mxnet` means operad in it."""
    from operad_mxnet import as_mxnet  # noqa: PLC0415 - importing it changes the process

    as_mxnet.install()
    sys.argv = [str(script), *args]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except Exception as error:  # noqa: BLE001 - as Python does at the end of a program
        traceback.print_exception(error.with_traceback(_from_script(error, script)))
        sys.exit(1)


def _from_script(error: BaseException, script: Path) -> TracebackType | None:
    """The traceback from the program's first line on; what ran the program is none of its lines.

    None where it has none: a SyntaxError names the line itself.
    """
    found = error.__traceback__
    while found is not None and found.tb_frame.f_code.co_filename != str(script):
        found = found.tb_next
    return found
