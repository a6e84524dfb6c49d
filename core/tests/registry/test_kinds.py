"""Which objects an entry point of each group may name."""

from __future__ import annotations

import types
from types import SimpleNamespace

import pytest

from operad.op import Kernel, OperatorProperty
from operad.registry.kinds import KINDS
from operad.registry.plugins import KERNELS, NAMESPACES, OPERATORS


class Double(OperatorProperty):
    name = "double"


KERNEL = Kernel("acme.fast", lambda *args: None)
MODULE = types.ModuleType("acme")


@pytest.mark.parametrize(
    ("group", "named", "found"),
    [
        (OPERATORS, Double, Double),
        (OPERATORS, SimpleNamespace(operad_property=Double), Double),
        (OPERATORS, Double.__name__, None),
        (OPERATORS, SimpleNamespace(operad_property="Double"), None),
        (OPERATORS, int, None),
        (KERNELS, KERNEL, KERNEL),
        (KERNELS, SimpleNamespace(operad_kernel=KERNEL), KERNEL),
        (KERNELS, print, None),
        (NAMESPACES, MODULE, MODULE),
        (NAMESPACES, SimpleNamespace(), None),
    ],
)
def test_an_object_is_adapted_or_refused(group, named, found):
    assert KINDS[group].adapt(named) is found
