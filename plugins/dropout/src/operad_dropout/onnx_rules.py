"""Dropout in inference: what it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def dropout(node: Any) -> Any:
    """Dropout, which runtimes leave out; with mode 'always' there is no counterpart."""
    if node.op.mode == "always":
        node.refuse("it drops elements in inference, too")
    return node.add("Dropout", node.inputs[0], node.const(node.op.p, "float32"))


def _imported(node: Any) -> Any:
    """The data, and a mask of ones."""
    if node.num_inputs > 2 and node.scalar(2, False) and node.scalar(1, 0.5):
        node.refuse("it drops elements in training mode, at random")
    data = node.call("Dropout", node.sym(), p=0.5)
    return [data, node.cast(node.call("ones_like", node.sym()), "bool")] if node.num_outputs > 1 else data


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"Dropout": dropout}
IMPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"Dropout": _imported}
