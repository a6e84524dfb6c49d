"""Results of the executors of a group, joined to those of a whole batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad_module.bound_executors import BoundExecutors
from operad_module.device_arrays import copy_values, joined
from operad_module.inputs import Described, batch_axis, part


class ExecutorResults:
    """Outputs, gradients of inputs, states and metrics of executors that each have a part of the batch.

    Attributes:
        state_names: Arguments that persist between batches.
    """

    state_names: list[str]
    _now: BoundExecutors
    _output_axes: Sequence[int]

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The outputs of the last forward; with `merge_multi_context` joined, else a list per output."""
        several = [list(arrays) for arrays in zip(*(one.outputs for one in self._now.execs), strict=True)]
        return self._joined(several, self._output_axes) if merge_multi_context else several

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Gradients of the data, like `get_outputs`."""
        descriptions = self._now.data_shapes
        several = [[one.grad_dict[desc.name] for one in self._now.execs] for desc in descriptions]
        return self._joined(several, map(_axis, descriptions)) if merge_multi_context else several

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The values of the states, like `get_outputs`."""
        several = [[one.arg_dict[name] for one in self._now.execs] for name in self.state_names]
        return self._joined(several, [0] * len(several)) if merge_multi_context else several

    def set_states(self, states: Sequence[Any] | None, value: float | None) -> None:
        """Set the states to arrays, as lists of one per context or whole, or all to one number."""
        for i, name in enumerate(self.state_names):
            for k, (one, cut) in enumerate(zip(self._now.execs, self._now.slices, strict=True)):
                if states is None:
                    one.arg_dict[name][...] = value
                else:
                    given = states[i]
                    copy_values(
                        given[k] if isinstance(given, list) else part(given, 0, cut), one.arg_dict[name]
                    )

    def _joined(self, several: Sequence[Sequence[Any]], axes: Any) -> list[Any]:
        return [joined(arrays, axis) for arrays, axis in zip(several, axes, strict=True)]

    def update_metric(
        self, metric: Any, labels: Sequence[Any], pre_sliced: bool, label_names: Sequence[str]
    ) -> None:
        """Show a metric the labels and outputs of each executor, by name.

        Args:
            label_names: Names of the labels, which may be bound without descriptions.
        """
        now = self._now
        axes = list(map(_axis, now.label_shapes)) or [0] * len(labels)
        names = [one.name for one in now.label_shapes] or label_names
        for k, (one, cut) in enumerate(zip(now.execs, now.slices, strict=True)):
            own = labels[k] if pre_sliced else labels
            if not pre_sliced and len(now.execs) > 1:
                own = [part(label, axis, cut) for label, axis in zip(labels, axes, strict=False)]
            metric.update_dict(dict(zip(names, own, strict=False)), one.output_dict)


def _axis(desc: Described) -> int:
    return batch_axis(desc.layout)
