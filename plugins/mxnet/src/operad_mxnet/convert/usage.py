"""Operators that a model uses, and the packages that provide them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import operad
from operad import OperadError
from operad.errors import OperatorNotFoundError
from operad_mxnet.convert.upgrade import Node, attributes

_CUSTOM: Final = "Custom"


@final
@dataclass(frozen=True, slots=True)
class UsedOperator:
    """One operator of the model.

    Attributes:
        name: Its present name; Custom:TYPE for an operator that a program registers.
        nodes: How many nodes apply it.
        distribution: Who provides it; empty where nothing does.
        version: Of that distribution.
        problem: Why it cannot be used here, and what to do; null where it can.
        install: The command that installs a package with it; null where it is installed, or there is none.
    """

    name: str
    nodes: int
    distribution: str
    version: str
    problem: str | None
    install: str | None


def used_operators(document: Mapping[str, Any]) -> list[UsedOperator]:
    """The operators of a document of today's words, the most frequent first."""
    counts = Counter(_use(node) for node in document["nodes"] if node["op"] != "null")
    used = [_used(*use, count) for use, count in counts.items()]
    return sorted(used, key=lambda op: (-op.nodes, op.name.lower()))


def _use(node: Node) -> tuple[str, str]:
    """The name of a node's operator, and for a custom operator the type that was registered."""
    return node["op"], attributes(node).get("op_type", "") if node["op"] == _CUSTOM else ""


def _used(name: str, op_type: str, count: int) -> UsedOperator:
    record = operad.registry.find(name)
    provider = ("", "") if record is None else (record.distribution, record.version)
    problem, install = None, None
    try:
        name = operad.registry.get(name).name
    except OperadError as error:
        problem = str(error).partition("\n")[0]
        if isinstance(error, OperatorNotFoundError):
            install = operad.registry.install_line([name])
    if name != _CUSTOM:
        return UsedOperator(name, count, *provider, problem, install)
    problem = problem or (
        f"a program registers it, with operator.register({op_type!r}); load the file in that program and "
        "save it there"
    )
    return UsedOperator(f"{name}:{op_type}", count, *provider, problem, install)
