"""What old symbol files say and MXNet 1.9.1 refuses, or takes for something else, in its words of today.

Most old spellings need no rule here: `operad.sym.load` reads them, as MXNet does. These are operators that
are gone or were replaced, Python 2's long numbers, and users' attributes that stand among parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

Node = Mapping[str, Any]

KNOWN_ATTRIBUTES: Final = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")
"""What users said of operators before names of attributes had underscores, on both sides."""

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
    params = {key: _number(value) for key, value in attributes(node, ("param", "attrs")).items()}
    said = attributes(node, ("attr",))
    if "param" in node:  # users' attributes stood apart
        said = {_hidden(key): value for key, value in said.items()}
    else:
        said = {key: _number(value) for key, value in said.items()}
    attrs = {**params, **said}
    if op in _REVERSED and attrs.pop("scalar_on_left", "False") in {"True", "true", "1"}:
        op = _REVERSED[op]
    elif op in _DRAWS and not node.get("inputs"):
        op = _DRAWS[op]
    kept = {key: value for key, value in node.items() if key not in {"param", "attr", "attrs"}}
    return {**kept, "op": _SUCCESSORS.get(op, op), "attrs": attrs}


def attributes(node: Node, keys: Iterable[str] = ("param", "attr", "attrs")) -> dict[str, str]:
    """What a node says under these keys, in one mapping, as text."""
    pairs = [pair for key in keys for pair in node.get(key, {}).items()]
    return {name: value if isinstance(value, str) else str(value) for name, value in pairs}


def _number(text: str) -> str:
    found = _NUMBER.fullmatch(text)
    return text if found is None else found[1] or found[2]


def _hidden(key: str) -> str:
    is_known = key.endswith(KNOWN_ATTRIBUTES)  # lr_mult, or weight_lr_mult for an argument
    return key if is_known or key.startswith("__") else f"__{key}__"
