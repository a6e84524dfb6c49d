"""Adds the kernels that other distributions provide (`operad.kernels`) to an operator's own.

An entry's name is the operator's, a dot, and a name for the kernel: `Convolution.winograd`. Any
number of distributions may add to one operator, so nothing here competes for a name.
"""

from __future__ import annotations

from collections.abc import Iterable

from operad.op import Kernel, OperatorProperty
from operad.registry.loading import Plugins
from operad.registry.plugins import KERNELS


def load_kernels(plugins: Plugins, names: Iterable[str]) -> list[Kernel]:
    """The kernels for the operator that has these names; a broken one is recorded and left out."""
    wanted = set(names)
    found: list[Kernel] = []
    for name, entries in sorted(plugins.manifest.entries(KERNELS).items()):
        if name.partition(".")[0] not in wanted:
            continue
        for entry in entries:
            kernel = plugins.try_load(entry)
            if isinstance(kernel, Kernel):
                found.append(kernel._replace(distribution=entry.owner.name))
    return found


def attach(cls: type[OperatorProperty], kernels: Iterable[Kernel]) -> None:
    """Give `cls` its own kernels and these, in place of others that were attached before."""
    cls.kernels = [*(kernel for kernel in cls.kernels if kernel.distribution is None), *kernels]
