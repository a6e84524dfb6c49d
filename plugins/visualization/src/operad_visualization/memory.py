"""The memory plan of an executor as a picture: buffers over steps.

Each bar is a value: as long as it lives, as high as it is large, at its position in memory. Bars above each
other are in memory at the same time; one that begins where another ends uses that one's bytes again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from operad import Executor
from operad_sdk.notebook import html_table
from operad_visualization import svg

_COLOURS: Final = ("#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5")
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 720.0, 320.0, 70.0, 46.0, 4.0
_LEAST: Final = 1.5
"""The least height of a bar, in pixels."""


def executor_svg(executor: Executor) -> str:
    """A picture of `executor.memory_plan`; outputs, arguments and gradients are not in the plan."""
    return plan_svg(executor.memory_plan)


def executor_html(executor: Executor) -> str:
    """Shapes of arguments, states and outputs, and the memory plan; does not block."""
    kinds = {"argument": executor.arg_dict, "state": executor.aux_dict, "output": executor.output_dict}
    facts = [
        (f"{kind} {name}", f"{array.shape} {array.dtype.name}, {array.context}")
        for kind, arrays in kinds.items()
        for name, array in arrays.items()
    ]
    return html_table("Executor", facts) + plan_html(executor.memory_plan)


def plan_html(plan: Any) -> str:
    """The figures of a `MemoryPlan` above its picture."""
    sizes = {"planned": plan.planned_bytes, "without sharing": plan.baseline_bytes}
    sizes |= {"at least": plan.lower_bound_bytes}
    facts = [("steps", len(plan.schedule)), ("blocks", len(plan.blocks))]
    return html_table(
        "MemoryPlan", [*facts, *((name, _size(size)) for name, size in sizes.items())]
    ) + plan_svg(plan)


def plan_svg(plan: Any) -> str:
    """A picture of a `MemoryPlan`."""
    words = (
        f"memory plan: {_size(plan.planned_bytes)} planned, {_size(plan.baseline_bytes)} without sharing, "
        f"at least {_size(plan.lower_bound_bytes)}; {len(plan.schedule)} steps"
    )
    height = _TOP + _HEIGHT + _GAP * len(plan.blocks) + 22
    parts = [svg.text(8, 20, words, 13, "start"), *_bars(plan)]
    parts.append(svg.text(_LEFT + _WIDTH / 2, height - 6, "steps"))
    return svg.document(_LEFT + _WIDTH + 12, height, parts, words)


def _bars(plan: Any) -> Iterator[str]:
    steps = max(1, len(plan.schedule))
    scale = _HEIGHT / max(1, plan.planned_bytes)
    tops: Mapping[int, float] = {}
    top = _TOP
    for block in plan.blocks:
        high = block.size_bytes * scale
        tops = {**tops, block.id: top}
        yield svg.box(_LEFT, top, _WIDTH, high, "#f4f4f4", f"block {block.id} on {block.ctx}")
        yield svg.text(_LEFT - 6, top + high / 2 + 4, _size(block.size_bytes), 10, "end")
        top += high + _GAP
    for number, (entry, placement) in enumerate(plan.placement.items()):
        first, last = plan.lifetime(entry)
        tip = (
            f"{entry.name}: {_size(placement.size_bytes)} at {placement.offset_bytes}, "
            f"steps {first} to {last}, {plan.request(entry).name.lower()}"
        )
        yield svg.box(
            _LEFT + first * _WIDTH / steps,
            tops[placement.block] + placement.offset_bytes * scale,
            max(1, last - first + 1) * _WIDTH / steps,
            max(_LEAST, placement.size_bytes * scale),
            _COLOURS[number % len(_COLOURS)],
            tip,
        )


def _size(size_bytes: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.4g} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.4g} GiB"
