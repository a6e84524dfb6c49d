"""Values that the contexts of a module have of their own: auxiliary states, and states of batches.

Parameters are the same everywhere, but each context sees its own part of the batches: their auxiliary states
differ until an epoch ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operad import NDArray
from operad.errors import FormatError
from operad_module.device_arrays import copy_values
from operad_module.executor_group import DataParallelExecutorGroup


def context_states(group: DataParallelExecutorGroup) -> dict[str, Any]:
    """The values by name, one per context."""
    return {name: [array.asnumpy() for array in arrays] for name, arrays in _arrays(group).items()}


def load_context_states(group: DataParallelExecutorGroup, state: Mapping[str, Any]) -> None:
    """Put back what `context_states` gave.

    Raises:
        FormatError: It is that of another symbol, or of more or fewer contexts.
    """
    arrays = _arrays(group)
    if {name: len(own) for name, own in arrays.items()} != {name: len(own) for name, own in state.items()}:
        found = {len(own) for own in state.values()} or "no"
        raise FormatError(
            f"it has states {sorted(state)} on {found} contexts, "
            f"expected {sorted(arrays)} on {len(group.contexts)}"
        )
    for name, own in arrays.items():
        for array, value in zip(own, state[name], strict=True):
            copy_values(value, array)


def _arrays(group: DataParallelExecutorGroup) -> dict[str, list[NDArray]]:
    aux = dict(zip(group.aux_names, group.aux_arrays, strict=True))
    return aux | {name: [one.arg_dict[name] for one in group.execs] for name in group.state_names}
