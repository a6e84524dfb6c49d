"""Everything that decides how `fit` goes on, taken between two batches and put back.

Besides the parameters, which a checkpoint has in MXNet's file: the states, counts and settings of the
optimizer, what a store keeps, auxiliary states of each context, the random streams of operad, NumPy and
Python, the metric's sums, callbacks that keep something, and where the data is. What else draws random
numbers or counts is the program's own to keep, by a callback with `state_dict` and `load_state_dict`.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np

import operad as od
from operad.errors import ArgumentError, FormatError, UnsupportedError
from operad.files import translated
from operad_module import exact_checkpoint
from operad_module.exact_checkpoint import Checkpoint, Saved


@final
class TrainingState:
    """State of one call of `fit`, from which the call can go on.

    Args:
        module: What is trained.
        data: Its batches.
        eval_data: Those it is scored on, or None.
        metric: Of training.
        callbacks: All of them.
        checkpoint: Where to write, or None.
        store: What sums gradients. Workers who share it write and go on from the same checkpoints.

    Attributes:
        epoch: Number of the epoch.
        nbatch: How many batches of it are done.
        num_batches: How many batches of all epochs are done.
    """

    def __init__(
        self,
        module: Any,
        data: Any,
        eval_data: Any,
        metric: Any,
        callbacks: Sequence[Any],
        checkpoint: Checkpoint | None,
        store: Any = None,
    ) -> None:
        if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
            raise ArgumentError(
                f"fit: checkpoint is {checkpoint!r}, expected callback.Checkpoint(prefix) or None"
            )
        self._module, self._data, self._eval_data, self._metric = module, data, eval_data, metric
        self._keeping = [one for one in callbacks if hasattr(one, "state_dict")]
        self._checkpoint = checkpoint
        # Asynchronous workers are at positions of their own, and do not wait for each other.
        self._job = store if hasattr(store, "gather") and "async" not in store.type else None
        if getattr(store, "is_back", False):
            raise ArgumentError(
                "fit: this process takes the place of an earlier one in a job that goes on, and fit begins "
                "where all workers begin; leave out OPERAD_KV_ON_LOSS, so that the whole job starts again, "
                "or write the loop yourself with store.resume()"
            )
        self.epoch = self.nbatch = self.num_batches = 0

    def found(self, resume: bool | str) -> Saved | None:
        """The checkpoint to go on from; None to begin with the first epoch.

        Raises:
            ArgumentError: There is none where there must be one, or there are some that would be mixed up.
            FormatError: It is damaged.
        """
        own = self._checkpoint
        if not resume:
            if own is not None:
                own.check_unused()
            return None
        if isinstance(resume, str):
            prefix = resume
        elif own is not None:
            prefix = own.prefix
        else:
            raise ArgumentError("fit: resume=True without checkpoint=, expected one; or pass resume=PREFIX")
        if exact_checkpoint.is_path(prefix):
            saved: Saved | None = exact_checkpoint.read(prefix)
        else:
            saved = exact_checkpoint.newest(prefix, None if self._job is None else self._job.gather)
            if saved is None and resume is not True:
                raise ArgumentError(f"fit: resume is {resume!r}, but there is no checkpoint with that prefix")
        if saved is not None and own is not None:
            own.check_unit(saved)
        return saved

    def check(self) -> None:
        """Make sure that a checkpoint can be written before any time is spent on training.

        Raises:
            UnsupportedError: Part of the training cannot say where it is.
        """
        if self._checkpoint is not None:
            self._state()

    def count_batch(self) -> bool:
        """Count a batch; whether a checkpoint is due."""
        self.num_batches += 1
        return self._checkpoint is not None and self._checkpoint.is_due("batches", self.num_batches)

    def batch_done(self, epoch: int, nbatch: int) -> None:
        """Write the checkpoint that is due in the middle of an epoch."""
        self.epoch, self.nbatch = epoch, nbatch
        self._write(self.num_batches)

    def epoch_done(self, epoch: int) -> None:
        """Note the end of an epoch, and write a checkpoint if one is due."""
        self.epoch, self.nbatch = epoch + 1, 0
        if self._checkpoint is not None and self._checkpoint.is_due("epochs", epoch + 1):
            self._write(epoch + 1)

    def restore(self, saved: Saved) -> None:
        """Put everything back but the parameters, which the module has already.

        Raises:
            FormatError: The program that wrote the checkpoint was another one.
        """
        state = saved.state
        try:
            with translated("its state", "what this program writes"):
                self.epoch, self.nbatch, self.num_batches = map(operator.index, state["place"])
                self._module.load_state_dict(state["module"])
                _load_each("data", [self._data, self._eval_data], state["data"])
                _load_each("metric", [self._metric], state["metric"])
                _load_each("callback", self._keeping, state["callbacks"])
                _set_random(state["random"])  # last, for what is above may draw
        except FormatError as error:
            raise FormatError(
                f"fit: {saved.path!r} does not fit this program: {error}; "
                "go on with the program that wrote it, or begin with another prefix"
            ) from error

    def _state(self) -> dict[str, Any]:
        return {
            "place": [self.epoch, self.nbatch, self.num_batches],
            "module": self._module.state_dict(),
            "data": _states([_with_state(self._data), self._eval_data]),
            "metric": _states([self._metric]),
            "callbacks": _states(self._keeping),
            "random": _random(),
        }

    def _write(self, count: int) -> None:
        assert self._checkpoint is not None
        module = self._module
        meet = None if self._job is None else self._job.barrier
        self._checkpoint.write(count, module.save_symbols, module.get_params(), self._state(), meet)


def _with_state(data: Any) -> Any:
    if not hasattr(data, "state_dict"):
        raise UnsupportedError(
            f"fit: checkpoint= needs an iterator that says where it is, and {type(data).__name__} has no "
            "state_dict; define state_dict and load_state_dict"
        )
    return data


def _states(objects: Iterable[Any]) -> list[Any]:
    """The kinds and states of objects; None of those that have none."""
    return [[type(one).__name__, one.state_dict()] if hasattr(one, "state_dict") else None for one in objects]


def _load_each(what: str, objects: Sequence[Any], states: Sequence[Any]) -> None:
    if len(objects) != len(states):
        raise FormatError(f"it has {len(states)} states of {what}, and there are {len(objects)}")
    for one, kept in zip(objects, states, strict=True):
        if kept is None:
            continue
        kind, state = kept
        if type(one).__name__ != kind:
            raise FormatError(f"it has the state of a {kind} as {what}, and there is {type(one).__name__}")
        one.load_state_dict(state)


def _random() -> dict[str, Any]:
    return {
        "operad": od.random.get_state(),
        "numpy": np.random.get_state(legacy=False),
        "python": random.getstate(),
    }


def _set_random(state: Mapping[str, Any]) -> None:
    od.random.set_state(state["operad"])
    np.random.set_state(state["numpy"])
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
