"""Attributes that MXNet's modules have under names with `_`, and that programs read all the same.

Each is what the module has now, so `_params_dirty` is always False and `_sync_params_from_devices` has
nothing to do: the parameters live in the executors only. `_total_exec_bytes`,
which MXNet never counts, is 0.

Source: Module, python/mxnet/module/module.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operad import Context, NDArray
from operad_module.bound_module import BoundModule

if TYPE_CHECKING:
    from operad_module.updates import Updates


class Underscored(BoundModule):
    """The attributes; arguments are those of `Module`."""

    _updates: Updates | None = None
    _params_dirty = False
    _total_exec_bytes = 0

    @property
    def _context(self) -> list[Context]:
        return list(self._placement.contexts)

    @property
    def _work_load_list(self) -> list[float]:
        return list(self._placement.workload)

    @property
    def _output_names(self) -> list[str]:
        return self._symbol.list_outputs()

    @property
    def _aux_names(self) -> list[str]:
        return self._symbol.list_auxiliary_states()

    @property
    def _data_shapes(self) -> Any:
        return self.data_shapes if self.binded else None

    @property
    def _label_shapes(self) -> Any:
        return self.label_shapes if self.binded else None

    @property
    def _arg_params(self) -> dict[str, NDArray] | None:
        return self._present_params(0)

    @property
    def _aux_params(self) -> dict[str, NDArray] | None:
        return self._present_params(1)

    def _present_params(self, kind: int) -> dict[str, NDArray] | None:
        if self._loaded is not None:
            return dict(self._loaded[kind])
        return self.get_params()[kind] if self.binded and self.params_initialized else None

    def _sync_params_from_devices(self) -> None:
        """Nothing is kept beside what the executors hold."""

    @property
    def _optimizer(self) -> Any:
        return None if self._updates is None else self._updates.optimizer

    @property
    def _kvstore(self) -> Any:
        return None if self._updates is None else self._updates.store

    @property
    def _updater(self) -> Any:
        return None if self._updates is None else self._updates.updater

    @property
    def _update_on_kvstore(self) -> bool | None:
        return None if self._updates is None else self._updates.is_on_store
