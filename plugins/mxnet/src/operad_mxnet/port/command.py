"""`operad port`: every name of MXNet that programs use, and where it is here."""

from __future__ import annotations

from pathlib import Path

import click

from operad.cli import Listing
from operad_mxnet.port.programs import sources, uses
from operad_mxnet.port.report import Port, report


@click.command(cls=Listing, result=Port)
@click.argument("path", metavar="PROGRAM|FOLDER", type=click.Path(exists=True, path_type=Path))
def port(path: Path) -> Port:
    """List the names of MXNet that PROGRAM, or the programs in FOLDER, use; nothing of them is run.

    Says of each name which package has it here, what installs those that are missing, in one line, and what
    to do instead of names that no package has. Names are followed through imports, also of other names and
    with a star, and through assignments such as nd = mx.nd. Methods of arrays and symbols are not seen: no
    name says what they are called on. Exits with 1 where a name is missing or absent, or a program could not
    be read.
    """
    return report(uses(sources(path)))
