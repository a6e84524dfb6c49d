"""Words of today for what old symbol files say and MXNet 1.9.1 refuses or misreads.

Most old spellings need no rule here: `operad.sym.load` reads them, as MXNet does. These are operators that
are gone or were replaced, Python 2's long numbers, and attributes that stand among parameters and are none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

import operad
from operad import Symbol, sym

Node = Mapping[str, Any]

_MAPPINGS: Final = ("param", "attr", "attrs")
"""Keys of a node's attributes: parameters and users' attributes apart, and since 0.9 together."""

_SUCCESSORS: Final = {
    "BatchNorm_v1": "BatchNorm",
    "Convolution_v1": "Convolution",
    "CuDNNBatchNorm": "BatchNorm",
    "MultiBoxDetection": "_contrib_MultiBoxDetection",
    "MultiBoxPrior": "_contrib_MultiBoxPrior",
    "MultiBoxTarget": "_contrib_MultiBoxTarget",
    "Pooling_v1": "Pooling",
    "Proposal": "_contrib_Proposal",
}
"""Operators of other names that compute the same of the same parameters."""

_REVERSED: Final = {
    "_DivScalar": "_RDivScalar",
    "_MinusScalar": "_RMinusScalar",
    "_PowerScalar": "_RPowerScalar",
}
"""Operators that were given `scalar_on_left` before they had a twin."""

_DRAWS: Final = {
    f"_sample_{name}": f"_random_{name}"
    for name in ("exponential", "gamma", "generalized_negative_binomial", "normal", "poisson", "uniform")
} | {"_sample_negbinomial": "_random_negative_binomial"}
"""Operators without inputs whose names now belong to draws from arrays of distributions."""

_NUMBER: Final = re.compile(r"([+-]?\d+)L|([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)f")
"""An integer of Python 2, or a number of C."""


def upgraded(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with every node in today's words; `document` stays as it is."""
    return {**document, "nodes": [_upgraded(node) for node in document["nodes"]]}


def _upgraded(node: Node) -> Node:
    op = node["op"]
    if op in {"null", "Custom"}:  # a custom operator's parameters are its author's
        return node
    attrs = {key: _number(value) for key, value in attributes(node).items()}
    if op in _REVERSED and attrs.pop("scalar_on_left", "False") in {"True", "true", "1"}:
        op = _REVERSED[op]
    elif op in _DRAWS and not node.get("inputs"):
        op = _DRAWS[op]
    kept = {key: value for key, value in node.items() if key not in _MAPPINGS}
    return {**kept, "op": _SUCCESSORS.get(op, op), "attrs": attrs}


def attributes(node: Node) -> dict[str, str]:
    """Attributes of a node as text, under each of the keys that attributes had in time."""
    pairs = [pair for key in _MAPPINGS for pair in node.get(key, {}).items()]
    return {name: value if isinstance(value, str) else str(value) for name, value in pairs}


def with_hidden_attributes(symbol: Symbol) -> Symbol:
    """The symbol, with names in underscores for whatever operators say that is no parameter of theirs.

    MXNet 1.9.1 refuses it otherwise; the value is kept for programs that know it.
    """
    document = json.loads(symbol.tojson())
    is_changed = False
    for node in document["nodes"]:
        prop = None if node["op"] == "null" else operad.registry.get(node["op"])
        if prop is None or prop.takes_more_params:
            continue
        attrs = {_hidden(key, prop.params): value for key, value in node.get("attrs", {}).items()}
        is_changed |= attrs != node.get("attrs", {})
        node["attrs"] = attrs
    return sym.load_json(json.dumps(document)) if is_changed else symbol


def _number(text: str) -> str:
    found = _NUMBER.fullmatch(text)
    return text if found is None else found[1] or found[2]


def _hidden(key: str, params: Collection[str]) -> str:
    return key if key in params or key.startswith("__") else f"__{key}__"
