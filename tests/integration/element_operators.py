"""Operators of elements, as scalar forms show them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from operad import registry
from operad.operator import OperatorProperty, ScalarForm
from operad_sdk.contract import contract_of
from tools.scalar_forms import SHAPE, has_same_shapes, variants


def of_elements() -> Iterator[tuple[str, OperatorProperty]]:
    """Operators of elements with a gradient, at their defaults and at every choice of a parameter."""
    double = np.dtype("float64")
    for name in registry.list_operators(aliases=False):
        op = registry.get(name)
        for changed, prop in variants(name):
            key = changed.partition("=")[0]
            if key and op.params[key].choices is None:
                continue
            count = len(prop.list_arguments())
            if not 1 <= count <= 2 or not has_same_shapes(prop, [SHAPE] * count, [double] * count):
                continue
            if contract_of(op).why_no_numeric_gradient(prop) or contract_of(op).why_head_is_ignored(prop):
                continue
            domains = [contract_of(op).domain(argument) for argument in prop.list_arguments()]
            if not all(domain is None or domain.is_real for domain in domains):
                continue
            forms = [prop.scalar_form(part, [SHAPE] * count, [double] * count) for part in prop.list_parts()]
            if len(forms) > 1 and all(map(is_of_elements, forms)):
                yield f"{name} {changed}", prop


def is_of_elements(form: ScalarForm | str) -> bool:
    return isinstance(form, ScalarForm) and not {"sum", "max", "min", "length"} & {
        step.op for step in form.instructions
    }
