"""Blocks one after another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from operad_gluon.block import Block, HybridBlock


class _Chain(Block):
    """Blocks in the order in which they were added."""

    _is_container = True

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())

    def __getitem__(self, key: int | slice) -> Any:
        found = list(self._children.values())[key]
        if not isinstance(found, list):
            return found
        made = type(self)(prefix=self._prefix)
        with made.name_scope():
            made.add(*found)
        return made

    def __repr__(self) -> str:
        return self._shown(self._children.items())

    def add(self, *blocks: Block) -> None:
        """Put blocks at the end."""
        for block in blocks:
            self.register_child(block)

    def _chained(self, x: Any) -> Any:
        for block in self._children.values():
            x = block(x)
        return x


class Sequential(_Chain):
    """Blocks one after another, each with the output of the one before as its input.

    >>> import operad as od
    >>> net = od.gluon.nn.Sequential()
    >>> net.add(od.gluon.nn.Dense(10, activation="relu"), od.gluon.nn.Dense(20))
    >>> net
    Sequential(
      (0): Dense(None -> 10, Activation(relu))
      (1): Dense(None -> 20, linear)
    )
    """

    def forward(self, x: Any) -> Any:
        """The output of the last block."""
        return self._chained(x)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Have each block run as a compiled function; `HybridSequential` makes one of them all."""
        if self._children and all(isinstance(one, HybridBlock) for one in self._children.values()):
            warnings.warn(
                f"All children of this Sequential layer '{self.prefix}' are HybridBlocks. Consider using "
                "HybridSequential "
                "for the best performance.",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Chain, HybridBlock):
    """Blocks one after another, which can be compiled as one.

    >>> import operad as od
    >>> net = od.gluon.nn.HybridSequential()
    >>> net.add(od.gluon.nn.Dense(10, activation="relu"), od.gluon.nn.Dense(20))
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(od.nd.ones((2, 5))).shape
    (2, 20)
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The output of the last block."""
        return self._chained(x)
