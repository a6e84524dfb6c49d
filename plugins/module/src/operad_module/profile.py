"""`operad profile`: run a program, and say what of its pipeline is slow, and what of its graphs."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Final

import click

import operad as od
from operad_module.pipeline import Pipeline

_MAX_EVENTS: Final = 1_000_000
"""Some 100 MB of records."""


@click.command("profile", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--nodes/--no-nodes",
    default=True,
    help="Also show the operations and graph nodes that ran (needs operad-profiler).",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def profile(nodes: bool, script: Path, args: tuple[str, ...]) -> None:
    """Run SCRIPT with ARGS, and report the time of each stage of its data pipeline.

    Prints the time of each stage that a loader or a trainer counts, the share of its time that the trainer
    waited for data, and the stage that is slow. What od.profiler.stage counts is shown as well. Above them
    stands a row for each node of the graphs that ran, and for each other operation: its kernel, its time,
    its speed, and its share of each thread's time; of a long program those of the first million.
    """
    records = nodes and hasattr(od.profiler, "start")
    sys.argv = [str(script), *args]
    sys.path.insert(0, str(script.resolve().parent))
    before = Pipeline.so_far()
    od.profiler.count_stages()
    if records:
        od.profiler.set_config(aggregate_stats=True, max_events=_MAX_EVENTS)
        od.profiler.start()
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:  # also of a program that fails, or ends by sys.exit
        od.profiler.count_stages(False)
        if records:
            od.profiler.stop()
            od.profiler.set_config(aggregate_stats=True)  # should the program have said otherwise
            click.echo(f"\n{od.profiler.dumps(format='nodes', reset=True)}")
            od.profiler.set_config(aggregate_stats=False, max_events=None)
        found = Pipeline.so_far().since(before)
        if found.stages:
            click.echo("\n".join(["", *found.table(), "", found.conclusion()]))
        else:
            click.echo("\nNothing was counted: the program neither called fit nor read an iterator of od.io.")
