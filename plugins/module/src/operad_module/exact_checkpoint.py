"""Checkpoints that training goes on from as if it had never stopped.

A checkpoint is MXNet's two files and one more:

    net-symbol.json     the symbol
    net-0003.params     arguments and auxiliary states
    net-0003.resume     all else: states of the optimizer, random streams, metric, position in the data

Each file appears whole or not at all, and the third one comes last and holds the digest of the second. So
there is a checkpoint where there is a whole third file whose parameters have its digest; whatever a process
that is killed half way leaves is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, final

from operad import NDArray
from operad.errors import ArgumentError, FormatError, ParamError
from operad.files import translated
from operad_module.checkpoint import load_named, params_path, save_named
from operad_module.state_file import digest_of, read_state, write_state

_SUFFIX: Final = ".resume"


@final
@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint as it was read.

    Attributes:
        path: Of its third file.
        unit: What the number in its name counts, "epochs" or "batches".
        arg_params: Values of arguments.
        aux_params: Values of auxiliary states.
        state: What `fit` wrote beside them.
    """

    path: str
    unit: str
    arg_params: dict[str, NDArray]
    aux_params: dict[str, NDArray]
    state: Mapping[str, Any]


@final
class Checkpoint:
    """Paths and interval at which `fit` writes all that it needs to go on; for its argument `checkpoint`.

    `fit(..., checkpoint=Checkpoint("net"), resume=True)` goes on from the newest checkpoint, if there is one.

    Args:
        prefix: Beginning of the paths; a folder that is missing is made.
        every_epochs: Write at the end of each so many epochs. The number in the names is that of the epochs
            that are done, as MXNet's `load_checkpoint` takes it. 1 if `every_batches` is not given either.
        every_batches: Write after each so many batches instead; the number is that of the batches that are
            done in all epochs together.
        keep: Number of checkpoints that stay, the newest ones; None: all.
    Raises:
        ParamError: A number is not positive, or both intervals are given.
    """

    def __init__(
        self,
        prefix: str | os.PathLike[str],
        every_epochs: int | None = None,
        every_batches: int | None = None,
        keep: int | None = None,
    ) -> None:
        if every_epochs is not None and every_batches is not None:
            raise ParamError("Checkpoint: both every_epochs and every_batches are given; give one")
        named = {"every_epochs": every_epochs, "every_batches": every_batches, "keep": keep}
        for name, number in named.items():
            if number is not None and number < 1:
                raise ParamError(f"Checkpoint: {name} is {number!r}, expected a positive integer or None")
        self.prefix = os.fspath(prefix)
        self.unit = "epochs" if every_batches is None else "batches"
        self.interval = every_batches or every_epochs or 1
        self.keep = keep

    def is_due(self, unit: str, count: int) -> bool:
        """Return whether a checkpoint is to be written after so many epochs or batches."""
        return unit == self.unit and count % self.interval == 0

    def check_unused(self) -> None:
        """Raise if training from the beginning would mix with older checkpoints.

        Raises:
            ArgumentError: There are some.
        """
        numbers = checkpoints(self.prefix)
        if numbers:
            newest = _path(self.prefix, numbers[-1])
            raise ArgumentError(
                f"fit: there are checkpoints already, up to {newest!r}; give resume=True to go on from "
                "there, or another prefix, or remove the files"
            )

    def write(
        self,
        count: int,
        save_symbol: Callable[[str], None],
        params: tuple[Mapping[str, NDArray], Mapping[str, NDArray]],
        state: Mapping[str, Any],
        meet: Callable[[], object] | None = None,
    ) -> None:
        """Write the checkpoint of a count of epochs or batches, and remove those that are too old.

        Args:
            count: Of epochs or batches.
            save_symbol: Writes the symbol beside a prefix.
            params: Arguments and auxiliary states.
            state: All else.
            meet: Waits until the other workers of a job have written theirs too. Until then the one before
                may be the newest that all have.
        """
        folder = os.path.dirname(self.prefix) or "."
        with translated(f"the folder {folder!r} of checkpoints", "a folder"):
            os.makedirs(folder, exist_ok=True)
        save_symbol(self.prefix)
        own_path = params_path(self.prefix, count)
        _remove(_path(self.prefix, count))  # it would not fit the parameters that come now
        save_named(own_path, *params)
        # state change: with this file there is a checkpoint.
        kept = {"unit": self.unit, "params": digest_of(own_path), "state": state}
        write_state(_path(self.prefix, count), kept)
        if meet is not None:
            meet()
        if self.keep is not None:
            for number in checkpoints(self.prefix)[: -self.keep]:
                for path in (_path(self.prefix, number), params_path(self.prefix, number)):
                    _remove(path)

    def check_unit(self, saved: Saved) -> None:
        """Raise unless the numbers in names mean the same as before.

        Raises:
            ArgumentError: They do not, though the prefix is the same.
        """
        if saved.unit != self.unit and _split(saved.path)[0] == self.prefix:
            raise ArgumentError(
                f"fit: {saved.path!r} is numbered by {saved.unit}, and checkpoint= numbers by {self.unit}; "
                f"give every_{saved.unit}, or another prefix"
            )


def checkpoints(prefix: str) -> list[int]:
    """Numbers of the third files of `prefix`, in order, complete or not."""
    folder, name = os.path.split(prefix)
    pattern = re.compile(re.escape(name) + r"-(\d{4,})" + re.escape(_SUFFIX))
    found: list[str] = []
    with translated(f"the folder {folder or '.'!r} of checkpoints", "a folder"), suppress(FileNotFoundError):
        found = os.listdir(folder or ".")
    return sorted(int(matched[1]) for one in found if (matched := pattern.fullmatch(one)))


def _remove(path: str) -> None:
    with translated(f"removing {path!r}", "a file"), suppress(FileNotFoundError):
        os.unlink(path)


def newest(prefix: str, gather: Callable[[int], Sequence[int]] | None = None) -> Saved | None:
    """The newest checkpoint of `prefix`; None if there is none.

    Args:
        prefix: Of this worker.
        gather: Gives the numbers of all workers of a job; the newest one that all have is then read.
    Raises:
        FormatError: It is damaged. The message names the file, and the newest that is not.
    """
    numbers = checkpoints(prefix)
    number = numbers[-1] if numbers else 0
    if gather is not None:
        number = min(gather(number))
    if not number:
        return None
    try:
        return read(_path(prefix, number))
    except FormatError as error:
        good = _last_good(prefix, [one for one in numbers if one < number])
        advice = f"the last good checkpoint is {good!r}: give resume={good!r}" if good else "no other is good"
        raise FormatError(f"{error}; {advice}") from error


def _last_good(prefix: str, numbers: Sequence[int]) -> str | None:
    for number in reversed(numbers):
        with suppress(FormatError):
            return read(_path(prefix, number)).path
    return None


def read(path: str) -> Saved:
    """The checkpoint of a third file.

    Raises:
        FormatError: A file of it is missing or damaged.
    """
    kept = read_state(path)
    if not ({"unit", "params", "state"} <= kept.keys() and isinstance(kept["state"], dict)):
        raise FormatError(
            f"{path!r} has {', '.join(kept)[:80]}, expected unit, params and state of a checkpoint"
        )
    own_path = params_path(*_split(path))
    try:
        digest = digest_of(own_path)
    except FileNotFoundError as error:
        raise FormatError(f"{own_path!r} is missing, which {path!r} belongs to") from error
    if digest != kept["params"]:
        raise FormatError(
            f"{own_path!r} is damaged or replaced: its digest is not the one in {path!r}; resume from an "
            "older checkpoint"
        )
    return Saved(path, kept["unit"], *load_named(own_path), kept["state"])


def is_path(text: str) -> bool:
    """Return whether a text names a third file, and not a prefix."""
    return text.endswith(_SUFFIX)


def _path(prefix: str, number: int) -> str:
    return f"{prefix}-{number:04d}{_SUFFIX}"


def _split(path: str) -> tuple[str, int]:
    prefix, _, number = path.removesuffix(_SUFFIX).rpartition("-")
    if not number.isdecimal():
        raise FormatError(f"{path!r} is not called PREFIX-NUMBER{_SUFFIX}, as checkpoints are")
    return prefix, int(number)
