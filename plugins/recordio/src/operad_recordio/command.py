"""`operad rec2idx`: the index of a record file."""

from __future__ import annotations

from pathlib import Path

import click

from operad_recordio.index import build_index


@click.command("rec2idx")
@click.argument("rec", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("idx", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--checksums", is_flag=True, help="Also write REC.crc, checksums that readers verify.")
def rec2idx(rec: Path, idx: Path | None, checksums: bool) -> None:
    """Write the index IDX of the records in REC; without IDX beside it, as REC with .idx at its end.

    Keys count from 0.
    """
    count = build_index(rec, idx, checksums=checksums)
    click.echo(f"{idx or rec.with_suffix('.idx')}: {count} records")
