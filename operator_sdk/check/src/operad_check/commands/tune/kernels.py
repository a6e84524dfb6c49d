"""Measurement of kernels: corrections of their estimates, from a small call and a larger one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import Any, Final

import numpy as np

from operad import registry
from operad.cli.samples import sample_property, sample_shapes
from operad.context import cpu
from operad.errors import OperadError
from operad.operator import FORWARD, Correction, Cost, KernelCall, OperatorProperty, Shape, ranked
from operad_check.commands.bench.contestants import SampleCall
from operad_check.commands.tune.constants import least_us

_SIZES: Final = (1 << 6, 1 << 12, 1 << 16, 1 << 19, 1 << 21)
"""Elements of the first argument, roughly, one call after another."""
_TURNS: Final = 3
_SINGLE: Final = np.dtype(np.float32)


def corrections(name: str, params: Mapping[str, Any], shapes: Sequence[Shape]) -> dict[str, Correction]:
    """Corrections of the estimate of each kernel that computes the outputs of an operator, as measured.

    Args:
        name: The operator.
        params: Parameters of the operator; required ones that are not given are made up.
        shapes: Of leading arguments, from which larger ones are made.

    Raises:
        OperadError: There is no such operator, or none of its kernels could be run.
    """
    prop = sample_property(registry.get(name), params, shapes)
    calls = [SampleCall(prop, each, _SINGLE) for each in _calls(prop, shapes)]
    found: dict[str, dict[int, tuple[Cost, float]]] = {}
    # Other programs slow a machine down for longer than a call is measured, so each has several turns.
    for number, call in _TURNS * list(enumerate(calls)):
        asked = KernelCall(
            prop, cpu(), [array.shape for array in call.inputs], [a.dtype for a in call.inputs]
        )
        for kernel in ranked(asked):
            if kernel.rejection(asked, FORWARD) is None:
                with np.errstate(all="ignore"):
                    us = least_us(call.contestant(kernel).run)
                plain = kernel._replace(name="").estimate(asked)  # as if nothing had been measured before
                pairs = found.setdefault(kernel.name, {})
                pairs[number] = plain, min(us, pairs[number][1] if number in pairs else us)
    if not found:
        raise OperadError(
            f"tune {prop.name}: its arguments' shapes do not follow from its parameters, or no kernel runs "
            "here; leave it out"
        )
    return {kernel: fitted(list(pairs.values())) for kernel, pairs in found.items()}


def fitted(pairs: Sequence[tuple[Cost, float]]) -> Correction:
    """`measured = base_us + factor * work_us`, with the least relative errors over the calls.

    Products have the factor 1: how fast they are depends on shapes that were not tried.
    """
    estimated, measured = np.array([cost.work_us for cost, _ in pairs]), np.array([us for _, us in pairs])
    if any(cost.product_flops for cost, _ in pairs):
        base_us = float(np.average(measured - estimated, weights=measured**-2))
        return Correction(max(0.0, base_us), 1.0)
    rows = np.stack([1 / measured, estimated / measured], axis=1)
    base_us, factor = np.linalg.lstsq(rows, np.ones(len(pairs)), rcond=None)[0]
    # Neither can be less than nothing; where a line says so, the other explains all.
    if factor < 0:
        base_us, factor = np.exp(np.mean(np.log(measured))), 0.0
    elif base_us < 0 or len(pairs) == 1:
        base_us, factor = 0.0, np.exp(np.mean(np.log(measured / np.maximum(estimated, 1e-3))))
    return Correction(float(base_us), float(factor))


def _calls(prop: OperatorProperty, given: Sequence[Shape]) -> list[list[Shape]]:
    """Shapes of the arguments: those of a sample, its axes made longer step by step."""
    first = sample_shapes(prop, given)
    if not first:
        return [] if first is None else [[]]
    calls: list[list[Shape]] = []
    for size in _SIZES:
        factor = (size / max(1, prod(first[0]))) ** (1 / max(1, len(first[0])))
        lead = tuple(max(n, round(n * factor)) for n in first[0])
        with suppress(OperadError):  # axes that parameters fix
            shapes = sample_shapes(prop, [lead])
            if shapes is not None and shapes not in calls:
                calls.append(shapes)
    return calls or [first]
