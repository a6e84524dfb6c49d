"""`mx.executor_manager`: functions that programs took from the manager which modules replaced."""

from __future__ import annotations

from collections.abc import Sequence

from operad_module.batch_loading import (  # noqa: F401 - for loops of a program's own
    _load_data,
    _load_general,
    _load_label,
)
from operad_module.inputs import even_slices


def _split_input_slice(batch_size: int, work_load_list: Sequence[float]) -> list[slice]:
    """A batch cut into parts in proportion to the workload of each context.

    Raises:
        BindError: A part would be empty; a ValueError, too.
    """
    return even_slices(batch_size, work_load_list)
