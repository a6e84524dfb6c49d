"""`operad run-mxnet`: a program written for MXNet, run with operad in its place."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path

import click

from operad.errors import OperadError


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
    except OperadError as error:
        # The command line shows an error's message alone; of a program one wants to know the line, too.
        traceback.print_exception(error)
        sys.exit(1)
