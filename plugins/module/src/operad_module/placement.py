"""Devices of a module, their shares of a batch, and the contexts of groups on each.

Source: `_prepare_group2ctxs`, python/mxnet/module/executor_group.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from operad import Context, current_context
from operad.errors import BindError


@final
@dataclass(frozen=True, slots=True)
class Placement:
    """Contexts that run the parts of a batch.

    Attributes:
        contexts: One executor runs on each.
        workload: The share of each.
        groups: For each, the contexts of the groups that `__ctx_group__` names.
    """

    contexts: Sequence[Context]
    workload: Sequence[float]
    groups: Sequence[Mapping[str, Context] | None]


def placement_of(
    context: Context | Sequence[Context] | None, work_load_list: Sequence[float] | None, group2ctxs: Any
) -> Placement:
    """The placement that the arguments of a module describe.

    Raises:
        BindError: Their lengths differ.
    """
    several = isinstance(context, (list, tuple))
    contexts: list[Context] = list(context) if several else [context or current_context()]  # type: ignore[arg-type,list-item]
    workload = [1] * len(contexts) if work_load_list is None else list(work_load_list)
    if len(workload) != len(contexts):
        raise BindError(f"Module: work_load_list has {len(workload)} shares for {len(contexts)} contexts")
    return Placement(contexts, workload, _groups(group2ctxs, len(contexts)))


def _groups(given: Any, count: int) -> list[Mapping[str, Context] | None]:
    if given is None:
        return [None] * count
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise BindError(
                f"Module: group2ctxs has {len(given)} mappings, expected {count}, one per context"
            )
        return list(given)
    made: list[dict[str, Context]] = [{} for _ in range(count)]
    for group, ctxs in given.items():
        each = list(ctxs) if isinstance(ctxs, (list, tuple)) else [ctxs]
        each = each * count if len(each) == 1 else each
        if len(each) != count:
            raise BindError(f"Module: group2ctxs[{group!r}] has {len(each)} contexts, expected 1 or {count}")
        for mapping, one in zip(made, each, strict=True):
            mapping[group] = one
    return list(made)
