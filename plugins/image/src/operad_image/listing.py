"""Lists of images: lines of number, label and path between tabs.

Source: list_image, make_list and write_list, tools/im2rec.py, whose lists these are, in the same order.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, final

from operad.errors import FormatError, ParamError
from operad.files import translated, write_atomically
from operad_files import read_lines

_SEED = 100
"""Seed of MXNet's order."""


@final
class Listed(NamedTuple):
    """An image of a list.

    Attributes:
        number: Its key in the index.
        path: From the root on.
        labels: At least one.
    """

    number: int
    path: str
    labels: tuple[float, ...]


def find_images(root: str, suffixes: Sequence[str], is_recursive: bool) -> Iterator[Listed]:
    """Images below a folder, by name.

    Args:
        suffixes: Of files that are images, in small letters.
        is_recursive: Whether to go into folders; each is then a label, from 0, in the order of their names.
            Else all labels are 0.
    """
    if not is_recursive:
        with translated(f"the folder {root!r}", "a folder"):
            names = [name for name in sorted(os.listdir(root)) if _is_image(root, name, suffixes)]
        yield from (Listed(number, name, (0.0,)) for number, name in enumerate(names))
        return
    number, label = 0, -1
    for folder, folders, names in os.walk(root, onerror=_refuse, followlinks=True):
        folders.sort()
        images = [name for name in sorted(names) if _is_image(folder, name, suffixes)]
        label += bool(images)
        for name in images:
            yield Listed(number, os.path.relpath(os.path.join(folder, name), root), (float(label),))
            number += 1


def _refuse(error: OSError) -> None:
    with translated(f"the folder {error.filename!r}", "a folder"):
        raise error


def write_lists(
    prefix: str,
    images: Sequence[Listed],
    *,
    is_shuffled: bool = True,
    chunks: int = 1,
    train_ratio: float = 1.0,
    test_ratio: float = 0.0,
) -> list[str]:
    """Write the lists of some images.

    Args:
        prefix: What the lists' names begin with.
        images: Whatever order they are in.
        is_shuffled: Whether to put them into MXNet's random order.
        chunks: Into how many lists to divide them, each of which is divided again:
        train_ratio: this part of it goes into a list for training,
        test_ratio: this part into one for testing, and the rest into one for validation.
    Returns:
        The lists' paths.
    """
    if train_ratio < 0 or test_ratio < 0 or train_ratio + test_ratio > 1 or chunks < 1:
        raise ParamError(
            f"train_ratio {train_ratio}, test_ratio {test_ratio} and chunks {chunks}, "
            "expected ratios of 0 or more with a sum of 1 at most, and a chunk or more"
        )
    order = list(images)
    if is_shuffled:
        random.Random(_SEED).shuffle(order)
    size = -(-len(order) // chunks)
    written = []
    for chunk in range(chunks):
        part = order[chunk * size : (chunk + 1) * size]
        name = f"{prefix}_{chunk}" if chunks > 1 else prefix
        if train_ratio == 1:
            written.append(_write(f"{name}.lst", part))
            continue
        test, train = int(size * test_ratio), int(size * train_ratio)
        if test_ratio:
            written.append(_write(f"{name}_test.lst", part[:test]))
        if train_ratio + test_ratio < 1:
            written.append(_write(f"{name}_val.lst", part[test + train :]))
        written.append(_write(f"{name}_train.lst", part[test : test + train]))
    return written


def read_listed(path: str) -> list[Listed]:
    """The images of a list.

    Raises:
        FormatError: A line is no number, labels and path; the message names file and line.
    """
    found = []
    for at, line in read_lines(path, f"list {path!r}"):
        words = line.rstrip("\r\n").split("\t")
        try:
            if len(words) < 3:
                raise ValueError(line)
            found.append(Listed(int(words[0]), words[-1], tuple(float(word) for word in words[1:-1])))
        except ValueError as error:
            raise FormatError(
                f"{path!r}: line {at} is {line!r:.200}, expected a number, labels and a path between tabs"
            ) from error
    return found


def _is_image(folder: str, name: str, suffixes: Sequence[str]) -> bool:
    path = os.path.join(folder, name)
    if os.path.splitext(name)[1].lower() not in suffixes:
        return False
    with translated(f"image {path!r}", "a file"), suppress(FileNotFoundError):  # a broken link
        return stat.S_ISREG(os.stat(path).st_mode)
    return False


def _write(path: str, images: Sequence[Listed]) -> str:
    lines = "".join(
        f"{image.number}\t" + "".join(f"{label:f}\t" for label in image.labels) + f"{image.path}\n"
        for image in images
    )
    write_atomically(path, lines.encode())
    return path
