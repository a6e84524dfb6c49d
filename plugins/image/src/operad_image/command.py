"""`operad im2rec`: lists of images, and record files of them.

Source: tools/im2rec.py, whose arguments and files these are. Differs: packing is resumed, and divided over
workers; an image that cannot be read stops it unless `--skip-errors` is given.
"""

from __future__ import annotations

import glob
import os
from typing import Final

import click

from operad.cli.progress import progress
from operad_image.listing import find_images, read_listed, write_lists
from operad_image.packing import Packing, pack_list
from operad_image.parts import join_parts, part_of

_CHANNELS: Final = {1: 3, 0: 1, -1: None}


@click.command("im2rec")
@click.argument("prefix")
@click.argument("root", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--list", "is_list", is_flag=True, help="Write lists of the images below ROOT, and pack nothing."
)
@click.option(
    "--exts",
    multiple=True,
    default=(".jpeg", ".jpg", ".png"),
    help="Extensions of image files; may be repeated.",
)
@click.option("--chunks", default=1, help="Lists to divide the images into.")
@click.option("--train-ratio", default=1.0, help="Share of the images for the training list.")
@click.option("--test-ratio", default=0.0, help="Share of the images for the test list.")
@click.option("--recursive", is_flag=True, help="Search subfolders; each is a label.")
@click.option("--no-shuffle", is_flag=True, help="List the images in the order of their names.")
@click.option("--pass-through", is_flag=True, help="Pack the files without decoding them.")
@click.option("--resize", default=0, help="Resize the shorter edge to this many pixels.")
@click.option("--center-crop", is_flag=True, help="Crop to the central square first.")
@click.option("--quality", default=95, help="JPEG quality, 1 to 100, or PNG compression, 0 to 9.")
@click.option("--num-thread", default=1, help="Threads that read and encode.")
@click.option(
    "--color", default=1, type=click.IntRange(-1, 1), help="1: colours; 0: gray; -1: as images have them."
)
@click.option("--encoding", default=".jpg", type=click.Choice([".jpg", ".png"]), help="Of the packed images.")
@click.option("--pack-label", is_flag=True, help="Pack all labels of an image, not only the first.")
@click.option("--skip-errors", is_flag=True, help="Leave out images that cannot be read.")
@click.option("--overwrite", is_flag=True, help="Start over where packing was interrupted.")
@click.option(
    "--num-parts", default=1, type=click.IntRange(1),
    envvar=["OPERAD_KV_NUM_WORKERS", "OMPI_COMM_WORLD_SIZE"],
    help="Parts to divide each list into, of which one is packed; workers of a launcher have their number.",
)  # fmt: skip
@click.option(
    "--part-index", default=0, envvar=["OPERAD_KV_RANK", "OMPI_COMM_WORLD_RANK"],
    help="The part to pack, from 0; workers of a launcher have their rank.",
)  # fmt: skip
@click.option("--join", is_flag=True, help="Join the parts that workers have packed, and pack nothing.")
def im2rec(
    prefix: str,
    root: str,
    is_list: bool,
    exts: tuple[str, ...],
    chunks: int,
    train_ratio: float,
    test_ratio: float,
    recursive: bool,
    no_shuffle: bool,
    pass_through: bool,
    resize: int,
    center_crop: bool,
    quality: int,
    num_thread: int,
    color: int,
    encoding: str,
    pack_label: bool,
    skip_errors: bool,
    overwrite: bool,
    num_parts: int,
    part_index: int,
    join: bool,
) -> None:
    """List the images below ROOT in PREFIX.lst, or pack those of PREFIX.lst into PREFIX.rec and PREFIX.idx.

    First `operad im2rec --list --recursive flowers photos/`, then `operad im2rec flowers photos/`.
    Interrupted packing continues when the command is run again.

    Workers pack parts: `operad launch -n 4 -m operad im2rec flowers photos/`, then
    `operad im2rec --join flowers photos/`. On several machines that see the same folder, start each with its
    --num-parts and --part-index.
    """
    if is_list:
        images = list(find_images(root, [ending.lower() for ending in exts], recursive))
        for path in write_lists(
            prefix,
            images,
            is_shuffled=not no_shuffle,
            chunks=chunks,
            train_ratio=train_ratio,
            test_ratio=test_ratio,
        ):
            click.echo(path)
        return
    lists = sorted(glob.glob(glob.escape(prefix) + "*.lst"))
    if not lists:
        raise click.UsageError(f"there is no {prefix}*.lst; write one with --list")
    if join:
        for path in lists:
            click.echo(f"{os.path.splitext(path)[0]}.rec: {join_parts(path)} records")
        return
    packing = Packing(
        os.path.abspath(root),
        resize,
        center_crop,
        quality,
        encoding,
        _CHANNELS[color],
        pass_through,
        pack_label,
        skip_errors,
    )
    for path in lists:
        with progress(
            os.path.basename(path), len(part_of(read_listed(path), num_parts, part_index))
        ) as advance:
            count, failures = pack_list(path, packing, num_thread, advance, overwrite, num_parts, part_index)
        for failure in failures:
            click.echo(f"left out: {failure}", err=True)
        part = f", part {part_index} of {num_parts}" if num_parts > 1 else ""
        click.echo(f"{os.path.splitext(path)[0]}.rec{part}: {count} records")
