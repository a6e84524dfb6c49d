"""A compiled function of two arrays, and its gradients."""

from __future__ import annotations

import operad as od
from operad import autograd, nd


def polynomial(x, y):
    return nd.square(x) * y - x * y * y


def gradients(x, y):
    return 2 * x * y - y * y, x * x - 2 * x * y


compiled = od.compile(polynomial)


def recorded(x, y, function=compiled):
    with autograd.record():
        return function(x, y)
