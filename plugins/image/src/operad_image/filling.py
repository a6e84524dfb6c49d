"""Filling a slot of a batch: read an image, decode it, change it, and write its numbers."""

from __future__ import annotations

from collections.abc import Callable

from operad.errors import FormatError, OutOfMemoryError, ShapeError
from operad_image.batches import Array, Workspace
from operad_image.codec import Image, decoded
from operad_image.finish import Finisher
from operad_image.samples import Records
from operad_image.transform import Part, Rng

Make = Callable[[Image, Array, Array, Array, Rng], Part]
"""Changes an image with the labels that were read, for a slot and the labels of a batch."""


def fill_one(
    who: str,
    samples: Records,
    make: Make,
    finisher: Finisher,
    number: int,
    slot: Array,
    labels: Array,
    workspace: Workspace,
) -> None:
    """Make one image and its labels."""
    channels = len(slot)
    try:
        found, content = samples.read(number)
        workspace.lap("read")
        wanted = None if channels == 4 else channels
        with decoded(content, wanted, into=workspace.pixels, is_upright=False) as image:
            workspace.hold(image.nbytes)
            workspace.lap("decode")
            if image.shape[2] != channels:
                raise FormatError(f"it has {image.shape[2]} channels, expected {channels}")
            part = make(image, found, slot, labels, workspace.rng)
            workspace.lap("augment")
            if finisher.compile():
                workspace.lap("compile")
            finisher.write(part, slot, workspace.rng)
        workspace.lap("copy")
    except (FormatError, OutOfMemoryError, ShapeError) as error:
        raise type(error)(f"{who}: {samples.name(number)}: {error}") from error
