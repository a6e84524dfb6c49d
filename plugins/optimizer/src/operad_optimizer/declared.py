"""Optimizers as plain values, a name and the object's attributes, for another process or a file.

Nothing is pickled, so a writer of the values decides how weights move, and runs no code. That works for
the optimizers and schedules of this package, whose names mean the same in every process.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final, cast

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError, FormatError
from operad_optimizer import lr_scheduler
from operad_optimizer.base import Optimizer

_PACKAGE: Final = "operad_optimizer."
_COUNTS, _CURRENT = "_all_index_update_counts", "_index_update_count"
_APART: Final = {"lr_scheduler", "param_dict", _CURRENT}
_LEAVES: Final = (bool, int, float, str, NDArray, type(None))


def is_declarable(optimizer: object) -> bool:
    """Return whether `declare` takes an optimizer: it and its schedule are of this package."""
    schedule = getattr(optimizer, "lr_scheduler", None)
    return all(type(one).__module__.startswith(_PACKAGE) for one in (optimizer, schedule) if one is not None)


def declare(optimizer: Optimizer) -> dict[str, Any]:
    """An optimizer as a tree of dicts, lists, tuples, numbers, texts and arrays, for `from_declared`.

    Raises:
        ArgumentError: It is not of this package, or holds something else.
    """
    if not is_declarable(optimizer):
        raise ArgumentError(f"declare: {optimizer!r} is not an optimizer of operad_optimizer")
    schedule = optimizer.lr_scheduler
    tree = {
        "name": type(optimizer).__name__,
        "holds": {name: value for name, value in vars(optimizer).items() if name not in _APART},
        "schedule": None if schedule is None else {"name": type(schedule).__name__, "holds": vars(schedule)},
        "multipliers": {index: (one.lr_mult, one.wd_mult) for index, one in optimizer.param_dict.items()},
    }
    plain: dict[str, Any] = _plain(tree, type(optimizer).__name__)
    return plain


def from_declared(tree: Mapping[str, Any]) -> Optimizer:
    """The optimizer that `declare` was given, with its counts.

    Raises:
        ParamError: It has a name that is unknown here.
        FormatError: It is something else.
    """
    from operad_optimizer import optimizer as known  # noqa: PLC0415 - it imports all that it knows

    try:
        cls = getattr(known, str(tree["name"]), None)
        if not (isinstance(cls, type) and issubclass(cls, Optimizer)):
            raise FormatError(
                f"from_declared: unknown optimizer {tree['name']!r}, expected a class of operad_optimizer"
            )
        made = cast("Optimizer", _filled(cls, tree["holds"]))
        made._index_update_count = getattr(made, _COUNTS)[0]
        made.param_dict = {
            index: SimpleNamespace(lr_mult=rate, wd_mult=decay)
            for index, (rate, decay) in tree["multipliers"].items()
        }
        made.lr_scheduler = None if tree["schedule"] is None else _schedule(tree["schedule"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"from_declared: this is not an optimizer: {error!r}") from error
    return made


def _schedule(tree: Mapping[str, Any]) -> Any:
    cls = getattr(lr_scheduler, str(tree["name"]), None)
    if not (isinstance(cls, type) and issubclass(cls, lr_scheduler.LRScheduler)):
        raise FormatError(
            f"from_declared: unknown schedule {tree['name']!r}, expected a class of lr_scheduler"
        )
    return _filled(cls, tree["holds"])


def _filled(cls: type, holds: Mapping[str, Any]) -> Any:
    """An object with these attributes, whose constructor has checked them where it was made."""
    made: Any = object.__new__(cls)
    vars(made).update(holds)
    return made


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one, f"{where}[{key!r}]") for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(one, where) for one in value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, _LEAVES):
        return value
    raise ArgumentError(f"declare: {where} is {value!r}, expected a number, a text or an array")
