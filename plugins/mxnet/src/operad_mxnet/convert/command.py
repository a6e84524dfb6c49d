"""`operad convert`: look into a model's files, and write them as MXNet 1.9.1 and operad read them."""

from __future__ import annotations

import click

from operad.cli import Listing
from operad_mxnet.convert.conversion import converted
from operad_mxnet.convert.files import find
from operad_mxnet.convert.report import Conversion


@click.command(cls=Listing, result=Conversion)
@click.argument("file")
@click.option("--epoch", type=int, metavar="N", help="Epoch of the checkpoint, if there are several.")
@click.option(
    "-o", "--out", metavar="OUT", help="Write the updated model: a path, or a prefix if FILE is one."
)
def convert(file: str, epoch: int | None, out: str | None) -> Conversion:
    """Report the operators in FILE and the packages that provide them; with -o, update its files.

    FILE is a symbol (model-symbol.json), parameters (model-0001.params), or the prefix of both (model), of
    any version of MXNet. What is written loads here and in MXNet 1.9.1. Exits with 1 where an operator is
    missing or parameters do not fit; nothing is written then.
    """
    return converted(find(file, epoch), out)
