"""Base of the networks: features, and an output layer upon them."""

from __future__ import annotations

from typing import Any

from operad_gluon import nn
from operad_gluon.block import HybridBlock


class Classifier(HybridBlock):
    """A network whose attributes `features` and `output` run one after the other."""

    features: Any
    output: Any

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the scores of the classes, (N, classes)."""
        return self.output(self.features(x))


def chain(*blocks: Any) -> nn.HybridSequential:
    """Blocks one after another that add nothing to the names of their parameters."""
    made = nn.HybridSequential(prefix="")
    made.add(*blocks)
    return made
