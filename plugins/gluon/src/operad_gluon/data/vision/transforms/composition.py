"""Transforms of transforms.

Source: python/mxnet/gluon/data/vision/transforms.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from operad_gluon.block import HybridBlock
from operad_gluon.nn import HybridSequential, Sequential


class Compose(Sequential):
    """Transforms one after another; neighbours that are hybrid run as one compiled function.

    Args:
        transforms: The transforms, in order.
    """

    def __init__(self, transforms: Iterable[Any]) -> None:
        super().__init__()
        run: list[Any] = []
        for transform in transforms:
            if isinstance(transform, HybridBlock):
                run.append(transform)
                continue
            self._add_run(run)
            run = []
            self.add(transform)
        self._add_run(run)

    def _add_run(self, run: Sequence[Any]) -> None:
        if len(run) < 2:
            self.add(*run)
            return
        together = HybridSequential()
        together.add(*run)
        together.hybridize()
        self.add(together)


class RandomApply(Sequential):
    """A transform that is applied with a probability.

    Args:
        transforms: The transform, of which several are a `Compose`.
        p: The probability.
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any) -> Any:
        """Return the transformed image, or `x`."""
        return x if self.p < random.random() else self.transforms(x)
