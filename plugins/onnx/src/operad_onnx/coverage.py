"""Operators that can be written and read, and why others cannot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, final

import onnx

import operad
from operad_onnx.functions import is_defined
from operad_onnx.providers import package_for
from operad_onnx.rules import rules
from operad_onnx.sink import every_node
from operad_onnx.traced import is_traceable

STEPS: Final = "steps"
_FOLDED_HERE = ("Constant",)
"""Operators that become numbers when a model is read."""


@final
@dataclass(frozen=True, slots=True)
class Written:
    """An operator that can be written.

    Attributes:
        operator: Its name here.
        onnx: The ONNX operator that does the same; "several" for one that is written as nodes by a rule, and
            "steps" for one that has none, whose function is written step by step.
        package: Who brings the rule.
    """

    operator: str
    onnx: str
    package: str


@final
@dataclass(frozen=True, slots=True)
class Read:
    """An ONNX operator that can be read.

    Attributes:
        onnx: Its name, with its domain unless that is the standard's.
        operator: The operator that does the same; "several" for one that is made of others.
        package: Who brings the rule.
    """

    onnx: str
    operator: str
    package: str


@final
@dataclass(frozen=True, slots=True)
class Missing:
    """An operator that cannot be written, or a node that cannot be read.

    Attributes:
        operator: Its name.
        reason: Why.
        nodes: How many nodes of the model apply it; 0 where no model was asked about.
    """

    operator: str
    reason: str
    nodes: int = 0


def written() -> list[Written]:
    """The operators that are written, by name."""
    found = [
        Written(name, rule.rule if isinstance(rule.rule, str) else "several", rule.owner.partition(" ")[0])
        for name, rule in rules().exports.items()
    ]
    found += [
        Written(name, STEPS, record.distribution)
        for name, (record, prop) in _without_rule().items()
        if _is_written_by_steps(name, prop)
    ]
    return sorted(found, key=lambda row: row.operator)


def _without_rule() -> dict[str, Any]:
    """Installed operators by name, each with its record and its class."""
    known, found = rules().exports, {}
    for record in operad.registry.operators().values():
        if not record.is_alias and (prop := operad.registry.get(record.name)).name not in known:
            found[prop.name] = record, prop
    return found


def _is_written_by_steps(name: str, prop: Any) -> bool:
    return is_traceable(prop) and name not in rules().absent


def read() -> list[Read]:
    """The ONNX operators that are read, by name."""
    found = [
        Read(name, rule.rule if isinstance(rule.rule, str) else "several", rule.owner.partition(" ")[0])
        for name, rule in rules().imports.items()
    ]
    found += [Read(name, "numbers", "operad-onnx") for name in _FOLDED_HERE]
    found += [Read(name, "its definition", "operad-onnx") for name in _defined(_known())]
    return sorted(found, key=lambda row: row.onnx)


def not_written() -> list[Missing]:
    """Installed operators that cannot be written, with the reason."""
    return [
        Missing(name, rules().absent.get(name, f"{record.distribution} brings no rule for it"))
        for name, (record, prop) in sorted(_without_rule().items())
        if not _is_written_by_steps(name, prop)
    ]


def not_read(model: onnx.ModelProto) -> list[Missing]:
    """Operators of a model that have no rule, most frequent first."""
    known = _known() | {_full_name(one.domain, one.name) for one in model.functions}
    known |= {*_defined(_known())}
    nodes = [*model.graph.node, *(node for one in model.functions for node in one.node)]
    names = Counter(_full_name(node.domain, node.op_type) for node in every_node(nodes))
    return [
        Missing(name, package_for(name), count) for name, count in names.most_common() if name not in known
    ]


def _full_name(domain: str, kind: str) -> str:
    return kind if domain in ("", "ai.onnx") else f"{domain}::{kind}"


def _known() -> frozenset[str]:
    return frozenset((*rules().imports, *_FOLDED_HERE))


@cache
def _defined(known: frozenset[str]) -> list[str]:
    """Operators beside those known that the standard defines by these, as far as it says by which."""
    found = []
    for schema in onnx.defs.get_all_schemas():
        name = _full_name(schema.domain, schema.name)
        if name not in known and is_defined(schema.name, schema.since_version, schema.domain):
            parts = {_full_name(node.domain, node.op_type) for node in every_node(schema.function_body.node)}
            found += [name] if parts <= known else []
    return found
