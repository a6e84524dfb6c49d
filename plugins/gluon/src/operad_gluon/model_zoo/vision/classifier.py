"""Base of the networks: features, and an output layer upon them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from operad_gluon import nn
from operad_gluon.block import HybridBlock
from operad_gluon.model_zoo.model_store import Net


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


def variant(
    name: str, summary: str, make: Callable[..., Net], *first: Any, **fixed: Any
) -> Callable[..., Net]:
    """The function `name(**kwargs)`: `make` with its first arguments, and with keywords of its own."""

    def made(**kwargs: Any) -> Net:
        return make(*first, **{**kwargs, **fixed})

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"{summary}; see `{make.__name__}`."
    made.__module__ = make.__module__
    return made
