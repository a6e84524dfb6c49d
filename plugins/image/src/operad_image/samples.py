"""Sources of images and their labels: a record file, or files named in a list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol, final

import numpy as np

import operad
from operad.errors import ArgumentError, FormatError, ParamError
from operad_files import read_bytes, read_lines
from operad_image.paths import inside

Label = np.ndarray[Any, Any]


class Samples(Protocol):
    """Images by number, from 0."""

    def __len__(self) -> int:
        """Number of images."""

    def name(self, number: int) -> str:
        """Name of the image in errors."""

    def read(self, number: int) -> tuple[Label, Any]:
        """Its labels, and the bytes of its file."""

    def close(self) -> None:
        """Close what is open."""


@final
class Records:
    """The images of record files.

    Args:
        paths: The files.
        index: Path of the index of the only file; None: the files' heads are read to find the records.
        labels: Labels by the `id` of a record, instead of those in the records; None: none.
        num_parts: Into how many parts the records are divided.
        part_index: The part.
    Raises:
        FormatError: A file is damaged where records begin, or the index is.
    """

    def __init__(
        self,
        paths: Sequence[str],
        index: str | None = None,
        labels: dict[int, Label] | None = None,
        num_parts: int = 1,
        part_index: int = 0,
    ) -> None:
        part = operad.recordio.RecordPart(paths, num_parts, part_index)
        self._files, self._labels = part.files, labels
        if index is None:
            found = part.offsets()
        elif len(paths) == 1:
            with operad.recordio.MXIndexedRecordIO(index, paths[0], "r", str) as records:
                offsets = np.fromiter(records.idx.values(), np.int64)
            ((first, stop),) = part.spans
            if len(offsets) and offsets.max() >= part.files[0].size:
                raise FormatError(
                    f"{index!r} leads to byte {offsets.max()} of {paths[0]!r}, "
                    f"which has {part.files[0].size}; recordio.build_index makes the index again"
                )
            found = [offsets[(offsets >= first) & (offsets < stop)]]
        else:
            raise ParamError(f"an index, {index!r}, belongs to one record file; there are {len(paths)}")
        self._offsets = np.concatenate(found)
        self._file_of = np.repeat(np.arange(len(found), dtype=np.int32), [len(one) for one in found])

    def __len__(self) -> int:
        return len(self._offsets)

    def name(self, number: int) -> str:
        """File and offset of a record."""
        return f"the record at byte {self._offsets[number]} of {self._files[self._file_of[number]].path!r}"

    def read(self, number: int) -> tuple[Label, Any]:
        """The labels of a record and its image."""
        payload, _ = self._files[self._file_of[number]].read(int(self._offsets[number]))
        header, image = operad.recordio.unpack(memoryview(payload))
        if self._labels is None:
            return np.atleast_1d(np.asarray(header.label, np.float32)), image
        if header.id not in self._labels:
            raise FormatError(
                f"{self.name(number)} has the id {header.id}, expected one of path_imglist; "
                "use the list from which the records were packed"
            )
        return self._labels[header.id], image

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


@final
class Files:
    """Images in files of their own.

    Args:
        root: The folder that their paths begin in.
        listed: Labels and path of each.
        source: The file that lists them, whose paths must stay below `root`; None: the program itself does.
        num_parts: Into how many parts they are divided.
        part_index: The part.
    """

    def __init__(
        self,
        root: str | None,
        listed: Sequence[tuple[Label, str]],
        num_parts: int = 1,
        part_index: int = 0,
        source: str | None = None,
    ) -> None:
        if num_parts < 1 or not 0 <= part_index < num_parts:
            raise ParamError(
                f"part_index is {part_index} and num_parts {num_parts}, expected 0 <= part_index < num_parts"
            )
        count = len(listed)
        self._listed = listed[count * part_index // num_parts : count * (part_index + 1) // num_parts]
        self._root, self._source = root or "", source

    def __len__(self) -> int:
        return len(self._listed)

    def name(self, number: int) -> str:
        """Path of an image."""
        return repr(os.path.join(self._root, self._listed[number][1]))

    def read(self, number: int) -> tuple[Label, Any]:
        """The labels of an image, and its file."""
        label, path = self._listed[number]
        if self._source is not None:
            found = inside(self._root, path, self._source)
        else:
            found = os.path.join(self._root, path)
        return label, read_bytes(found, f"image {found!r}")

    def close(self) -> None:
        """Nothing is open."""


def read_list(path: str | os.PathLike[str]) -> dict[int, tuple[Label, str]]:
    """Labels and path by number, of a file with lines of number, labels and path between tabs.

    Raises:
        FormatError: A line is none of these.
    """
    what = f"list {os.fspath(path)!r}"
    found: dict[int, tuple[Label, str]] = {}
    for at, line in read_lines(path, what):
        words = line.rstrip("\r\n").split("\t")
        try:
            number, numbers = int(words[0]), [float(word) for word in words[1:-1]]
            with np.errstate(over="ignore", under="ignore"):  # beyond float32 a label is infinite, or 0
                label = np.array(numbers, np.float32)
        except (ValueError, OverflowError):
            label = np.empty(0, np.float32)
        if not len(label):
            raise FormatError(
                f"{what}: line {at} is {line!r:.200}, expected a number, labels and a path between tabs"
            )
        found[number] = label, words[-1]
    return found


def labels_in(path: str | None) -> dict[int, Label] | None:
    """Labels by number, of a file as `read_list` takes; None: there is no file."""
    return {number: label for number, (label, _) in read_list(path).items()} if path else None


def listed(given: Sequence[Any]) -> list[tuple[Label, str]]:
    """Labels and path of each image, of a list of lists: labels, one by one or as an array, then the path.

    Raises:
        ArgumentError: An entry is something else.
    """
    found = []
    for entry in given:
        try:
            *labels, path = entry
            label = np.asarray(labels[0] if len(labels) == 1 else labels, np.float32)
        except (TypeError, ValueError, IndexError) as error:
            raise ArgumentError(f"imglist has the entry {entry!r}, expected labels and a path") from error
        found.append((np.atleast_1d(label), os.fspath(path)))
    return found
