"""Copies of a batch's arrays to devices, for executor groups of a program's own.

Source: `_load_general`, python/mxnet/module/executor_group.py and executor_manager.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad import NDArray
from operad_module.device_arrays import copy_values
from operad_module.inputs import labels_of, part

Target = NDArray | Sequence[tuple[slice, NDArray]]
"""An array for a whole batch, or one for each part of it."""


def _load_general(
    data: Sequence[Any], targets: Sequence[Target], major_axis: Sequence[int] | None = None
) -> None:
    """Copy arrays of a batch into arrays of devices, cut along an axis of each; None: the first."""
    for source, target, axis in zip(data, targets, major_axis or [0] * len(targets), strict=False):
        if isinstance(target, NDArray):
            copy_values(source, target)
            continue
        for cut, array in target:
            copy_values(part(source, axis, cut), array)


def _load_data(batch: Any, targets: Sequence[Target], major_axis: Sequence[int] | None = None) -> None:
    """`_load_general`, of a batch's data."""
    _load_general(batch.data, targets, major_axis)


def _load_label(batch: Any, targets: Sequence[Target], major_axis: Sequence[int] | None = None) -> None:
    """`_load_general`, of a batch's labels."""
    _load_general(labels_of(batch), targets, major_axis)
