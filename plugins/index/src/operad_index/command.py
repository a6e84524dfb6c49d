"""The command `operad-index`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from operad.cli.listing import to_json
from operad.errors import OperadError
from operad.files import write_atomically
from operad_index.contents import index_of
from operad_index.page import page


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--names",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="First download the distributions that this file names into DIR: a requirements file of pip, which "
    "asks the index that pip knows. Wheels alone, without their requirements.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder for index.html and index.json; default: that of the wheels.",
)
def main(folder: Path, names: Path | None, out: Path | None) -> None:
    """Write a page and a file of the plugins among the wheels in DIR.

    Reads the wheels' metadata and entry points; imports and installs nothing. Exit code 1: a wheel could
    not be read; it is listed with the reason.
    """
    if names is not None:
        _download(names, folder)
    if not folder.is_dir():
        raise click.UsageError(f"there is no folder {folder}; put wheels there, or give --names FILE")
    index = index_of(sorted(folder.glob("*.whl")))
    if not index.plugins and not index.unreadable:
        raise click.ClickException(f"no wheel in {folder} has an entry point of operad")
    place = out or folder
    place.mkdir(parents=True, exist_ok=True)
    try:
        write_atomically((place / "index.html").absolute(), page(index).encode())
        write_atomically((place / "index.json").absolute(), (to_json(index) + "\n").encode())
    except OperadError as error:
        raise click.ClickException(str(error)) from error
    count = sum(len(plugin.operators) for plugin in index.plugins)
    click.echo(f"{len(index.plugins)} plugins with {count} operators: {place / 'index.html'}, index.json")
    click.echo(f"operad search WORD --index {place / 'index.json'}")
    for name, reason in index.unreadable.items():
        click.echo(f"not read: {name}: {reason}", err=True)
    sys.exit(bool(index.unreadable))


def _download(names: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run([*command, "--dest", str(folder), "-r", str(names)], check=False)
    if done.returncode:
        raise click.ClickException(
            f"pip download failed for {names} (exit code {done.returncode}); see pip's output above"
        )
