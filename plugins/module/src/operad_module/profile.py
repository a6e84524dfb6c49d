"""`operad profile`: run a program, and say which stage of its pipeline is slow."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import click

import operad as od
from operad_module.pipeline import Pipeline


@click.command("profile", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def profile(script: Path, args: tuple[str, ...]) -> None:
    """Run SCRIPT with ARGS, and say where its pipeline's time went.

    Prints the time of each stage that a loader or a trainer counts, the share of its time that the trainer
    waited for data, and the stage that is slow. What od.profiler.stage counts is shown as well.
    """
    sys.argv = [str(script), *args]
    sys.path.insert(0, str(script.resolve().parent))
    before = Pipeline.so_far()
    od.profiler.count_stages()
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:  # also of a program that fails, or ends by sys.exit
        od.profiler.count_stages(False)
        found = Pipeline.so_far().since(before)
        if found.stages:
            click.echo("\n".join(["", *found.table(), "", found.conclusion()]))
        else:
            click.echo("\nNothing was counted: the program neither called fit nor read an iterator of od.io.")
