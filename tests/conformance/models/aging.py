"""A symbol file of today in the words of MXNet 0.8, for `operad convert` to read."""

from __future__ import annotations

import json
from typing import Any, Final

_OLD_NAMES: Final = {
    "elemwise_add": "_Plus",
    "elemwise_mul": "_Mul",
    "elemwise_sub": "_Minus",
    "SoftmaxOutput": "Softmax",
    "_contrib_MultiBoxDetection": "MultiBoxDetection",
    "_contrib_MultiBoxPrior": "MultiBoxPrior",
    "_contrib_MultiBoxTarget": "MultiBoxTarget",
}


def aged(text: str) -> str:
    """The same symbol as MXNet 0.8 would have saved it: two mappings, no versions, no auxiliary states."""
    document = json.loads(text)
    norms = [node for node in document["nodes"] if node["op"] == "BatchNorm"]
    states = {item[0] for node in norms for item in node["inputs"][3:]}
    kept = [number for number in range(len(document["nodes"])) if number not in states]
    places = {number: place for place, number in enumerate(kept)}

    def entries(items: list[list[int]]) -> list[list[int]]:
        return [[places[item[0]], item[1]] for item in items if item[0] in places]

    nodes = []
    for number in kept:
        node = document["nodes"][number]
        attrs = node.get("attrs", {})
        nodes.append(
            {
                "op": _OLD_NAMES.get(node["op"], node["op"]),
                "param": {key: value for key, value in attrs.items() if not key.startswith("__")},
                "name": node["name"],
                "inputs": entries(node["inputs"]),
                "backward_source_id": -1,
                "attr": {key: value for key, value in attrs.items() if key.startswith("__")},
            }
        )
    aged_document: dict[str, Any] = {
        "nodes": nodes,
        "arg_nodes": [number for number, node in enumerate(nodes) if node["op"] == "null"],
        "heads": entries(document["heads"]),
    }
    return json.dumps(aged_document)
