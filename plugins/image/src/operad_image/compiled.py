"""Loops for numba; only `CompiledLoops` imports this module."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, loop


def _normalize(
    rows: Array, top: int, left: int, mirrored: bool, mean: Array, factor: Array, offset: float, slot: Array
) -> None:
    """`(pixel - mean) * factor + offset` of a part of an image of three channels, as planes.

    The three channels of a row are written in one loop, whose bounds and steps the compiler knows: it is then
    as fast as writing the planes. Written from the end such a loop takes six times as long, so a row is
    mirrored after it was written. Unsigned positions spare the test for a position that counts from the end.

    Args:
        rows: Contiguous, (height, 3 * width) of the whole image.
        slot: Contiguous, (3, height, width) of the part.
    """
    _, height, width = slot.shape
    mean_r, mean_g, mean_b = mean[0], mean[1], mean[2]
    factor_r, factor_g, factor_b = factor[0], factor[1], factor[2]
    last = np.uintp(width - 1)
    for y in range(height):
        row = rows[top + y, 3 * left : 3 * (left + width)]
        red, green, blue = slot[0, y], slot[1, y], slot[2, y]
        for x in range(width):
            red[x] = (np.float32(row[3 * x]) - mean_r) * factor_r + offset
            green[x] = (np.float32(row[3 * x + 1]) - mean_g) * factor_g + offset
            blue[x] = (np.float32(row[3 * x + 2]) - mean_b) * factor_b + offset
        if mirrored:
            for channel in range(3):
                line = slot[channel, y]
                for x in range(width // 2):
                    opposite = last - np.uintp(x)
                    kept = line[x]
                    line[x] = line[opposite]
                    line[opposite] = kept


normalize = loop(_normalize)
